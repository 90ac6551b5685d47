"""How `plan`, `check` and `allocate` grow from 10 000 hosts to 1 500 000.

`plan` and `check` work on a fleet with 50 reverse zones; `allocate` on one of which a tenth has no name, with a row in
names.lock and a record in a zone file for each name. Live DNS is read from zone files, unless --over says otherwise: then
only zonewright's own work is measured, no server needs memory for six million records, and no server must be installed.
`check` is compared with `wc` on the same files, which looks at each byte once, and `allocate` with `sort`. The exponent is
the slope of the line of least squares through the logarithms.
"""

import glob
import math
import os
import tempfile
from contextlib import ExitStack

from . import cache, fleet, measure, names, table
from .servers import KINDS, Server
from .tools import program, tell

SIZES = [10_000, 40_000, 150_000, 500_000, 1_500_000]
RUNS = 3
EXPONENT, MEMORY = 1.05, 2200


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--over", choices=["files", *KINDS], default="files", help="where `plan` reads live DNS")
    parser.add_argument("--only", choices=["plan", "check", "allocate"], help="one of the tables")


def measure_fleet(hosts, args):
    """Plans and checks one fleet; gives the figures, and the bytes that `check` reads."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        own = fleet.Fleet(f"{folder}/fleet", hosts)
        workspace, document = own.folder, f"{folder}/plan.json"
        if args.over != "files":
            server = stack.enter_context(Server(args.over, f"{folder}/server", own.zones))
            workspace = own.at(server, f"{folder}/workspace")
        files = [path for path in glob.glob(f"{own.folder}/**", recursive=True) if os.path.isfile(path)]
        files = [path for path in files if not path.endswith(".zone")]

        def plan(_counts):
            cache.forget(workspace)
            figures = fleet.plan(workspace, document)
            fleet.check_plan(document, own.drifted, len(own.zones))
            return figures

        clients = {"plan": plan, "check": lambda _: measure.run(fleet.zonewright(own.folder, "check"))[0],
                   "wc": lambda _: measure.run([program("wc"), *files], env={"LC_ALL": "C"})[0]}
        clients = {name: client for name, client in clients.items() if args.only in (None, name, {"wc": "check"}.get(name))}
        return measure.in_turn(args.runs or RUNS, clients), own.records(), sum(map(os.path.getsize, files))


def measure_names(hosts, args):
    """Gives names to a tenth of a fleet; gives the figures."""
    with tempfile.TemporaryDirectory() as folder:
        names.write_reports(f"{folder}/macs.jsonl", hosts)
        return names.measure_case(next(iter(names.CASES)), folder, hosts, args.runs or RUNS, f"{folder}/macs.jsonl")[0]


def exponents(sizes, rows):
    """The exponents of wall time, processor time and memory."""
    return [measure.exponent(sizes, column) for column in zip(*(row.medians for row in rows))]


def growth(sizes, rows):
    """What each further host takes, from the smallest fleet to the largest, as a sentence."""
    if len(sizes) < 2:
        return ""
    more = sizes[-1] - sizes[0]
    each, memory = (rows[-1].cpu - rows[0].cpu) / more, (rows[-1].memory - rows[0].memory) / more
    return f"\nEach further host takes {each * 1e6:.1f} µs of processor time and {table.number(memory)} bytes.\n"


def run(args):
    """Measures; gives the tables."""
    sizes = [size for size in SIZES if size <= (args.hosts or SIZES[-1])] or [args.hosts]
    text, targets = "", table.Targets()
    fleets, allocations = {}, {}
    for hosts in sizes:
        tell(f"sizes: {hosts} hosts")
        if args.only != "allocate":
            fleets[hosts] = measure_fleet(hosts, args)
        if args.only in (None, "allocate"):
            allocations[hosts] = measure_names(hosts, args)
    units = ["wall", "processor time", "peak memory"]
    shown = lambda found: [table.seconds(found.wall), table.seconds(found.cpu), table.memory(found.memory)]
    last = lambda slopes: ["" if math.isnan(slope) else f"{slope:.2f}" for slope in slopes]

    def hold(command, slopes):
        if len(sizes) < 2:
            return
        for unit, slope in zip(units, slopes):
            targets.at_most(f"`{command}`: exponent of {unit}", slope, EXPONENT)

    if args.only in (None, "plan"):
        rows = [found["plan"] for found, _, _ in fleets.values()]
        slopes = exponents(sizes, rows)
        lines = [[table.number(hosts), table.number(records), *shown(found["plan"]), table.seconds(found["plan"].cpu / records * 1e6)]
                 for hosts, (found, records, _) in fleets.items()]
        where = "zone files" if args.over == "files" else args.over
        text += f"`plan`, live DNS from {where}:\n\n"
        text += table.table(["hosts", "records", *units, "processor time a million records"], [*lines, ["exponent", "", *last(slopes), ""]])
        text += growth(list(fleets), rows)
        hold("plan", slopes)
        if sizes[-1] == SIZES[-1]:
            targets.at_most("`plan`: peak memory with 1 500 000 hosts", rows[-1].memory / 1e6, MEMORY, " MB")
    if args.only in (None, "check"):
        slopes = exponents(sizes, [found["check"] for found, _, _ in fleets.values()])
        lines = [[table.number(hosts), table.memory(size), *shown(found["check"]), table.ratio(found["check"].times(found["wc"], "cpu"))]
                 for hosts, (found, _, size) in fleets.items()]
        text += "\n`check`:\n\n"
        text += table.table(["hosts", "files", *units, "processor time, times `wc`"], [*lines, ["exponent", "", *last(slopes), ""]])
        text += growth(list(fleets), [found["check"] for found, _, _ in fleets.values()])
        hold("check", slopes)
    if args.only in (None, "allocate"):
        slopes = exponents(sizes, [found["allocate"] for found in allocations.values()])
        lines = [[table.number(hosts), *shown(found["allocate"]), table.ratio(found["allocate"].times(found["sort"], "cpu"))]
                 for hosts, found in allocations.items()]
        text += "\n`allocate`, for a tenth of the hosts:\n\n"
        text += table.table(["hosts", *units, "processor time, times `sort`"], [*lines, ["exponent", *last(slopes), ""]])
        hold("allocate", slopes)
    return text.lstrip() + "\n" + targets.table()
