"""Builds a random fleet that is healthy in structure, and the live zones that are right for it."""

from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network

from fleet_model import LOCATION_PREFIX, NOW, Host, Project, World, Zone, network_zone, reverse_name, under

PROJECT_DOMAINS = [("search", "search.example.net."), ("web", "example.net."), ("infra", "dc.search.example.net."),
                   ("db", "db.example.org.")]
ALSO_DOMAINS = ["old.example.net.", "old.example.org.", "legacy.search.example.net."]
HBF = ["1478", "f00d", "12e5", "0000beef", "A1b2"]
OUIS = ["78e3b5", "00259c", "002590", "fa163e", "02420a"]
V4_HOME = {"sas": "178.154.130.0/24", "myt": "178.154.131.0/24", "vla": "178.154.132.0/24"}
V4_NO_ZONE = "198.51.100.0/24"


def weighted(r, **shares):
    """One of the keywords, by weight; underscores stand for hyphens."""
    return r.choices(list(shares), list(shares.values()))[0].replace("_", "-")


def new_mac(r):
    return bytes.fromhex(r.choice(OUIS)) + bytes(r.getrandbits(8) for _ in range(3))


def build_fleet(r, hosts=None, registry=None):
    """A fleet with its inventory; the live zones hold only what every zone has.

    With a number of hosts it has that many, and every zone gets permission full.
    """
    w = World()
    w.registry = weighted(r, txt=60, noop=25, journal=15)
    w.registry = registry or w.registry
    w.cooldown = r.choice([None, None, None, 7, 3, 30])
    w.tidy = r.random() < 0.6
    w.max_bad_rows = r.choice([None, "30%", "50%", "50%", "60%", "60%", "75%", "75%"])
    w.own_share = r.choice([0, 0.5, 0.8, 0.95, 1, 1] if w.registry == "txt" else [0, 0, 0, 0.5])
    w.limited = r.random() < 0.15
    w.locations = r.sample(sorted(LOCATION_PREFIX), r.choice([2, 2, 3]))
    build_projects(w, r)
    build_zones(w, r)
    build_segments(w, r)
    for _ in range(hosts or min(r.randint(5, 60), r.randint(5, 60))):
        add_host(w, r)
    for zone in w.zones if hosts else ():
        zone.permission = "full"
    return w


def build_projects(w, r):
    chosen = r.sample(PROJECT_DOMAINS, r.choices([1, 2, 3, 4], [20, 40, 30, 10])[0])
    policies = ["repair"] * 5 + ["create-only", "upsert-only"] * 2 + ([] if w.registry == "noop" else ["sync"] * 4)
    for number, (project, domain) in enumerate(chosen):
        also = [d for d in ALSO_DOMAINS if r.random() < 0.25]
        if len(chosen) > 1 and r.random() < 0.1:
            also.append(r.choice([d for _, d in chosen if d != domain]))
        main = r.choice([604, 604, 700])
        w.projects[project] = Project(
            project, domain, also,
            table="allowed" if number == 0 else weighted(r, allowed=88, forbidden=5, default=3, absent=4),
            scheme=weighted(r, search=75, static=25), main=main, fastbone=r.choice([761, 802]),
            fastbone_name=r.choice(["fb-{shortname}"] * 4 + ["{shortname}-fb", "{shortname}f"]),
            hbf=r.choice([None, *HBF]) if r.random() < 0.6 else None, ttl=r.choice([None, None, 600, 900]),
            automation=number == 0 or r.random() < 0.9, policy=r.choice(policies), limited=r.random() < 0.1)


def build_zones(w, r):
    """Forward and reverse zones, some nested, with what the administrator put there."""
    names, wanted = [], [p.domain for p in w.projects.values()]
    also = [d for p in w.projects.values() for d in p.also]
    for domain in dict.fromkeys([*wanted, *also]):
        if r.random() < (0.8 if domain in wanted else 0.65):
            names.append(domain)
    for parent, share in (("example.net.", 0.45), ("search.example.net.", 0.15), ("example.org.", 0.25)):
        if parent not in names and r.random() < share:
            names.append(parent)
    names += [d for d in wanted if not any(under(d, n) for n in names)]
    networks = reverse_networks(w, r)
    always_full = r.random() < 0.3
    for name, network in [(n, None) for n in names] + [(network_zone(n), n) for n in networks]:
        w.zones.append(Zone(
            name, network if r.random() < 0.9 else None,
            permission="full" if always_full else weighted(r, full=65, own=35),
            claim=None if network else r.choice(["all", "all", "hosts", "hosts", None, None, None, None]),
            ttl=r.choice([None, None, 3600, 1800, 7200]), style=weighted(r, plain=60, relative=25, fancy=15)))
    for zone in w.zones:
        furnish_zone(w, r, zone)


def reverse_networks(w, r):
    found = ["2a02:6b8::/32"] if r.random() < 0.5 else []
    for location in w.locations:
        base = LOCATION_PREFIX[location]
        if r.random() < (0.4 if "2a02:6b8::/32" in found else 0.96):
            found.append(r.choice([f"{base}::/48", network_of(base, 40), network_of(base, 44)]))
    found += [r.choice(["178.154.0.0/16", "178.0.0.0/8"])] if r.random() < 0.4 else []
    found += [V4_HOME[loc] for loc in w.locations if r.random() < (0.3 if found[-1:] == ["178.0.0.0/8"] else 0.7)]
    return list(dict.fromkeys(found))


def network_of(base, length):
    """The IPv6 network of a length that holds a location's prefix."""
    third = int(base.split(":")[2], 16) & (0xFFFF << (48 - length))
    return f"2a02:6b8:{third:x}::/{length}" if third else f"2a02:6b8::/{length}"


def furnish_zone(w, r, zone):
    """NS of the apex, delegations to the zones directly below, and some names that are not of hosts."""
    host = zone.name if not zone.name.endswith(".arpa.") else "example.net."
    for i in (1, 2):
        w.put(zone.name, "NS", f"ns{i}.{host}", zone=zone)
        if host == zone.name:
            w.put(f"ns{i}.{host}", "AAAA", f"2001:db8:53::{i}")
    for child in w.zones:
        others = [z.name for z in w.zones if z not in (zone, child) and under(child.name, z.name)]
        if child is not zone and under(child.name, zone.name) and not any(under(o, zone.name) for o in others):
            if r.random() < 0.85:
                w.put(child.name, "NS", f"ns1.{host}", zone=zone)
    if host == zone.name:
        if r.random() < 0.5:
            w.put(zone.name, "MX", f"10 mail.{zone.name}")
        w.put(f"www.{zone.name}", "AAAA", "2001:db8:80::1")
        w.put(f"www.{zone.name}", "TXT", "v=spf1 -all")


def build_segments(w, r):
    """Switches in L3 segments, and networks for the L2 segments."""
    vlans = sorted({v for p in w.projects.values() for v in (p.main, p.fastbone)})
    w.switches = {}
    for location in w.locations:
        w.switches[location] = [f"{location}{r.randint(1, 9)}-s{i}" for i in range(1, r.randint(3, 6))]
        for switch in w.switches[location][: r.randint(1, len(w.switches[location]))]:
            w.l3 += [(switch, vlan, w.new_network(location)) for vlan in vlans]
        for vlan in vlans:
            w.layout[location, vlan] = [w.new_network(location) for _ in range(r.choice([1, 2, 2, 3]))]
            v4 = IPv4Network(V4_HOME[location])
            w.ipv4_map.append((str(v4), location, vlan, w.new_network(location)))
            if r.random() < 0.5:
                part = r.choice(list(v4.subnets(new_prefix=28))[:4])
                w.ipv4_map.append((str(part), location, vlan, w.new_network(location)))
            if r.random() < 0.3:
                w.ipv4_map.append(("178.154.0.0/16", location, vlan, w.new_network(location)))
            if r.random() < 0.3:
                w.ipv4_map.append((V4_NO_ZONE, location, vlan, w.new_network(location)))
    r.shuffle(w.l3)
    r.shuffle(w.ipv4_map)


def fresh_name(w, r, project, location, domain=None):
    """A short name that fits the default template and that nobody has had."""
    taken = {name for h in w.hosts for name in (h.name, h.csv_name)}
    taken |= {row.name for row in w.lock if not isinstance(row, str)}
    last = max(400, len(w.hosts))
    while True:
        name = f"{location}{r.randint(0, 2)}-{r.randint(1, last):04}.{domain or project.domain}"
        if name not in taken:
            return name


def add_host(w, r, project=None):
    """One more assigned host, with its name, its row in the lock, and its MAC reports."""
    project = project or r.choice(list(w.projects.values()))
    location = r.choice(w.locations)
    covered = [d for d in project.also if w.zone_of(d)]
    domain = r.choice(covered) if covered and r.random() < 0.2 else project.domain
    if project.also and r.random() < 0.03:
        domain = r.choice(project.also)
    host = Host(w.new_inv(r), fresh_name(w, r, project, location, domain), project.id, location,
                r.choice(w.switches[location]), new_mac(r))
    host.csv_switch = host.switch
    w.hosts.append(host)
    name_source = weighted(r, csv=40, both=30, lock=20, stale=10)
    released_before = project.table != "absent" and r.random() < 0.12
    if name_source != "csv" or released_before:
        w.row(host.inv, host.name, project.id, r)
    host.csv_name = {"lock": "", "stale": fresh_name(w, r, project, location)}.get(name_source, host.name)
    if released_before:
        # Cleaned up long ago, or due to be: rule 9 looks only at the age.
        w.row(host.inv, fresh_name(w, r, project, location), project.id, r, NOW - timedelta(hours=r.randint(2, 1200)))
    add_reports(w, r, host)
    return host


def add_reports(w, r, host):
    """The report that wins, and older ones of the same or another MAC."""
    source, age = weighted(r, agent=60, eine=25, racktables=15), r.randint(5, 300)
    if r.random() < 0.5:
        w.report(host.inv, source, age, host.mac, switch=host.switch, port="ge1/0/1")
        if r.random() < 0.2:
            host.csv_switch = r.choice(w.switches[host.location])
    else:
        w.report(host.inv, source, age, host.mac)
    effective = age + (60 if source == "racktables" else 0)
    for _ in range(r.choice([0, 0, 1, 2])):
        mac = host.mac if r.random() < 0.5 else new_mac(r)
        w.report(host.inv, r.choice(list(w.reports)), effective + r.randint(1, 900), mac)


def give_v4(w, host, kind):
    """Give a host an IPv4 address: mapped, of an unmapped network, or without a reverse zone."""
    w.next_v4 += 1
    base = {"mapped": V4_HOME[host.location.lower()], "no-zone": V4_NO_ZONE, "unmapped": "178.155.7.0/24"}[kind]
    host.v4.append(IPv4Address(int(IPv4Network(base).network_address) + w.next_v4 * 5 % 250 + 1))


def publish_fleet(w, r):
    """Fill the live zones with what is right for every assigned host."""
    for host in w.hosts:
        if host.status != "assigned":
            continue
        project = w.projects.get(host.project)
        for interface in w.interfaces(host):
            count = 1 if r.random() < 0.8 else 2
            for address in r.sample(interface.addresses, min(count, len(interface.addresses))):
                w.pair(r, interface.name, address, project.ttl)
        for v4 in host.v4 if host.name else ():
            w.put(host.name, "A", str(v4), project and project.ttl)
            w.publish(r, reverse_name(v4), "PTR", host.name, project and project.ttl)
