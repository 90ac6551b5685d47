"""An independent reading of sections 1 to 4 of the specification: prints what a plan would change and refuse.

python3 reference.py -C DIR --now RFC3339 [--host INV ...] [--project ID ...]
"""

import argparse
import json
import sys

import config
import derive
import dnsnames
import exports
import leftbehind
import livedns
import ownership
import poststate
import projects
import reconcile
import subjects
import values


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-C", dest="folder", required=True)
    parser.add_argument("--now", required=True, type=values.rfc3339)
    parser.add_argument("--host", dest="hosts", nargs="+", action="extend", type=values.inventory_number)
    parser.add_argument("--project", dest="projects", nargs="+", action="extend")
    arguments = parser.parse_args()
    document = plan(arguments.folder, arguments.now, arguments.hosts, arguments.projects)
    print(json.dumps(document, indent=1, sort_keys=True))
    return document["exit"]


def plan(folder, now, hosts=None, project_ids=None):
    """The plan of a workspace, as far as the reference goes."""
    try:
        settings = config.load(folder)
    except config.ConfigError:
        return {"exit": 1, "fatal": True}
    inventory = exports.read(folder, settings, now)
    project_files, is_faulty = projects.load(inventory.project_files, settings.registry)
    is_faulty = is_faulty or bool(set(settings.projects) - set(project_files))
    live = livedns.Live(settings.zones)
    fleet = derive.Fleet(settings, project_files, inventory, live, now)
    registry = ownership.Registry(settings.registry, settings.owner, live)
    scope = reconcile.Scope(
        None if hosts is None else set(hosts), None if project_ids is None else set(project_ids)
    )
    result = reconcile.Reconciler(fleet, registry, scope)
    changes = poststate.settle(result, _changes)
    result.notices |= leftbehind.notices(result, folder, changes)
    return {
        "exit": 1 if inventory.unknown or live.unknown_zones or is_faulty else 0,
        "changes": changes,
        "blocked": _listed(result.blocked, result),
        "skipped": _listed(result.skipped, result),
        "notices": [
            {"code": code, "name": name, "subject": _about(settings, code, name, host)}
            for code, name, host in sorted(result.notices, key=lambda notice: (*notice[:2], notice[2] or 0))
        ],
    }


def _about(settings, code, name, inv):
    """The subject of a notice."""
    if code != "left-behind":
        return None if inv is None else subjects.of_host(inv)
    if inv is not None:
        return subjects.of_released(inv)
    # All zones of the fleets are in one pool.
    [pool] = {zone.pool for zone in settings.zones.values()}
    return subjects.of_orphan(pool, name)


def _listed(codes, result):
    assigned = result.fleet.assigned
    return [
        {"subject": subjects.of_host(inv), "project": assigned[inv].project, "code": code}
        for inv, code in sorted(codes.items())
        if result.scope.covers(inv, assigned[inv].project)
    ]


# Changes


def _changes(result):
    """One change for each RRset on which a rule acts (section 6), with those of the registry TXT."""
    by_rrset = {}
    for action in result.actions:
        by_rrset.setdefault((action.name, action.type), []).append(action)
    changes = []
    for (name, rtype), actions in by_rrset.items():
        change = _change(result, name, rtype, actions)
        changes.append(change)
        changes += _registry_change(result.registry, result.live, change)
    return sorted(
        changes,
        key=lambda change: (
            change["project"],
            subjects.key(change["subject"]),
            change["zone"],
            change["name"],
            change["type"],
        ),
    )


def _side(ttl, rdata):
    return {"ttl": ttl, "rdata": sorted(rdata)} if rdata else None


def _change(result, name, rtype, actions):
    live = result.live.get(name, rtype)
    before = set(live.rdata) if live else set()
    removed = {action.value for action in actions if action.op == "remove"}
    added = {action.value for action in actions if action.op == "add"}
    wanted_ttls = [action.value for action in actions if action.op == "ttl"]
    after = before - removed | added
    ttl_before = live.ttl if live else None
    ttl_after = wanted_ttls[0] if wanted_ttls else ttl_before
    is_kept = bool(before) and bool(after)
    contributing = [action for action in actions if action.op != "ttl" or is_kept]
    subject, also, project = _attribution(result, name, rtype, contributing)
    reasons = {(action.rule, action.subject) for action in contributing}
    return _document(
        zone=actions[0].zone,
        name=name,
        rtype=rtype,
        subject=subject,
        also=also,
        project=project,
        before=_side(ttl_before, before),
        after=_side(ttl_after, after),
        reasons=reasons,
    )


def _attribution(result, name, rtype, actions):
    """Whose change it is (section 4): (subject, also, project)."""
    contributors = {action.subject for action in actions}
    acting_by_own_rules = {action.subject for action in actions if action.is_hosts_own}
    rightful = {subjects.of_host(inv) for inv in _hosts_of(result, name, rtype)} & acting_by_own_rules
    subject = min(rightful or contributors, key=subjects.key)
    project = min(action.project for action in actions if action.subject == subject)
    return subject, sorted(contributors - {subject}, key=subjects.key), project


def _hosts_of(result, name, rtype):
    """The host that has the forward name, or the address of the reverse name."""
    owners = set()
    for inv, derived in result.fleet.derived.items():
        for interface in derived.interfaces:
            addresses = [*interface.acceptable, *interface.own_a]
            is_owner = (
                interface.name == name
                if rtype == "AAAA"
                else any(name == dnsnames.reverse_name(address) for address in addresses)
            )
            if is_owner:
                owners.add(inv)
    return owners


def _registry_change(registry, live, change):
    """The change of the TXT beside an RRset that is created, or of an own RRset that is deleted."""
    name, rtype = change["name"], change["type"]
    mark_name = registry.mark_name(name, rtype)
    if mark_name is None:
        return []
    marks = registry.marks(name, rtype)
    if change["before"] is None:
        removed, added = set(), set() if marks else {registry.mark()}
        ttl = change["after"]["ttl"]
    elif change["after"] is None and registry.is_own(name, rtype):
        removed, added = marks, set()
        ttl = change["before"]["ttl"]
    else:
        return []
    rrset = live.get(mark_name, "TXT")
    before = set(rrset.rdata) if rrset else set()
    after = before - removed | added
    if before == after:
        return []
    return [
        _document(
            zone=change["zone"],
            name=mark_name,
            rtype="TXT",
            subject=change["subject"],
            also=change.get("also", []),
            project=change["project"],
            before=_side(rrset.ttl if rrset else None, before),
            after=_side(rrset.ttl if rrset else ttl, after),
            reasons={("registry", change["subject"])},
        )
    ]


def _document(zone, name, rtype, subject, also, project, before, after, reasons):
    change = {"zone": zone, "name": name, "type": rtype, "subject": subject, "project": project}
    if also:
        change["also"] = also
    ordered = sorted(reasons, key=lambda reason: (reason[0], subjects.key(reason[1])))
    change["before"] = before
    change["after"] = after
    change["reasons"] = [{"rule": rule, "subject": own} for rule, own in ordered]
    return change


if __name__ == "__main__":
    sys.exit(main())
