"""A plan from three copies of a fleet, compared with a plan from one.

In each copy other hosts have drifted. Copies come from zone files; from doubles that hold back each message, so long that
both cores idle, and each as long as the settings below say; and from BIND, Knot and PowerDNS, which share two cores with the
plan, so that those figures are only told. The doubles are `zonewright serve`. All run in turn.
"""

import os
import shutil
import tempfile
from contextlib import ExitStack

from . import cache, fleet, measure, table
from .late import Late
from .machine import ticks
from .servers import DOUBLE, KINDS, PDNS, Server
from .tools import read, tell, write

HOSTS, RUNS, COPIES = 250_000, 5, 3
# For how many seconds the doubles hold back each message: a transfer of the zone of names has about a thousand.
PAUSES = [0.006, 0.007, 0.008]
# Processor time of three copies, times that of one; wall time of three late doubles, times that of the slowest alone.
CPU, WALL = 2.2, 1.3
# Of these PowerDNS takes long to load more.
TOLD_HOSTS = 50_000
FILES, LATE, MAKES = "zone files", "late doubles", "BIND, Knot and PowerDNS"


def drifted_hosts(fleets, folder):
    """How many hosts a plan from each copy changes, and how many one from all of them."""
    changed = []
    for number, each in enumerate(fleets):
        document = f"{folder}/drift-{number}.json"
        # The inventory of all is that of the first.
        fleet.plan(with_files(fleets[0], [each], f"{folder}/drift-{number}"), document)
        changed.append(fleet.changed_hosts(document)[0])
    return [len(hosts) for hosts in changed], len(set.union(*changed))


def with_files(own, fleets, folder):
    """A fleet in a folder, with a target for the zone files of each of these; gives the folder."""
    own.with_targets([f'type = "zonefile"\ndir = "copy-{number}"\n' for number in range(len(fleets))], folder)
    for number, each in enumerate(fleets):
        shutil.copytree(f"{each.folder}/zones", f"{folder}/copy-{number}", copy_function=os.link)
    return folder


class Clients:
    """The clients of one table: plans of a workspace with one target, and of one with all."""

    def __init__(self, own, folder, name):
        self.own, self.folder, self.name = own, folder, name
        # Of each client the shares of the processors that idled.
        self.idle = {}

    def workspace(self):
        """A folder for the next workspace."""
        return f"{self.folder}/{self.name}-{len(self.idle)}".replace(" ", "-")

    def of_targets(self, name, targets, hosts):
        """A plan from these targets, which changes so many hosts."""
        return self.client(name, self.own.with_targets(targets, self.workspace()), hosts, len(targets))

    def of_files(self, name, fleets, hosts):
        """A plan from the zone files of these fleets, which changes so many hosts."""
        return self.client(name, with_files(self.own, fleets, self.workspace()), hosts, len(fleets))

    def client(self, name, workspace, hosts, copies):
        """A plan of a workspace that sees so many copies."""
        document = f"{self.folder}/plan.json"
        idle = self.idle.setdefault(name, [])

        def run(counts):
            cache.forget(workspace)
            before = ticks()
            figures = fleet.plan(workspace, document)
            total, work, _ = (after - begin for after, begin in zip(ticks(), before))
            if counts:
                idle.append(1 - work / max(total, 1))
            fleet.check_plan(document, hosts, len(self.own.zones) * copies)
            return figures

        return run


def rows_of(name, measured, idle):
    """The rows of a table: what compares each client with the last one, which has all copies."""
    *alone, whole = [measured[key] for key in measured if key[0] == name]
    rows = []
    for (_, client), found in ((key, found) for key, found in measured.items() if key[0] == name):
        slowest = max(alone, key=lambda one: one.wall)
        times = [table.ratio(found.times(slowest)), table.ratio(found.times(alone[0], "cpu"))]
        share = f"{sum(idle[client]) / len(idle[client]):.0%}"
        rows.append([name, client, table.seconds(found.wall), times[0], share, table.seconds(found.cpu), times[1], table.memory(found.memory)])
    return rows, whole.times(slowest), whole.times(alone[0], "cpu")


def measure_files_and_doubles(stack, fleets, args, folder):
    """Measures zone files and late doubles; gives the rows, and adds to the targets."""
    alone, together = drifted_hosts(fleets, folder)
    own = fleets[0]
    of_files, of_doubles = Clients(own, folder, FILES), Clients(own, folder, LATE)
    clients = {
        (FILES, "one copy"): of_files.of_files("one copy", fleets[:1], alone[0]),
        (FILES, "three copies, alike"): of_files.of_files("three copies, alike", [own] * COPIES, alone[0]),
        (FILES, "three copies"): of_files.of_files("three copies", fleets, together),
    }
    ways = []
    for number, (each, pause) in enumerate(zip(fleets, PAUSES)):
        server = stack.enter_context(Server(DOUBLE, f"{folder}/double-{number}", each.zones))
        way = stack.enter_context(Late(server, lambda _message, pause=pause: pause))
        ways.append(server.target(folder, port=way.port))
        name = f"one copy, {pause * 1000:.0f} ms a message"
        clients[LATE, name] = of_doubles.of_targets(name, ways[-1:], alone[number])
    clients[LATE, "all three"] = of_doubles.of_targets("all three", ways, together)
    measured = measure.in_turn(args.runs or RUNS, clients)
    targets = table.Targets()
    rows, _, cpu = rows_of(FILES, measured, of_files.idle)
    targets.at_most("three copies in files: processor time, times one", cpu, CPU)
    more, wall, cpu = rows_of(LATE, measured, of_doubles.idle)
    targets.at_most("three late doubles: processor time, times one", cpu, CPU)
    targets.at_most("three late doubles: wall time, times the slowest alone", wall, WALL)
    return rows + more, targets


def measure_makes(stack, fleets, args, folder):
    """Measures BIND, Knot and PowerDNS; gives the rows."""
    alone, together = drifted_hosts(fleets, folder)
    of_makes, clients, ways = Clients(fleets[0], folder, MAKES), {}, []
    for each, kind, changed in zip(fleets, [*KINDS, PDNS], alone):
        server = stack.enter_context(Server(kind, f"{folder}/{kind}", each.zones))
        ways.append(server.target(folder))
        clients[MAKES, kind] = of_makes.of_targets(kind, ways[-1:], changed)
    clients[MAKES, "all three"] = of_makes.of_targets("all three", ways, together)
    measured = measure.in_turn(args.runs or RUNS, clients)
    return rows_of(MAKES, measured, of_makes.idle)[0]


class Drifted:
    """The zones of a fleet, with another TTL at half a percent of the hosts: others for each number."""

    def __init__(self, own, folder, number):
        self.folder, self.zones = folder, {zone: f"{folder}/zones/{os.path.basename(path)}" for zone, path in own.zones.items()}
        # A host has four lines.
        every, met = round(1 / fleet.DRIFT) * 4, 0
        for zone, path in own.zones.items():
            lines = read(path).splitlines(keepends=True)
            for place, line in enumerate(lines):
                name, _, rest = line.partition(" ")
                if rest.startswith(("AAAA ", "PTR ")):
                    met += 1
                    if met % every == number:
                        lines[place] = f"{name} 3600 {rest}"
            write(self.zones[zone], "".join(lines))


def fleets_of(folder, hosts):
    """A fleet, and copies of it, in each of which other hosts have drifted."""
    tell(f"copies: {COPIES} copies of a fleet of {hosts} hosts")
    own = fleet.Fleet(f"{folder}/fleet", hosts)
    return [own, *(Drifted(own, f"{folder}/copy-{number}", number) for number in range(1, COPIES))]


def run(args):
    """Measures; gives the tables."""
    hosts = args.hosts or HOSTS
    head = ["copies from", "plan of", "wall", "times the slowest alone", "idle processors", "processor time", "times one", "peak memory"]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        fleet.write_keys(folder)
        rows, targets = measure_files_and_doubles(stack, fleets_of(folder, hosts), args, folder)
    text = f"{table.number(hosts)} hosts, in each copy {round(fleet.DRIFT * hosts)} others drifted:\n\n" + table.table(head, rows)
    hosts = min(hosts, TOLD_HOSTS)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        fleet.write_keys(folder)
        rows = measure_makes(stack, fleets_of(folder, hosts), args, folder)
    text += f"\n{table.number(hosts)} hosts, on servers that share the processors with the plan:\n\n" + table.table(head, rows)
    return text + "\n" + targets.table()
