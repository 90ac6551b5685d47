"""How fast `zonewright apply` changes many hosts on BIND and Knot, compared with nsupdate.

Every host has a wrong AAAA, which is modified, and no PTR, which is created. Each client gets new servers with the
same zones; all sign with hmac-sha256 over TCP. zonewright names what its plan saw as prerequisites, swaps
markers and syncs its journal. Its own log (`-vv`) gives its times: from before the first message to after the
last, and for reading back. The server's processor time is that of the whole apply, including the reading before and after.
nsupdate makes the same RRset changes without a prerequisite, in messages of 100 and of 1 000, and is timed from start to
end. Afterwards all zones must be equal.
"""

import hashlib
import ipaddress
import re
import statistics
import subprocess
import tempfile
import time

from . import fleet, measure, table
from .servers import KINDS, Server
from .tools import fail, program, tell, write, write_keys

HOSTS, RUNS = 20_000, 5
FORWARD = "bench.example"
NETWORK = "2001:db8:0:1::/64"
REVERSE = "1.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
# How many RRset changes a message of nsupdate has, and how many times its rate is the target.
MESSAGES = {100: 1.5, 1000: 1.0}
OURS = "`zonewright apply`"


def name(host):
    """The name of a host: a thousand below each of many racks."""
    return f"h{host % 1000}-r{host // 1000}.{FORWARD}"


def mac(host):
    """The MAC of a host."""
    return f"ac1f6b{host:06x}"


def address(host):
    """The address that a host is to have: modified EUI-64 of its MAC."""
    low = int(mac(host)[:6], 16) ^ 0x020000
    return ipaddress.IPv6Network(NETWORK)[low << 40 | 0xFFFE << 24 | host]


def write_inventory(folder, hosts):
    """Writes the inventory, and the zones for a server."""
    head = f"@ SOA ns1.{FORWARD}. hostmaster.{FORWARD}. 1 3600 600 86400 60\n@ NS ns1.{FORWARD}.\n"
    text = {
        "p.yaml": "id: p\nvlan_scheme: static\nvlans: {main: 604}\nttl: 600\nautomation: true\n",
        "l3": f"s1 604 {NETWORK}\n",
        "layout.xml": '<net-layout><datacenter name="myt"><vlan id="1"><network>2001:db8:0:2::/64</network></vlan>'
        "</datacenter></net-layout>\n",
        "map": "192.0.2.0/24 myt 1 2001:db8:0:2::/64\n",
        "hosts.csv": "inv,name,project,status,location,queue,rack,switch,port,restrictions\n"
        + "".join(f"{host + 1},{name(host)},p,assigned,sas,,,s1,,\n" for host in range(hosts)),
        "macs.jsonl": "".join(
            f'{{"time":"2026-11-20T01:00:00Z","inv":{host + 1},"mac":"{mac(host)}"}}\n' for host in range(hosts)
        ),
        "forward.zone": f"$ORIGIN {FORWARD}.\n$TTL 600\n{head}ns1 A 192.0.2.53\n"
        + "".join(f"{name(host)}. AAAA 2001:db8:0:1::{host + 1:x}\n" for host in range(hosts)),
        "reverse.zone": f"$ORIGIN {REVERSE}.\n$TTL 600\n{head}",
    }
    for file, content in text.items():
        write(f"{folder}/{file}", content)
    write_keys(folder)


def write_settings(folder, targets):
    """Writes zonewright.toml for these targets, each the lines of its settings."""
    zones = "".join(
        f'[[zone]]\n{zone}\npool = "main"\npermission = "full"\n' for zone in (f'name = "{FORWARD}"', f'network = "{NETWORK}"')
    )
    write(
        f"{folder}/zonewright.toml",
        f"""owner = "bench"
[sources]
projects = "p.yaml"
hosts = "hosts.csv"
l3_tors = "l3"
net_layout = "layout.xml"
ipv4_map = "map"
[[sources.mac]]
name = "agent"
path = "macs.jsonl"
[project.p]
dns_domain = "{FORWARD}"
automation = "allowed"
[limits]
max_modify = "100%"
max_loss = "100%"
[pool.main]
{fleet.pool_of(targets)}{zones}""",
    )


def write_script(path, port, hosts, size):
    """Writes the commands for nsupdate, with so many changes in a message."""
    modify = [
        f"update delete {name(host)}. AAAA\nupdate add {name(host)}. 600 AAAA {address(host)}\n" for host in range(hosts)
    ]
    create = [f"update add {address(host).reverse_pointer}. 600 PTR {name(host)}.\n" for host in range(hosts)]
    text = f"server 127.0.0.1 {port}\n"
    for zone, lines in ((FORWARD, modify), (REVERSE, create)):
        for start in range(0, hosts, size):
            text += f"zone {zone}.\n" + "".join(lines[start : start + size]) + "send\n"
    write(path, text)


def ours(folder, server, _hosts):
    """Plans and applies; gives the seconds of sending, of reading back, and of the server's processor time."""
    write_settings(folder, [server.target(folder)])
    measure.run(fleet.zonewright(folder, "-q", "plan", "--out", f"{folder}/plan"))
    before = server.cpu()
    _, log = measure.run(fleet.zonewright(folder, "-vv", "apply", f"{folder}/plan", "--yes"), f"{folder}/output")
    sending, back = re.search(r"sending took ([0-9.]+) s, reading back ([0-9.]+) s", log).groups()
    return float(sending), float(back), server.cpu() - before


def nsupdate(size):
    """What runs nsupdate with messages of a size, and gives its seconds, and those of the server's processor time."""

    def change(folder, server, hosts):
        write_script(f"{folder}/script", server.port, hosts, size)
        before, begin = server.cpu(), time.monotonic()
        subprocess.run([program("nsupdate"), "-v", "-t", "600", "-k", f"{folder}/key", f"{folder}/script"], check=True)
        return time.monotonic() - begin, None, server.cpu() - before

    return change


def contents(folder, server):
    """The number of all AAAA and PTR of both zones, and a digest of them."""
    lines = []
    for zone in (FORWARD, REVERSE):
        answer = subprocess.run(server.dig(folder, zone), capture_output=True, text=True, check=True).stdout
        fields = (line.split() for line in answer.splitlines() if not line.startswith(";"))
        lines += [" ".join(line) for line in fields if len(line) > 4 and line[3] in ("AAAA", "PTR")]
    return len(lines), hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def measure_client(kind, change, hosts):
    """Lets a client change the zones of a new server; gives its seconds, and the contents of the zones then."""
    with tempfile.TemporaryDirectory() as folder:
        write_inventory(folder, hosts)
        zones = {FORWARD: f"{folder}/forward.zone", REVERSE: f"{folder}/reverse.zone"}
        with Server(kind, f"{folder}/server", zones, updates=True) as server:
            return change(folder, server, hosts), contents(folder, server)


def times(measured, kind, client, other):
    """How many times the rate of another a client has: the median of the runs, in each of which both changed the zones."""
    pairs = zip(measured[kind, client], measured[kind, other])
    return statistics.median(theirs / own for (own, *_), (theirs, *_) in pairs)


def run(args):
    """Measures; gives the tables."""
    hosts, runs = args.hosts or HOSTS, args.runs or RUNS
    clients = {OURS: ours, **{f"`nsupdate`, {table.number(size)} a message": nsupdate(size) for size in MESSAGES}}
    measured, held = {}, set()
    tell(f"apply: {hosts} hosts")
    for number in range(runs):
        tell(f"  run {number + 1} of {runs}")
        for kind in KINDS:
            for client, change in clients.items():
                figures, found = measure_client(kind, change, hosts)
                measured.setdefault((kind, client), []).append(figures)
                held.add(found)
                tell(f"    {kind}, {client}: {figures[0]:.2f} s")
    if len(held) != 1 or next(iter(held))[0] != 2 * hosts:
        fail(f"the zones are not equal afterwards: {held}")
    rate = {key: 2 * hosts / statistics.median(wall for wall, *_ in figures) for key, figures in measured.items()}
    rows, targets = [], table.Targets()
    for (kind, client), figures in measured.items():
        back = "" if figures[0][1] is None else table.seconds(statistics.median(back for _, back, _ in figures))
        ratios = [table.ratio(times(measured, kind, client, other)) for other in list(clients)[1:]]
        busy = table.seconds(statistics.median(cpu for *_, cpu in figures))
        changes = rate[kind, client]
        rows.append([kind, client, table.seconds(2 * hosts / changes), table.number(changes), back, *ratios, busy])
    for kind in KINDS:
        for other, limit in zip(list(clients)[1:], MESSAGES.values()):
            targets.at_least(f"{kind}: RRset changes/s, times {other}", times(measured, kind, OURS, other), limit)
    ratios = [f"rate, times `nsupdate` of {table.number(size)}" for size in MESSAGES]
    head = ["server", "client", "first to last message", "RRset changes/s", "reading back", *ratios]
    head.append("processor time of the server")
    what = f"{table.number(hosts)} hosts, {table.number(2 * hosts)} RRset changes:\n\n"
    return what + table.table(head, rows) + "\n" + targets.table()
