"""An independent reading of section 8 of the specification: prints what goes into which message when a plan is applied.

python3 apply.py PLAN.json

A JSON list comes out, in the order in which things are sent. Each item is what one unit gets in one phase and zone, and
therefore stands in one message whole; how many units share a message is not decided here.

  phase   forward (what is created or modified in forward zones), reverse, deletes (what is deleted in forward zones)
  zone    the zone
  unit    the hosts that stand or fall together, sorted; of what no host has, the names that stand or fall together
  rrsets  [owner name, type] of each change, in the order of the plan
"""

import argparse
import json

import subjects

PHASES = ["forward", "reverse", "deletes"]

REVERSE = ("ip6.arpa.", "in-addr.arpa.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan")
    arguments = parser.parse_args()
    with open(arguments.plan, encoding="utf-8") as file:
        document = json.load(file)
    print(json.dumps(messages(document), indent=1))


def messages(document):
    """What is sent for a plan's document."""
    changes = document["changes"]
    partners = _partners(changes)
    unit_of = _units(changes, partners)
    found = {}
    for number, change in enumerate(changes):
        key = (_phase(change, partners.get(number)), change["zone"], unit_of[number])
        found.setdefault(key, []).append([change["name"], change["type"]])
    first = {}
    for number in range(len(changes)):
        first.setdefault(unit_of[number], number)
    ordered = sorted(found, key=lambda key: (PHASES.index(key[0]), key[1], first[key[2]]))
    return [
        {"phase": phase, "zone": zone, "unit": list(unit), "rrsets": found[phase, zone, unit]}
        for phase, zone, unit in ordered
    ]


# Phases


def _phase(change, partner):
    """When a change is made. A registry TXT goes with the RRset that it tells of, in one UPDATE."""
    if _is_reverse(change["zone"]):
        return "reverse"
    decides = change if partner is None else partner
    return "deletes" if decides["after"] is None else "forward"


def _is_reverse(zone):
    return any(zone == suffix or zone.endswith("." + suffix) for suffix in REVERSE)


# Registry


def _partners(changes):
    """By the number of a registry TXT's change, the change of the RRset beside which it stands."""
    by_rrset = {(change["zone"], change["name"], change["type"]): change for change in changes}
    partners = {}
    for number, change in enumerate(changes):
        rrset = _registered(change)
        if rrset in by_rrset:
            partners[number] = by_rrset[rrset]
    return partners


def _registered(change):
    """The zone, name and type of the RRset that a registry TXT tells of; None for any other change."""
    by_rule = any(reason["rule"] == "registry" for reason in change["reasons"])
    kind, dash, rest = change["name"].partition("-")
    if change["type"] != "TXT" or not by_rule or not dash:
        return None
    return change["zone"], rest, kind.upper()


# Units


def _units(changes, partners):
    """By the number of a change, its unit: hosts that share a change stand or fall together, and so with whom these share."""
    links = Links()
    members = []
    for number, change in enumerate(changes):
        own = _members(change, partners.get(number))
        members.append(own)
        links.join(own)
        if number in partners:
            links.join([own[0], *_members(partners[number], None)])
    return [tuple(_shown(member) for member in links.all_of(own[0])) for own in members]


def _members(change, partner):
    """Whom a change concerns: its hosts; where it is nobody's, the names that no host has: for a PTR those that it no
    longer points to, for a registry TXT those of the RRset that it tells of."""
    if subjects.host(change["subject"]) is None:
        leading = partner or change
        return [("name", name) for name in (_dropped(leading) if leading["type"] == "PTR" else [leading["name"]])]
    return [("host", host) for host in sorted(subjects.hosts(change))]


def _dropped(change):
    """The RDATA that a change removes, sorted."""
    kept = change["after"]["rdata"] if change["after"] else []
    return sorted(set(change["before"]["rdata"]) - set(kept))


def _shown(member):
    return member[1]


class Links:
    """Things that belong together, directly or through others."""

    def __init__(self):
        self.groups = {}

    def join(self, members):
        """Makes these members of one group, with all that were in groups with any of them."""
        joined = {member for own in members for member in self.groups.get(own, {own})}
        for member in joined:
            self.groups[member] = joined

    def all_of(self, member):
        """The group of a member, sorted."""
        return sorted(self.groups[member])


if __name__ == "__main__":
    main()
