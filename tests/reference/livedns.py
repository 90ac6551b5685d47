"""Live DNS: the records of the configured zones, and what section 4 says is not live data."""

import dataclasses

import dnsnames
import masterfile


@dataclasses.dataclass
class RRset:
    zone: str
    name: str
    type: str
    ttl: int
    rdata: set


class Live:
    """The live data of all configured zones that could be read."""

    def __init__(self, zone_configs):
        self.zones = zone_configs
        self.unknown_zones = set()
        self.rrsets = {}  # (name, type) -> RRset
        self.ns_targets = set()
        self.mx_targets = set()
        self._ns_owners = set()  # below the apex of their zone
        self._dname_owners = set()
        self._cname_owners = set()
        for zone in zone_configs.values():
            try:
                if zone.master_file is None:
                    raise masterfile.ZoneError("its target is no folder of master files")
                records = masterfile.load(zone.master_file, zone.name)
            except masterfile.ZoneError:
                self.unknown_zones.add(zone.name)
                continue
            self._add(zone.name, records)

    def _add(self, zone, records):
        self.ns_targets |= {record.rdata for record in records if record.type == "NS"}
        self.mx_targets |= {record.rdata.split()[1] for record in records if record.type == "MX"}
        own_records = [record for record in records if self.zone_of(record.name) == zone]
        for record in own_records:
            if record.type == "NS" and record.name != zone:
                self._ns_owners.add(record.name)
            if record.type == "DNAME":
                self._dname_owners.add(record.name)
        for record in own_records:
            if self.is_delegated(record.name) or self._is_below_dname(record.name):
                continue
            if record.type == "CNAME":
                self._cname_owners.add(record.name)
            key = (record.name, record.type)
            if key not in self.rrsets:
                self.rrsets[key] = RRset(zone, record.name, record.type, record.ttl, set())
            self.rrsets[key].rdata.add(record.rdata)

    def zone_of(self, name):
        """The configured zone with the longest matching suffix, or None."""
        return dnsnames.longest_suffix(name, self.zones)

    def is_in_unknown_zone(self, name):
        return self.zone_of(name) in self.unknown_zones

    def _between_name_and_apex(self, name):
        """The name and its ancestors down from, but without, the apex of its zone."""
        zone = self.zone_of(name)
        for suffix in dnsnames.ancestors_and_self(name):
            if suffix == zone:
                return
            yield suffix

    def is_delegated(self, name):
        return any(suffix in self._ns_owners for suffix in self._between_name_and_apex(name))

    def _is_below_dname(self, name):
        above = [*self._between_name_and_apex(name), self.zone_of(name)]
        return any(suffix in self._dname_owners for suffix in above if suffix != name)

    def is_aliased(self, name):
        """A CNAME at the name, or a DNAME above it."""
        return name in self._cname_owners or self._is_below_dname(name)

    def get(self, name, rtype):
        """The live RRset, or None."""
        return self.rrsets.get((name, rtype))

    def rdata(self, name, rtype):
        rrset = self.get(name, rtype)
        return rrset.rdata if rrset else set()

    def of_type(self, rtype):
        """All live RRsets of a type, in the order of their names."""
        found = [rrset for rrset in self.rrsets.values() if rrset.type == rtype]
        return sorted(found, key=lambda rrset: rrset.name)

    def address_ptrs(self):
        """(address, RRset) of every live PTR RRset whose owner name is a whole address."""
        pairs = [(dnsnames.address_of_reverse(rrset.name), rrset) for rrset in self.of_type("PTR")]
        return [(address, rrset) for address, rrset in pairs if address is not None]

    def is_untouchable(self, name):
        """What rules 3, 8 and 9 never touch, beside what is protected: an apex, a wildcard, a name that MX data point to."""
        is_wildcard = dnsnames.labels_of(name)[:1] == ["*"]
        return name in self.zones or is_wildcard or name in self.mx_targets
