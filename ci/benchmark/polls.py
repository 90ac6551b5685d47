"""One pass of polling: 1 000 zones, 3 targets and 5 name servers, half of which are dead, compared with one dead server.

`zonewright sync` after an apply with --no-wait that changed each zone. Two name servers answer, two are silent, and one
answers for every other zone. The comparison is the same for one zone, one target and one name server that is silent: it
takes as long as the settings let a name server be silent. The targets are `zonewright serve`; all run in turn.
"""

import os
import shutil
import socket
import tempfile
import threading
from contextlib import ExitStack

from . import fleet, measure, table
from .servers import DOUBLE, Server
from .tools import tell, write, write_keys

ZONES, TARGETS, RUNS, TIMES = 1000, 3, 5, 1.2
DOMAIN, NETWORK = "bench.example", "2001:db8:0:1::/64"
REVERSE = "1.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
# Two questions of each name server, each for as long as a slow one needs: a pass takes five seconds.
POLLING = 'poll_timeout = "2s"\npoll_retry_interval = "1s"\npoll_max_retries = 1\n'
STATE = ".zonewright"
# What `sync` ends with where too few name servers serve the changes.
NOT_SERVED = 4


class Silent:
    """A name server that takes questions and never answers."""

    def __init__(self):
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class Halved(Silent):
    """A name server that answers for every other zone, as a server does that it hands those questions on to."""

    def __init__(self, port):
        super().__init__()
        self.upstream = socket.socket(type=socket.SOCK_DGRAM)
        self.upstream.connect(("127.0.0.1", port))
        self.client = None
        for carry in (self.carry_questions, self.carry_answers):
            threading.Thread(target=carry, daemon=True).start()

    def carry_questions(self):
        """Hands on the questions for zones with an even number."""
        while True:
            try:
                question, self.client = self.socket.recvfrom(1 << 16)
                # The first label of the name: `z` and a number.
                if int(question[14 : 13 + question[12]]) % 2 == 0:
                    self.upstream.send(question)
            except OSError:
                return

    def carry_answers(self):
        """Gives back the answers, to the one client that there is."""
        while True:
            try:
                self.socket.sendto(self.upstream.recv(1 << 16), self.client)
            except OSError:
                return


def zone(number):
    """The name of a zone."""
    return f"z{number}.{DOMAIN}"


def mac(number):
    """The MAC of the host of a zone."""
    return f"ac1f6b{number:06x}"


def write_workspace(folder, zones):
    """Writes the inventory, with a host in each zone, and the zones for a server; gives the zones with their files."""
    head = f"@ SOA ns1.{DOMAIN}. hostmaster.{DOMAIN}. 1 3600 600 86400 60\n@ NS ns1.{DOMAIN}.\n"
    names = [zone(number) for number in range(zones)]
    text = {
        "l3": f"s1 604 {NETWORK}\n",
        "layout.xml": '<net-layout><datacenter name="myt"><vlan id="1"><network>2001:db8:0:2::/64</network></vlan>'
        "</datacenter></net-layout>\n",
        "map": "192.0.2.0/24 myt 1 2001:db8:0:2::/64\n",
        "hosts.csv": "inv,name,project,status,location,queue,rack,switch,port,restrictions\n"
        + "".join(f"{number + 1},h.{name},p{number},assigned,sas,,,s1,,\n" for number, name in enumerate(names)),
        "macs.jsonl": "".join(
            f'{{"time":"2026-11-20T01:00:00Z","inv":{number + 1},"mac":"{mac(number)}"}}\n' for number in range(zones)
        ),
    }
    # A host has a name right below the domain of its project.
    for number in range(zones):
        text[f"projects/{number}.yaml"] = f"id: p{number}\nvlan_scheme: static\nvlans: {{main: 604}}\nttl: 600\nautomation: true\n"
    files = {name: f"{folder}/zones/{name}.zone" for name in [*names, REVERSE]}
    for file, content in text.items():
        write(f"{folder}/{file}", content)
    for name, file in files.items():
        write(file, f"$ORIGIN {name}.\n$TTL 600\n{head}")
    write_keys(folder)
    return files


def write_settings(folder, zones, servers, name_servers):
    """Writes zonewright.toml: a pool of these targets, with name servers, and one for the reverse zone, which has none."""
    several = len(servers) > 1
    followers = "".join(
        f'[[pool.main.nameserver]]\nserver = "127.0.0.1:{port}"\n' + (f'of = "t{target}"\n' if several else "")
        for target, port in name_servers
    )
    write(
        f"{folder}/zonewright.toml",
        f"""owner = "bench"
[sources]
projects = "projects/*.yaml"
hosts = "hosts.csv"
l3_tors = "l3"
net_layout = "layout.xml"
ipv4_map = "map"
[[sources.mac]]
name = "agent"
path = "macs.jsonl"
[limits]
max_modify = "100%"
max_loss = "100%"
[pool.main]
{POLLING}{fleet.pool_of([server.target(folder) for server in servers])}{followers}
[[pool.reverse.target]]
{servers[0].target(folder)}
[[zone]]
network = "{NETWORK}"
pool = "reverse"
permission = "full"
""" + "".join(f'[project.p{number}]\ndns_domain = "{zone(number)}"\nautomation = "allowed"\n[[zone]]\nname = "{zone(number)}"\npool = "main"\npermission = "full"\n' for number in range(zones)),
    )


def client(stack, folder, zones, targets, name_servers):
    """What polls the name servers of zones after an apply; `name_servers` starts them by the ports of the targets."""
    files = write_workspace(folder, zones)
    servers = [stack.enter_context(Server(DOUBLE, f"{folder}/server-{number}", files, updates=True)) for number in range(targets)]
    write_settings(folder, zones, servers, name_servers([server.port for server in servers]))
    measure.run(fleet.zonewright(folder, "-q", "plan", "--out", f"{folder}/plan"))
    measure.run(fleet.zonewright(folder, "apply", f"{folder}/plan", "--yes", "--no-wait"), f"{folder}/output")
    state = os.path.join(folder, STATE)
    shutil.copytree(state, f"{folder}/kept")

    def run(_counts):
        shutil.rmtree(state)
        shutil.copytree(f"{folder}/kept", state)
        return measure.run(fleet.zonewright(folder, "sync", "--pool", "main"), f"{folder}/output", expected=NOT_SERVED)[0]

    return run


def run(args):
    """Measures; gives the table."""
    zones, targets = args.hosts or ZONES, table.Targets()
    tell(f"polls: {zones} zones")
    one, whole = "1 zone, 1 name server, dead", f"{table.number(zones)} zones, 3 targets, 5 name servers, half of them dead"
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        silent = [stack.enter_context(Silent()).port for _ in range(3)]

        def five(ports):
            halved = stack.enter_context(Halved(ports[2])).port
            return [(0, ports[0]), (0, silent[0]), (1, ports[1]), (1, silent[1]), (2, halved)]

        clients = {
            one: client(stack, f"{folder}/one", 1, 1, lambda _ports: [(0, silent[2])]),
            whole: client(stack, f"{folder}/all", zones, TARGETS, five),
        }
        measured = measure.in_turn(args.runs or RUNS, clients)
    rows = [
        [name, table.seconds(found.wall), table.ratio(found.times(measured[one])), table.seconds(found.cpu), table.memory(found.memory)]
        for name, found in measured.items()
    ]
    targets.at_most("wall time, times one dead server", measured[whole].times(measured[one]), TIMES)
    return table.table(["one pass of", "wall", "times one dead server", "processor time", "peak memory"], rows) + "\n" + targets.table()
