"""What is left behind: own RRsets of names that no host of hosts.csv has, and that the plan does not change."""

import os

import dnsnames
import exports
import names


def notices(result, folder, changes):
    """(code, name, host) of every name whose own RRsets are left."""
    fleet, registry = result.fleet, result.registry
    if registry.kind == "noop" or {"hosts", "names.lock"} & fleet.inventory.unknown:
        return set()
    files = [*exports.paths_of(folder, fleet.config.sources["hosts"]), os.path.join(folder, "names.lock")]
    strays = set(names.stray_names(files, fleet.config))
    changed = {(change["name"], change["type"]) for change in changes}
    holders = _holders(fleet)
    names_of_hosts = fleet.names_of_hosts()
    found = set()
    for name, rrsets in _rrsets_by_name(result).items():
        is_known = name not in names_of_hosts and name not in strays and not _may_be_fastbone(result, name)
        is_left = any(registry.is_own(*rrset) and rrset not in changed for rrset in rrsets)
        if is_known and is_left:
            hosts = _selected(result, name, holders.get(name, set()))
            if hosts is not None:
                found.add(("left-behind", name, min(hosts, default=None)))
    return found


def _rrsets_by_name(result):
    """name -> the AAAA at it, and the PTR of whole addresses that point to it."""
    rrsets = {}
    for rrset in result.live.of_type("AAAA"):
        rrsets.setdefault(rrset.name, []).append((rrset.name, "AAAA"))
    for _, rrset in result.live.address_ptrs():
        for target in rrset.rdata:
            rrsets.setdefault(target, []).append((rrset.name, "PTR"))
    return rrsets


def _may_be_fastbone(result, name):
    """Whether the name may be a fastbone name of a project whose file is bad or missing."""
    return dnsnames.parent(name) in result.fleet.clouded_domains() and name not in result.had_names


def _holders(fleet):
    """name -> {(inv, project)} of the hosts that have or had it."""
    holders = {}
    given = [(name, inv, host.project) for inv, host in fleet.inventory.hosts.items() for name in host.names]
    given += [(row.name, row.inv, row.project) for row in fleet.inventory.lock if row.name and row.inv is not None]
    for name, inv, project in given:
        for each in fleet.with_fastbone(name, project):
            holders.setdefault(each, set()).add((inv, project))
    return holders


def _selected(result, name, holders):
    """The hosts that had the name and that the command selects; None where it leaves the name out."""
    scope, admins = result.scope, result.config.projects
    domains = {}
    for project_id, admin in sorted(admins.items()):
        for domain in admin.domains:
            domains.setdefault(domain, project_id)
    domain = dnsnames.longest_suffix(name, domains)
    is_in_project = scope.projects is None or (domain is not None and domains[domain] in scope.projects)
    if not holders:
        # Without a journal nothing else knows whose it was.
        return set() if is_in_project and scope.hosts is None else None
    if scope.hosts is None:
        hosts = {inv for inv, project in holders if is_in_project or scope.covers(None, project)}
    else:
        hosts = {inv for inv, project in holders if scope.covers(inv, project)}
    return hosts or None
