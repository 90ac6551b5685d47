"""A second plan of the same fleet: what it costs when little or nothing has changed on the server since.

Cold, with nothing kept; warm, with the transfers of the plan before and no change; and warm with 1 000 RRsets of the zone of
names changed by nsupdate in between, which BIND and Knot give by IXFR. They run in turn with the floor, which counts the
bytes of whole transfers.
"""

import csv
import tempfile
from contextlib import ExitStack

from . import cache, fleet, measure, table
from .servers import KINDS, Server
from .tools import fail, program, tell, write

HOSTS, RUNS, CHANGES = 250_000, 5, 1000
# Of the wall time of the cold plan on BIND.
THIRD = 1 / 3


class Changes:
    """RRsets that nsupdate makes wrong, and right again."""

    def __init__(self, server, folder, own, number):
        self.server, self.folder, self.wrong = server, folder, False
        fleet.plan(own.folder, f"{folder}/drift.json")
        drifted = {int(change["subject"].split(":")[1]) for change in fleet.check_plan(f"{folder}/drift.json", own.drifted, len(own.zones))["changes"]}
        with open(f"{own.folder}/racktables/hosts.csv") as file:
            well = {row["name"].split(".")[0] for row in csv.DictReader(file) if int(row["inv"]) not in drifted}
        self.zone, path = next(iter(own.zones.items()))
        self.lines = []
        with open(path) as file:
            for line in file:
                name, kind, *rest = line.split()
                if kind == "AAAA" and name in well and len(self.lines) < number:
                    self.lines.append((name, rest[0]))
        if len(self.lines) != number:
            fail(f"the fleet has {len(self.lines)} hosts that have not drifted, not {number}; give more --hosts")

    def make(self):
        """Makes all of them wrong, or right again; gives how many hosts are wrong then."""
        self.wrong = not self.wrong
        script = f"server 127.0.0.1 {self.server.port}\nzone {self.zone}.\n"
        for name, address in self.lines:
            full, value = f"{name}.{self.zone}.", "2001:db8::1" if self.wrong else address
            script += f"update delete {full} AAAA\nupdate add {full} 600 AAAA {value}\n"
        write(f"{self.folder}/script", script + "send\n")
        measure.run([program("nsupdate"), "-v", "-k", f"{self.folder}/key", f"{self.folder}/script"])
        return len(self.lines) if self.wrong else 0


def clients(server, own, folder):
    """What is measured on a server."""
    zones, workspace = list(server.zones), own.at(server, f"{folder}/{server.kind}-workspace", cache.SETTING)
    changes, document = Changes(server, folder, own, min(CHANGES, own.hosts // 2)), f"{folder}/plan.json"
    wrong = [0]

    def plan():
        figures = fleet.plan(workspace, document)
        fleet.check_plan(document, own.drifted + wrong[0], len(zones))
        return figures

    def cold(_counts):
        cache.forget(workspace)
        return plan()

    def changed(_counts):
        wrong[0] = changes.make()
        return plan()

    steps = {
        "floor: bytes counted": lambda _counts: measure.run(server.reader(folder, zones, floor=True))[0],
        "cold": cold,
        "warm, nothing changed": lambda _counts: plan(),
        f"warm, {table.number(len(changes.lines))} RRsets changed": changed,
    }
    return {(server.kind, name): step for name, step in steps.items()}


def run(args):
    """Measures; gives the tables."""
    hosts = args.hosts or HOSTS
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        tell(f"warm: a fleet of {hosts} hosts")
        own = fleet.Fleet(f"{folder}/fleet", hosts)
        fleet.write_keys(folder)
        servers = [stack.enter_context(Server(kind, f"{folder}/{kind}", own.zones, updates=True)) for kind in KINDS]
        both = {}
        for server in servers:
            both.update(clients(server, own, folder))
        measured = measure.in_turn(args.runs or RUNS, both)
    rows, targets = [], table.Targets()
    for (kind, name), found in measured.items():
        cold = measured[kind, "cold"]
        rows.append([kind, name, table.seconds(found.wall), table.ratio(found.times(cold)), table.seconds(found.cpu), table.memory(found.memory)])
        if name.startswith("warm"):
            limit = {"BIND": THIRD}.get(kind)
            if limit:
                targets.at_most(f"{kind}: {name}, wall time, times the cold plan", found.times(cold), round(limit, 2))
    head = ["server", "plan", "wall", "times the cold plan", "processor time", "peak memory"]
    return f"{table.number(hosts)} hosts:\n\n" + table.table(head, rows) + "\n" + targets.table()
