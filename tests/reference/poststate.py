"""The zones as they would become (section 9): which changes break a rule of DNS, and who is refused for it."""

import dnsnames
import subjects

# What makes a name lead somewhere.
LEADING = ("AAAA", "A", "CNAME")
# What may stand beside a CNAME.
BESIDE_CNAME = ("RRSIG", "NSEC", "KEY", "SIG", "NXT")
# The rules that clear away what nobody has any more.
CLEARING = ("released", "orphan")
MAX_RRSET = 100


def settle(result, changes_of):
    """The changes that break nothing; hosts whose changes would are blocked, and their actions taken out."""
    while True:
        changes = changes_of(result)
        faults = list(_caused(result.live, changes))
        if not faults:
            return changes
        left = set()
        for causes in faults:
            clearing = [change for change in causes if _clears(change)]
            left |= {(change["name"], change["type"]) for change in clearing}
            for change in [] if clearing else causes:
                for inv in subjects.hosts(change):
                    result.blocked[inv] = "post-state"
        refused = {inv for inv, code in result.blocked.items() if code == "post-state"}
        result.actions = [
            action
            for action in result.actions
            if (subjects.host(action.subject) not in refused if action.is_hosts_own else (action.name, action.type) not in left)
        ]
        result.notices = {notice for notice in result.notices if notice[2] not in refused}


def _clears(change):
    return any(reason["rule"] in CLEARING for reason in change["reasons"])


def _caused(live, changes):
    """Of each fault that the changes cause, those that do."""
    before = {key: rrset.rdata for key, rrset in live.rrsets.items()}
    after = dict(before)
    by_key = {(change["name"], change["type"]): change for change in changes}
    for key, change in by_key.items():
        if change["after"] is None:
            after.pop(key, None)
        else:
            after[key] = set(change["after"]["rdata"])
    then, now = _Zones(live, after), _Zones(live, before)
    for key, change in by_key.items():
        if change["after"] is None:
            continue
        had, has = len(before.get(key, ())), len(after[key])
        if has > max(had, MAX_RRSET):
            yield [change]
        is_aliased = (change["name"], "CNAME") in after and change["type"] != "CNAME"
        if is_aliased and not had and change["type"] not in BESIDE_CNAME:
            yield [change]
    for (name, rtype), targets in after.items():
        if rtype != "PTR" or dnsnames.address_of_reverse(name) is None:
            continue
        for target in filter(then.leads_nowhere, targets):
            causes = [] if target in before.get((name, "PTR"), ()) else [by_key[name, "PTR"]]
            if not now.leads_nowhere(target):
                places = [target, *(f"*.{above}" for above in list(dnsnames.ancestors_and_self(target))[1:])]
                gone = [by_key.get((place, rtype)) for place in places for rtype in LEADING]
                causes += [change for change in gone if change is not None and change["after"] is None]
            if causes:
                yield causes


class _Zones:
    """Complete zones."""

    def __init__(self, live, rrsets):
        self.live = live
        self.types = {}
        for name, rtype in rrsets:
            self.types.setdefault(name, set()).add(rtype)
        self.enclosing = {above for name in self.types for above in dnsnames.ancestors_and_self(name)}

    def leads_nowhere(self, name):
        """Whether it is known that neither the name nor a wildcard leads anywhere."""
        live = self.live
        zone = live.zone_of(name)
        if zone is None or zone in live.unknown_zones or live.is_delegated(name):
            return False
        above = dnsnames.ancestors_and_self(name)
        if live.is_aliased(name) and "CNAME" not in self.types.get(name, ()):
            return False
        at = next((place for place in above if place in self.enclosing or place == zone), zone)
        answering = name if at == name else f"*.{at}"
        return not self.types.get(answering, set()) & set(LEADING)
