"""Protected names (section 9): what `protect` lists, and what DNS or zonewright itself would not work without."""

import re

import dnsnames


class Protection:
    """Which names no rule changes anything at."""

    def __init__(self, zones, live):
        self.live = live
        self.patterns = {zone.name: [_glob(text, zone.name) for text in zone.protect] for zone in zones.values()}

    def covers(self, name):
        """Whether a name is protected.

        Delegations and what is below them are no live data, so that no rule comes near. No fleet configures servers.
        """
        zone = self.live.zone_of(name)
        if zone is None:
            return False
        is_listed = any(pattern.fullmatch(name) for pattern in self.patterns[zone])
        is_marker = name == f"_zonewright.{dnsnames.parent(name)}" and dnsnames.parent(name) in self.live.zones
        return is_listed or name in self.live.zones or name in self.live.ns_targets or is_marker


def _glob(text, zone):
    """A name or glob; without a dot at its end it is meant below the zone, unless it ends as the zone does."""
    whole = text.lower()
    if not whole.endswith("."):
        whole += "."
        if whole != zone and not whole.endswith("." + zone):
            whole += zone
    return re.compile("".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in whole))
