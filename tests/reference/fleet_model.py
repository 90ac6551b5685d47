"""The model of a random fleet: inventory, live zones, and what the inventory means for a host.

The derivation here serves only to fill the live zones with mostly right records. It follows what a host is meant to
be (its MAC, its switch), not the files that the workspace will hold, and so is no third implementation.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from ipaddress import IPv4Network, IPv6Address, IPv6Network

NOW = datetime(2026, 11, 20, 2, 0, 0, tzinfo=timezone.utc)
OWNER = "fleet-dns"
FREE_DOMAIN = "free.invalid"


class NothingToDamage(Exception):
    """The fleet has nothing that a mischief could damage."""


@dataclass
class Project:
    """Both halves of a project; `table` is allowed, forbidden, default (no key) or absent (no table at all)."""

    id: str
    domain: str
    also: list
    table: str
    scheme: str
    main: int
    fastbone: int
    fastbone_name: str
    hbf: str | None
    ttl: int | None
    automation: bool
    policy: str
    limited: bool = False

    @property
    def domains(self):
        return [self.domain, *self.also]

    @property
    def running(self):
        return self.table == "allowed" and self.automation


@dataclass
class Host:
    """A host as it is meant to be; `csv_*` is what hosts.csv says of it, `raw` overrides fields of its row."""

    inv: int
    name: str | None
    project: str
    location: str
    switch: str
    mac: bytes
    status: str = "assigned"
    csv_name: str = ""
    csv_switch: str = ""
    restrictions: str = ""
    v4: list = field(default_factory=list)
    raw: dict = field(default_factory=dict)


@dataclass
class LockRow:
    """A row of names.lock; `released` is None for a current one."""

    inv: int
    name: str
    project: str
    since: datetime
    released: datetime | None = None


@dataclass
class Interface:
    """An interface with its owner name and its acceptable addresses, the preferred one first."""

    name: str
    addresses: list


@dataclass
class Zone:
    """A configured zone and its live RRsets: (name, type) -> [ttl, [rdata, ...]]."""

    name: str
    network: str | None
    permission: str
    claim: str | None
    ttl: int | None
    protect: list = field(default_factory=list)
    rrsets: dict = field(default_factory=dict)
    style: str = "plain"


def under(name, apex):
    """Whether a name is the apex or lies below it."""
    return name == apex or name.endswith("." + apex)


def reverse_name(address):
    """The absolute reverse name of an IPv4 or IPv6 address."""
    return address.reverse_pointer + "."


def network_zone(network):
    """The name of the reverse zone of a network that ends on a nibble or an octet."""
    if ":" in network:
        net = IPv6Network(network)
        return ".".join(reversed(net.network_address.exploded.replace(":", "")[: net.prefixlen // 4])) + ".ip6.arpa."
    net = IPv4Network(network)
    return ".".join(reversed(str(net.network_address).split(".")[: net.prefixlen // 8])) + ".in-addr.arpa."


def interface_address(network, mac, hbf):
    """The address in a /64: with a project id, else modified EUI-64."""
    if hbf:
        low = int(hbf, 16) << 32 | int.from_bytes(mac[2:], "big")
    else:
        low = int.from_bytes(bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" + mac[3:], "big")
    return IPv6Address(int(IPv6Network(network).network_address) | low)


def heritage_name(name, rtype):
    """Where the registry TXT of an RRset stands."""
    return f"{rtype.lower()}-{name}"


def heritage(owner=OWNER, resource=None):
    """The text of a registry record."""
    text = f"heritage=external-dns,external-dns/owner={owner}"
    return f"{text},external-dns/resource={resource}" if resource else text


class World:
    """One fleet: everything that the workspace's files will be written from."""

    def __init__(self):
        self.registry = "txt"
        self.cooldown = None            # days; None: not configured, which is 7
        self.max_bad_rows = None
        self.limited = False
        self.tidy = True                # no bad rows in hosts.csv and names.lock, no unknown source
        self.own_share = 1.0            # of the right RRsets that are registered as own
        self.projects = {}
        self.locations = []
        self.switches = {}              # location -> switches
        self.hosts = []
        self.lock = []                  # LockRow, or a raw line
        self.l3 = []                    # (switch, vlan, network), or a raw line
        self.layout = {}                # (location, vlan) -> networks
        self.ipv4_map = []              # (IPv4 network, location, vlan, IPv6 network), or a raw line
        self.reports = {"agent": [], "eine": [], "racktables": []}      # dicts, or raw lines
        self.raw_hosts = []             # raw lines of hosts.csv
        self.zones = []
        self.next_net = 0x1600
        self.next_v4 = 10

    # Inventory.

    def host(self, inv):
        return next((h for h in self.hosts if h.inv == inv), None)

    def new_inv(self, r):
        while True:
            inv = r.randint(100001, 109999)
            if not self.host(inv) and all(isinstance(row, str) or row.inv != inv for row in self.lock):
                return inv

    def new_network(self, location):
        """A /64 not yet used, in the location's part of the address plan."""
        self.next_net += 1
        return f"{LOCATION_PREFIX[location.lower()]}:{self.next_net:x}::/64"

    def cooldown_days(self):
        return 7 if self.cooldown is None else self.cooldown

    def fastbone_of(self, name, project):
        """The fastbone name that goes with a backbone name, or None."""
        if project.scheme != "search":
            return None
        label, rest = name.split(".", 1)
        return f"{project.fastbone_name.replace('{shortname}', label)}.{rest}"

    def networks(self, host, vlan):
        rows = [row for row in self.l3 if not isinstance(row, str) and row[0] == host.switch]
        if rows:
            return [row[2] for row in rows if row[1] == vlan][:1]
        return self.layout.get((host.location, vlan), [])

    def mapped(self, host, vlan):
        """The addresses that ipv4-map gives for the host's A records."""
        found = []
        for v4 in sorted(host.v4):
            lines = [row for row in self.ipv4_map if not isinstance(row, str) and row[1:3] == (host.location, vlan)
                     and v4 in IPv4Network(row[0])]
            if lines:
                best = max(lines, key=lambda row: IPv4Network(row[0]).prefixlen)
                found.append(IPv6Address(int(IPv6Network(best[3]).network_address) | int(v4)))
        return found

    def interfaces(self, host):
        """The interfaces of a host that has a name and a known project; addresses may be none."""
        project = self.projects.get(host.project)
        if not host.name or not project:
            return []

        def derived(vlan):
            return [interface_address(net, host.mac, project.hbf) for net in self.networks(host, vlan)]

        main = self.mapped(host, project.main) if host.v4 else derived(project.main)
        found = [Interface(host.name, main)]
        fastbone = self.fastbone_of(host.name, project)
        if fastbone:
            found.append(Interface(fastbone, derived(project.fastbone)))
        return found

    def pick(self, r, where=lambda host: True):
        """A host to damage: assigned and named; mostly one of a project that runs."""
        hosts = [h for h in self.hosts if h.status == "assigned" and h.name and h.project in self.projects and where(h)]
        running = [h for h in hosts if self.projects[h.project].running and not h.restrictions]
        if running and r.random() < 0.9:
            return r.choice(running)
        if not hosts:
            raise NothingToDamage
        return r.choice(hosts)

    def pick_interface(self, r, where=lambda host: True):
        """A host and one of its interfaces that has addresses."""
        for _ in range(20):
            host = self.pick(r, where)
            found = [i for i in self.interfaces(host) if i.addresses]
            if found:
                return host, r.choice(found)
        raise NothingToDamage

    def pick_running(self, r):
        """A project whose hosts are mostly planned, with an administrator's table."""
        running = [p for p in self.projects.values() if p.running]
        if not running:
            raise NothingToDamage
        return r.choice(running)

    def stray(self, r):
        """An address that no host should have, in a network that some host may be in."""
        nets = [row[2] for row in self.l3 if not isinstance(row, str) and row[2].endswith("::/64")]
        nets += [net for found in self.layout.values() for net in found if net.endswith("::/64")]
        return IPv6Address(int(IPv6Network(r.choice(nets)).network_address) | r.getrandbits(32))

    def row(self, inv, name, project, r, released=None):
        """Append a row to names.lock."""
        since = (released or NOW) - timedelta(days=r.randint(1, 900))
        self.lock.append(LockRow(inv, name, project, since, released))

    def report(self, inv, source, age, mac, **more):
        """Append a MAC report that is `age` minutes old."""
        self.reports[source].append({"time": NOW - timedelta(minutes=age), "inv": inv, "mac": mac, **more})

    # Live zones.

    def zone_of(self, name):
        zones = [z for z in self.zones if under(name, z.name)]
        return max(zones, key=lambda z: len(z.name), default=None)

    def get(self, name, rtype):
        zone = self.zone_of(name)
        return list(zone.rrsets[name, rtype][1]) if zone and (name, rtype) in zone.rrsets else []

    def put(self, name, rtype, rdata, ttl=None, zone=None):
        """Add a record where the zone may have it; the TTL of an RRset that exists stays."""
        zone = zone or self.zone_of(name)
        if zone is None or (rtype != "CNAME" and (name, "CNAME") in zone.rrsets):
            return False
        rrset = zone.rrsets.setdefault((name, rtype), [ttl or zone.ttl or 3600, []])
        if rdata not in rrset[1]:
            rrset[1].append(rdata)
        return True

    def drop(self, name, rtype=None, rdata=None):
        """Remove a record, an RRset, or (without a type) everything at a name."""
        zone = self.zone_of(name)
        for key in [k for k in (zone.rrsets if zone else ()) if k[0] == name and rtype in (None, k[1])]:
            if rdata is None:
                del zone.rrsets[key]
            elif rdata in zone.rrsets[key][1]:
                zone.rrsets[key][1].remove(rdata)
                if not zone.rrsets[key][1]:
                    del zone.rrsets[key]

    def register(self, name, rtype, owner=OWNER, resource=None):
        """Write a registry TXT for an RRset, where it fits into the RRset's zone."""
        zone = self.zone_of(name)
        if zone and zone.name != name:
            self.put(heritage_name(name, rtype), "TXT", heritage(owner, resource), zone=zone)

    def publish(self, r, name, rtype, rdata, ttl=None, own=None):
        """Add a record and, for the fleet's share of own RRsets, its registry TXT."""
        fresh = not self.get(name, rtype)
        if self.put(name, rtype, rdata, ttl) and fresh and r.random() < (self.own_share if own is None else own):
            self.register(name, rtype, resource=r.choice([None, None, None, "host/inventory"]))

    def pair(self, r, name, address, ttl=None, own=None):
        """Publish an address at a name, and the PTR that goes with it."""
        self.publish(r, name, "AAAA" if isinstance(address, IPv6Address) else "A", str(address), ttl, own)
        self.publish(r, reverse_name(address), "PTR", name, ttl, own)


LOCATION_PREFIX = {"sas": "2a02:6b8:0", "myt": "2a02:6b8:b010", "vla": "2a02:6b8:c01"}
