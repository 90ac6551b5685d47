"""Reading and writing zones that an API serves: etcd and PowerDNS, next to curl and a bare client of the same requests.

One zone of 40 000 names with an address each. Reading is what a plan reads, by examples/api; curl gets the same bytes into a
file. The bare client of etcd sends transactions of 128 keys one after another, by the HTTP library of zonewright, compares
nothing and keeps no journal; the updates of `apply` do both, and are as large. Their time is what `apply` prints of the zone; the
whole command reads the plan and the zone, writes, reads the zone again, and keeps state. Between two rounds the keys are deleted.
"""

import base64
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack

from . import measure, table
from .servers import PDNS, Server, free_port
from .tools import NOW, SECRET, built, fail, program, read, tell, write, write_keys

ZONE, NAMES, RUNS = "bench.example", 40_000, 5
# Times what curl takes for the same range of etcd, and for the same zone of PowerDNS; times the bare client's transactions.
READ_ETCD, READ_PDNS, APPLY = 2, 1.5, 1
SETTINGS = """owner = "bench"
[sources]
projects = "p.yaml"
hosts = "none"
[[sources.records]]
name = "static"
format = "octodns"
path = "octo/*.yaml"
project = "p"
[project.p]
dns_domain = "example"
automation = "allowed"
[limits]
max_loss = "100%"
[pool.main]
[[pool.main.target]]
{target}
[[zone]]
name = "{zone}"
pool = "main"
permission = "full"
create = true
[zone.apex]
ns = ["ns1.example.org"]
mname = "ns1.example.org"
rname = "hostmaster@example.org"
"""


class Etcd:
    """An etcd of one member on loopback, for as long as the `with` block runs."""

    def __init__(self, folder):
        self.folder, self.port, self.peers = folder, free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        peer = f"http://127.0.0.1:{self.peers}"
        command = [
            program("etcd"), "--data-dir", f"{self.folder}/etcd", "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
        ]
        with open(f"{self.folder}/etcd.log", "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while not self.answers():
            if time.monotonic() > deadline:
                self.__exit__()
                fail(f"etcd does not start: {read(f'{self.folder}/etcd.log')[-2000:]}")
            time.sleep(0.1)
        return self

    def answers(self):
        """Whether it answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                return b"true" in answer.read()
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def ask(self, path, content):
        """Asks the gateway."""
        request = urllib.request.Request(f"{self.url}{path}", json.dumps(content).encode())
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def forget(self):
        """Deletes all keys, and what etcd keeps of them."""
        everything = base64.b64encode(b"\0").decode()
        gone = self.ask("/v3/kv/deleterange", {"key": everything, "range_end": everything})
        self.ask("/v3/kv/compaction", {"revision": gone["header"]["revision"], "physical": True})
        self.ask("/v3/maintenance/defragment", {})


def write_workspace(folder, target, names):
    """Writes a workspace whose file states one address for each name."""
    write(f"{folder}/zonewright.toml", SETTINGS.format(target=target, zone=ZONE))
    write(f"{folder}/p.yaml", "id: p\nvlan_scheme: none\nttl: 600\nautomation: true\npolicy: sync\n")
    entry = "h{0}: {{type: A, value: 192.{1}.{2}.{3}}}\n"
    entries = "".join(entry.format(number, number // 65536, number // 256 % 256, number % 256) for number in range(names))
    write(f"{folder}/octo/{ZONE}.yaml", entries)


def zonewright(folder, *args):
    """A command of zonewright in a workspace."""
    return [built("zonewright"), "-C", folder, "--quiet", "--now", NOW, *args]


def counted(command, folder, expected):
    """A client that must print what is expected."""

    def run(_counts):
        figures, _ = measure.run(command, f"{folder}/output")
        said = read(f"{folder}/output")
        if expected not in said:
            fail(f"{' '.join(command)[:300]} says {said[:500]}")
        return figures

    return run


def to_file(command, folder, count, part):
    """A client that writes what it gets to a file, in which a part of each record must be."""

    def run(_counts):
        figures, _ = measure.run(command, f"{folder}/output")
        found = read(f"{folder}/output").count(part)
        if found < count:
            fail(f"{' '.join(command)[:300]} gives {found} of {count}")
        return figures

    return run


def measure_etcd(folder, names, runs):
    """Measures etcd; gives the rounds of reading and of writing."""
    # The keys of both are as long.
    workspace, floor = f"{folder}/workspace", "/skydns/example/floor/"
    whole = []
    os.makedirs(folder)
    with Etcd(folder) as etcd:
        target = f'type = "etcd"\nendpoints = "{etcd.url}"'
        write_workspace(workspace, target, names)
        write(f"{folder}/target.toml", target + "\n")
        plan = f"{folder}/plan"

        def apply(_counts):
            etcd.forget()
            subprocess.run(["rm", "-rf", f"{workspace}/.zonewright", plan], check=True)
            measure.run(zonewright(workspace, "plan", "--out", plan))
            figures, _ = measure.run(zonewright(workspace, "apply", plan), f"{folder}/applied")
            said = read(f"{folder}/applied")
            written = re.search(rf"^ +\d+ +{names} +([0-9.]+)  {re.escape(ZONE)}\.$", said, re.MULTILINE)
            if not written:
                fail(f"not all names were applied: {said[:500]}")
            whole.append(figures)
            return figures._replace(wall=float(written[1]))

        def put(_counts):
            etcd.forget()
            command = [built("examples/api"), "put", etcd.url, floor, str(names)]
            return counted(command, folder, f"{names} keys")(_counts)

        writing = measure.in_turn(runs, {"a bare client": put, "the updates of `apply`": apply})
        # The first round does not count.
        writing["`apply`, all of it"] = measure.Rounds(whole[-runs:])
        # `apply` came last, so that its keys are there.
        ends = {"key": f"/skydns/example/bench/", "range_end": "/skydns/example/bench0"}
        write(f"{folder}/range", json.dumps({key: base64.b64encode(text.encode()).decode() for key, text in ends.items()}))
        prefix = [program("etcdctl"), "--endpoints", etcd.url, "get", "--prefix", "/skydns/example/bench/"]
        reading = measure.in_turn(runs, {
            "`curl` of the range": to_file([program("curl"), "-s", "--data", f"@{folder}/range", f"{etcd.url}/v3/kv/range"], folder, names, "mod_revision"),
            "`etcdctl get --prefix`": to_file([program("env"), "ETCDCTL_API=3", *prefix], folder, names, "targetstrip"),
            "zonewright": counted([built("examples/api"), "read", f"{folder}/target.toml", ZONE], folder, f"{names + 2} records"),
        })
    return reading, writing


def measure_pdns(folder, names, runs):
    """Measures PowerDNS; gives the rounds of reading."""
    os.makedirs(folder)
    write_keys(folder)
    head = f"$ORIGIN {ZONE}.\n$TTL 600\n@ SOA ns1 hostmaster 1 3600 600 86400 60\n@ NS ns1\nns1 A 192.0.2.53\n"
    rows = (f"h{number} A 192.{number // 65536}.{number // 256 % 256}.{number % 256}\n" for number in range(names))
    write(f"{folder}/zone", head + "".join(rows))
    with ExitStack() as stack:
        server = stack.enter_context(Server(PDNS, f"{folder}/pdns", {ZONE: f"{folder}/zone"}, api=True))
        url = f"http://127.0.0.1:{server.api}"
        write(
            f"{folder}/target.toml",
            f'type = "powerdns"\nurl = "{url}"\napi_key = {{ secret_file = "{folder}/secret" }}\nserver = "127.0.0.1:{server.port}"\n',
        )
        curl = [program("curl"), "-s", "-H", f"X-API-Key: {SECRET}", f"{url}/api/v1/servers/localhost/zones/{ZONE}."]
        return measure.in_turn(runs, {
            "`curl` of the zone": to_file(curl, folder, names, '"content"'),
            "zonewright": counted([built("examples/api"), "read", f"{folder}/target.toml", ZONE], folder, f"{names + 3} records"),
        })


def run(args):
    """Measures; gives the tables."""
    names, runs = args.hosts or NAMES, args.runs or RUNS
    tell(f"apis: {names} names")
    with tempfile.TemporaryDirectory() as folder:
        reading, writing = measure_etcd(f"{folder}/e", names, runs)
        of_pdns = measure_pdns(f"{folder}/p", names, runs)
    rows, targets = [], table.Targets()

    def add(what, measured, floor):
        for name, found in measured.items():
            ratio = table.ratio(found.times(measured[floor]))
            rows.append([what, name, table.seconds(found.wall), ratio, table.seconds(found.cpu), table.memory(found.memory)])

    add("etcd, read", reading, "`curl` of the range")
    add("etcd, write", writing, "a bare client")
    add("PowerDNS, read", of_pdns, "`curl` of the zone")
    targets.at_most("etcd, read: times `curl`", reading["zonewright"].times(reading["`curl` of the range"]), READ_ETCD)
    targets.at_most("etcd, write: times a bare client", writing["the updates of `apply`"].times(writing["a bare client"]), APPLY)
    targets.at_most("PowerDNS, read: times `curl`", of_pdns["zonewright"].times(of_pdns["`curl` of the zone"]), READ_PDNS)
    head = ["what", "client", "wall", "times the floor", "processor time", "peak memory"]
    return f"One zone of {table.number(names)} names:\n\n{table.table(head, rows)}\n{targets.table()}"
