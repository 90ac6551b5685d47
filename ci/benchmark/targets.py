"""An apply to three targets of one pool, compared with an apply to the slowest of them alone.

Every host has a wrong AAAA, which is modified, and no PTR, which is created. The three targets are doubles
(`zonewright serve`) that hold back each answer to an update, so long that both cores idle. BIND, Knot and PowerDNS, which
share two cores with the apply, are only told. Each apply begins with new servers; afterwards the zones of all must be equal.
"""

import tempfile
from contextlib import ExitStack

from . import apply, fleet, measure, table
from .late import Late, is_update
from .machine import ticks
from .servers import DOUBLE, KINDS, PDNS, Server
from .tools import fail, tell

HOSTS, RUNS = 10_000, 5
# Of these, PowerDNS with SQLite takes minutes for more.
TOLD_HOSTS = 1_000
# For how many seconds the doubles hold back each answer to an update.
PAUSES = [0.10, 0.12, 0.14]
WALL = 1.2
LATE, MAKES = "late doubles", "BIND, Knot and PowerDNS"


def late(pause):
    """How long a message is held back."""
    return lambda message: pause if is_update(message) else 0


def measure_apply(hosts, kinds, pauses):
    """Applies to new servers of these kinds; gives the figures, the share of the processors that idled, and what the
    zones hold then."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        apply.write_inventory(folder, hosts)
        zones = {apply.FORWARD: f"{folder}/forward.zone", apply.REVERSE: f"{folder}/reverse.zone"}
        servers = [stack.enter_context(Server(kind, f"{folder}/server-{number}", zones, updates=True)) for number, kind in enumerate(kinds)]
        ways = [stack.enter_context(Late(server, late(pause))) for server, pause in zip(servers, pauses)] if pauses else servers
        apply.write_settings(folder, [server.target(folder, port=way.port) for server, way in zip(servers, ways)])
        measure.run(fleet.zonewright(folder, "-q", "plan", "--out", f"{folder}/plan"))
        before = ticks()
        figures, _ = measure.run(fleet.zonewright(folder, "apply", f"{folder}/plan", "--yes"), f"{folder}/output")
        total, work, _ = (after - begin for after, begin in zip(ticks(), before))
        return figures, 1 - work / max(total, 1), {apply.contents(folder, server) for server in servers}


def measure_all(name, kinds, pauses, hosts, runs):
    """Applies to each of these alone, and to all; gives the rows, and how many times the slowest all take."""
    labels = [f"one, {pause * 1000:.0f} ms an answer" for pause in pauses] if pauses else kinds
    clients = {label: ([kind], pauses[number : number + 1]) for number, (label, kind) in enumerate(zip(labels, kinds))}
    clients["all three"] = (kinds, pauses)
    measured, idle, held = {}, {}, set()
    for number in range(runs):
        tell(f"  run {number + 1} of {runs}")
        for label, (some, waits) in clients.items():
            figures, share, found = measure_apply(hosts, some, waits)
            measured.setdefault(label, []).append(figures)
            idle.setdefault(label, []).append(share)
            held |= found
            tell(f"    {label}: {figures.wall:.2f} s, {figures.cpu:.2f} s CPU")
    if len(held) != 1 or next(iter(held))[0] != 2 * hosts:
        fail(f"the zones are not equal afterwards: {held}")
    measured = {label: measure.Rounds(rows) for label, rows in measured.items()}
    *alone, whole = measured.values()
    slowest = max(alone, key=lambda one: one.wall)
    rows = [
        [name, label, table.seconds(found.wall), table.ratio(found.times(slowest)), f"{sum(idle[label]) / runs:.0%}", table.seconds(found.cpu), table.memory(found.memory)]
        for label, found in measured.items()
    ]
    return rows, whole.times(slowest)


def run(args):
    """Measures; gives the tables."""
    hosts, runs, targets = args.hosts or HOSTS, args.runs or RUNS, table.Targets()
    tell(f"targets: {hosts} hosts")
    rows, wall = measure_all(LATE, [DOUBLE] * 3, PAUSES, hosts, runs)
    targets.at_most("three late doubles: wall time, times the slowest alone", wall, WALL)
    told = min(hosts, TOLD_HOSTS)
    rows += measure_all(f"{MAKES}, {table.number(told)} hosts", [*KINDS, PDNS], [], told, runs)[0]
    head = ["targets", "apply to", "wall", "times the slowest alone", "idle processors", "processor time", "peak memory"]
    what = f"{table.number(hosts)} hosts, {table.number(2 * hosts)} RRset changes at each target:\n\n"
    return what + table.table(head, rows) + "\n" + targets.table()
