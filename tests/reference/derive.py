"""Derivation (section 3): the names and the acceptable addresses of every host, and what collides in the fleet."""

import collections
import dataclasses
import ipaddress

import dnsnames


@dataclasses.dataclass
class Interface:
    """One interface of a host: owner name O, acceptable addresses A (preferred first), own A addresses.

    `is_read` is False where the zone of O could not be read; `is_certain` where the host has these addresses only if no
    A record is at O, which could not be read.
    """

    name: str
    acceptable: list
    own_a: list
    is_read: bool = True
    is_certain: bool = True


@dataclasses.dataclass
class Derived:
    """What section 3 gives for one assigned host. `codes` are the block codes that derivation found."""

    names: list  # backbone and fastbone names, for protection and for duplicates
    name: str | None = None  # the backbone name, where it is clear
    mac: int | None = None  # the active MAC, where an interface uses it
    interfaces: list = dataclasses.field(default_factory=list)
    codes: set = dataclasses.field(default_factory=set)


class Fleet:
    """The derived state of all hosts."""

    def __init__(self, config, projects, inventory, live, now):
        self.config = config
        self.projects = projects
        self.inventory = inventory
        self.live = live
        self.now = now
        self.assigned = {inv: host for inv, host in inventory.hosts.items() if host.status != "free"}
        self.derived = {inv: self._derive(host) for inv, host in self.assigned.items()}
        self._mark_duplicates()

    # Names

    def backbone_names(self, inv):
        """The names that a host has: names.lock alone where it has a row there, else hosts.csv."""
        rows = [row for row in self.inventory.lock if row.inv == inv]
        if rows:
            return [row.name for row in rows if row.released is None and row.name]
        host = self.inventory.hosts.get(inv)
        return list(host.names) if host else []

    def with_fastbone(self, name, project_id):
        """The name, and its fastbone name where the project has one."""
        project = self.projects.get(project_id)
        fastbone = project.fastbone_of(name) if project else None
        return [name, fastbone] if fastbone else [name]

    def current_names(self):
        """All names (backbone, fastbone) that a host of hosts.csv or a current row of names.lock has."""
        names = {name for names in self._names_by_holder().values() for name in names}
        # A row gives the fastbone name of its own project, too, where hosts.csv has the host in another one.
        for row in self.inventory.lock:
            if row.released is None and row.name:
                names.update(self.with_fastbone(row.name, row.project))
        return names

    def names_of_hosts(self):
        """The current names without those that names.lock alone gives, to numbers that hosts.csv does not have."""
        hosts = self.inventory.hosts
        names = {name for inv, names in self._names_by_holder().items() if inv in hosts for name in names}
        for row in self.inventory.lock:
            if row.released is None and row.name and row.inv in hosts:
                names.update(self.with_fastbone(row.name, row.project))
        return names

    def _names_by_holder(self):
        """The names, with their fastbone names, of every host and of every current row without a host."""
        holders = collections.defaultdict(list)
        for inv, host in self.inventory.hosts.items():
            for name in self.backbone_names(inv):
                holders[inv] += self.with_fastbone(name, host.project)
        for row in self.inventory.lock:
            if row.released is None and row.name and row.inv not in self.inventory.hosts:
                holders[row.inv] += self.with_fastbone(row.name, row.project)
        return holders

    def clouded_domains(self):
        """The domains in which hosts have names whose project file is bad or missing: their fastbone names are unknown."""
        domains = set()
        holders = [(name, host.project) for inv, host in self.inventory.hosts.items() for name in self.backbone_names(inv)]
        holders += [(row.name, row.project) for row in self.inventory.lock if row.released is None and row.name]
        for name, project in holders:
            if project in self.config.projects and project not in self.projects:
                domains.add(name.split(".", 1)[1])
        return domains

    def names_had_or_have(self):
        """Rule 3: every name (backbone, fastbone) in hosts.csv or in any row of names.lock."""
        names = set()
        for host in self.inventory.hosts.values():
            for name in host.names:
                names.update(self.with_fastbone(name, host.project))
        for row in self.inventory.lock:
            if row.name:
                host = self.inventory.hosts.get(row.inv) if row.released is None else None
                names.update(self.with_fastbone(row.name, host.project if host else row.project))
        return names

    # One host

    def _derive(self, host):
        backbone_names = self.backbone_names(host.inv)
        names = [name for each in backbone_names for name in self.with_fastbone(each, host.project)]
        derived = Derived(names)
        if len(backbone_names) == 1:
            derived.name = backbone_names[0]
        if self._is_frozen(host):
            derived.codes.add("bad-input")
        if {"names.lock", "hosts"} & self.inventory.unknown:
            derived.codes.add("source-untrusted")
        if derived.name is None:
            derived.codes.add("no-name")
        elif not self._is_in_its_domain(derived.name, host.project):
            derived.codes.add("foreign-domain")
        report = self._active_report(host.inv)
        own_a = self._own_a(derived.name)
        # A host whose only interface takes its addresses from ipv4-map, or may do so, needs no report.
        may_have_a = bool(own_a) or not self._is_read(derived.name)
        if not may_have_a or self._has_fastbone(host):
            if "mac" in self.inventory.unknown:
                derived.codes.add("source-untrusted")
            if report is None:
                derived.codes.add("no-mac")
        derived.mac = report.mac if report else None
        if derived.name is not None and host.project in self.projects:
            self._add_interfaces(derived, host, report, own_a)
        elif derived.name is not None:
            derived.interfaces.append(Interface(derived.name, [], own_a))
        elif host.project in self.projects:
            self._add_codes_without_name(derived, host, report)
        return derived

    def _has_fastbone(self, host):
        """Whether the host's project gives it a fastbone; unknown projects might."""
        project = self.projects.get(host.project)
        return project is None or project.fastbone_vlan is not None

    def _is_frozen(self, host):
        """Bad rows of hosts.csv and names.lock, bad project files, bad MAC reports."""
        bad_lock = any(row.bad and row.inv == host.inv for row in self.inventory.lock)
        bad_project = host.project not in self.projects
        return host.bad or bad_lock or bad_project or self._has_freezing_report(host.inv)

    def _is_in_its_domain(self, name, project_id):
        project = self.config.projects.get(project_id)
        return project is not None and any(
            dnsnames.is_directly_below(name, domain) for domain in project.domains
        )

    def _is_read(self, name):
        """Whether it is known what is live at a name."""
        return name is None or not self.live.is_in_unknown_zone(name)

    def _own_a(self, name):
        """The A records live at a name, in numeric order."""
        texts = self.live.rdata(name, "A") if name else set()
        return sorted(ipaddress.IPv4Address(text) for text in texts)

    # MACs

    def _is_fresh(self, report):
        max_age = self.config.mac_sources[report.source].max_age
        return max_age is None or self.now - report.time <= max_age

    def _usable_reports(self, inv):
        """The host's active reports that nothing withdraws and that are not too old."""
        reports = [report for report in self.inventory.reports if report.inv == inv]
        withdrawals = [report for report in reports if not report.active]
        return [
            report
            for report in reports
            if report.active
            and self._is_fresh(report)
            and not any(gone.mac == report.mac and report.time <= gone.time for gone in withdrawals)
        ]

    def _active_report(self, inv):
        """The report that gives the active MAC, or None."""

        def preference(report):
            counted_time = report.time - self.config.mac_sources[report.source].penalty
            return (
                -counted_time.timestamp(),
                report.source,
                report.mac,
                report.switch is None,
                report.switch or "",
            )

        return min(self._usable_reports(inv), key=preference, default=None)

    def _has_freezing_report(self, inv):
        """A bad report freezes its host unless the host has a good active one that is no older."""
        usable = self._usable_reports(inv)
        return any(
            bad.inv == inv and self._is_fresh(bad) and not any(good.time >= bad.time for good in usable)
            for bad in self.inventory.bad_reports
        )

    # Networks and addresses

    def _add_interfaces(self, derived, host, report, own_a):
        project = self.projects[host.project]
        switch = report.switch if report and report.switch else host.switch
        mac = report.mac if report else None
        is_read = self._is_read(derived.name)
        if own_a:
            backbone = self._ipv4_map_addresses(derived, host, project.main_vlan, own_a)
        elif is_read:
            backbone = self._addresses(derived, host, project.main_vlan, switch, mac)
        else:
            # What an IPv4 host does not need is not said to be missing.
            backbone = self._addresses(Derived([]), host, project.main_vlan, switch, mac)
        derived.interfaces.append(Interface(derived.name, backbone, own_a, is_read, is_certain=is_read))
        fastbone_name = project.fastbone_of(derived.name)
        if fastbone_name:
            fastbone = self._addresses(derived, host, project.fastbone_vlan, switch, mac)
            is_read = self._is_read(fastbone_name)
            derived.interfaces.append(Interface(fastbone_name, fastbone, self._own_a(fastbone_name), is_read))

    def _add_codes_without_name(self, derived, host, report):
        """A host without a name has no interface, but the rows and sources that it needs are the same."""
        project = self.projects[host.project]
        switch = report.switch if report and report.switch else host.switch
        self._networks(derived, host.location, switch, project.main_vlan)
        if self._has_fastbone(host):
            self._networks(derived, host.location, switch, project.fastbone_vlan)

    def _networks(self, derived, location, switch, vlan):
        """Section 3.4; notes the codes that the sources for it cause."""
        inventory = self.inventory
        if (switch, vlan) in inventory.l3_bad or (switch, None) in inventory.l3_bad:
            derived.codes.add("bad-input")
        if "l3_tors" in inventory.unknown:
            derived.codes.add("source-untrusted")
            return []
        if switch in inventory.l3_switches:
            found = [inventory.l3[switch, vlan]] if (switch, vlan) in inventory.l3 else []
        else:
            if {(location, vlan), (location, None), (None, None)} & inventory.layout_bad:
                derived.codes.add("bad-input")
            if "net_layout" in inventory.unknown:
                derived.codes.add("source-untrusted")
                return []
            found = inventory.layout.get((location, vlan), [])
        if not found:
            derived.codes.add("no-network")
        return found

    def _addresses(self, derived, host, vlan, switch, mac):
        """Sections 3.4 and 3.5."""
        networks = self._networks(derived, host.location, switch, vlan)
        if mac is None:
            return []
        hbf_project_id = self.projects[host.project].hbf_project_id
        return [
            network[hbf_project_id << 32 | mac & 0xFFFFFFFF if hbf_project_id is not None else eui64(mac)]
            for network in networks
        ]

    def _ipv4_map_addresses(self, derived, host, vlan, own_a):
        """Section 3.6."""
        inventory = self.inventory
        addresses = []
        for ipv4 in own_a:
            if any(
                (network is None or ipv4 in network)
                and location in (None, host.location)
                and bad_vlan in (None, vlan)
                for network, location, bad_vlan in inventory.ipv4_map_bad
            ):
                derived.codes.add("bad-input")
            matching = [
                (ipv4_network.prefixlen, ipv6_network)
                for ipv4_network, location, map_vlan, ipv6_network in inventory.ipv4_map
                if ipv4 in ipv4_network and (location, map_vlan) == (host.location, vlan)
            ]
            if matching:
                addresses.append(max(matching)[1][int(ipv4)])
        if "ipv4_map" in inventory.unknown:
            derived.codes.add("source-untrusted")
            return []
        if not addresses:
            derived.codes.add("no-ipv4-network")
        return addresses

    # The whole fleet

    def _mark_duplicates(self):
        """Every assigned host concerned gets duplicate-name, duplicate-mac or address-collision."""
        names = collections.defaultdict(list)
        for holder, held in self._names_by_holder().items():
            for name in held:
                names[name].append(holder)
        addresses = collections.defaultdict(list)
        uncertain = collections.defaultdict(set)
        macs = collections.defaultdict(list)
        for inv, derived in self.derived.items():
            for interface in derived.interfaces:
                for address in [*interface.acceptable, *interface.own_a]:
                    if interface.is_certain:
                        addresses[address].append(inv)
                    else:
                        uncertain[address].add(inv)
            if derived.mac is not None:
                macs[derived.mac].append(inv)
        for code, uses in (("duplicate-name", names), ("duplicate-mac", macs), ("address-collision", addresses)):
            for value, holders in uses.items():
                # A host that has an address only perhaps gets no code for it; another that has it does.
                perhaps = uncertain[value] - set(holders) if uses is addresses else set()
                if len(holders) + len(perhaps) > 1:
                    for inv in set(holders) & set(self.derived):
                        self.derived[inv].codes.add(code)


def eui64(mac):
    """Modified EUI-64 (RFC 4291, appendix A): FF-FE in the middle, the universal bit inverted."""
    return ((mac >> 24 ^ 0x020000) << 40) | 0xFFFE << 24 | mac & 0xFFFFFF
