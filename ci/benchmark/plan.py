"""A plan over AXFR from BIND and Knot, from process start to the plan as JSON on disk.

The fleet has one zone of names and 50 reverse zones; transfers are signed with hmac-sha256. It runs in turn with the
floor, which receives all zones over one connection and counts bytes, and with kdig, which prints all zones to /dev/null.
Nothing of an earlier run helps: the zones that a plan keeps are removed before each run.
"""

import re
import tempfile
from contextlib import ExitStack

from . import cache, fleet, measure, table
from .servers import KINDS, Server
from .tools import fail, read, tell

HOSTS, RUNS = 250_000, 5
# Wall time compared with the floor and with kdig; seconds of processor time a million records; MB of peak memory.
FLOOR = {"BIND": 1.15, "Knot": 2.5}
KDIG = {"Knot": 0.5}
CPU, MEMORY = 1.2, 400


def clients(server, fleet_, folder, records):
    """The clients of a server: for each name a function that runs it, and checks its result."""
    zones, out = list(server.zones), f"{folder}/{server.kind}-out"
    workspace = fleet_.at(server, f"{folder}/{server.kind}-workspace")
    received = set()

    def floor(_counts):
        figures, _ = measure.run(server.reader(folder, zones, floor=True), out)
        received.add(read(out))
        if len(received) != 1 or not re.fullmatch(rf"\d+ bytes in \d+ messages of {len(zones)} zones\n", read(out)):
            fail(f"the floor does not receive the same each time: {received}")
        return figures

    def ours(_counts):
        cache.forget(workspace)
        figures = fleet.plan(workspace, f"{folder}/plan.json")
        fleet.check_plan(f"{folder}/plan.json", fleet_.drifted, len(zones))
        return figures

    def kdig(counts):
        if counts:
            return measure.run(server.kdig(zones))[0]
        figures, _ = measure.run(server.kdig(zones), out)
        with open(out) as file:
            found = sum("\tIN\t" in line for line in file)
        # Each transfer ends with the SOA once more.
        if found != records + len(zones):
            fail(f"kdig prints {found} records of {records} and {len(zones)} closing SOAs")
        return figures

    return {(server.kind, "floor: bytes counted"): floor, (server.kind, "`zonewright plan`"): ours, (server.kind, "`kdig`"): kdig}


def run(args):
    """Measures; gives the tables."""
    hosts = args.hosts or HOSTS
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        tell(f"plan: a fleet of {hosts} hosts")
        own = fleet.Fleet(f"{folder}/fleet", hosts)
        fleet.write_keys(folder)
        records = own.records()
        servers = [stack.enter_context(Server(kind, f"{folder}/{kind}", own.zones)) for kind in KINDS]
        both = {}
        for server in servers:
            both.update(clients(server, own, folder, records))
        measured = measure.in_turn(args.runs or RUNS, both)
    rows, targets = [], table.Targets()
    for (kind, client), found in measured.items():
        floor, kdig = measured[kind, "floor: bytes counted"], measured[kind, "`kdig`"]
        each = found.cpu / records * 1e6
        ratios = [table.ratio(found.times(other)) for other in (floor, kdig)]
        rows.append([kind, client, table.seconds(found.wall), *ratios, table.seconds(found.cpu), table.seconds(each), table.memory(found.memory)])
        if client == "`zonewright plan`":
            targets.at_most(f"{kind}: wall time, times the floor", found.times(floor), FLOOR[kind])
            if kind in KDIG:
                targets.at_most(f"{kind}: wall time, times `kdig`", found.times(kdig), KDIG[kind])
            targets.at_most(f"{kind}: processor time a million records", each, CPU, " s")
            targets.at_most(f"{kind}: peak memory", found.memory / 1e6, MEMORY, " MB")
    head = ["server", "client", "wall", "times the floor", "times `kdig`", "processor time", "a million records", "peak memory"]
    what = f"{table.number(hosts)} hosts, {table.number(records)} records in {len(own.zones)} zones, {own.drifted} hosts drifted:\n\n"
    return what + table.table(head, rows) + "\n" + targets.table()
