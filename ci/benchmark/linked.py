"""The same plan by several builds of the program, with 2 and with 8 threads, from zone files.

    ci/bench linked --program "static=target/x86_64-unknown-linux-musl/release/zonewright"

The build of target/release comes first; those that are named follow.
"""

import os
import tempfile

from . import fleet, measure, table
from .tools import built, fail, tell

HOSTS, RUNS, THREADS = 100_000, 5, (2, 8)
FIRST = "linked with glibc, as `cargo install` makes it"


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH", help="another build")


def client(binary, own, document, threads):
    """A plan by one build."""

    def plan(_counts):
        command = [binary, *fleet.zonewright(own.folder, "plan", "--format", "json", "--out", document)[1:]]
        figures, _ = measure.run(command, env={**os.environ, "RAYON_NUM_THREADS": str(threads)})
        fleet.check_plan(document, own.drifted, len(own.zones))
        return figures

    return plan


def run(args):
    """Measures; gives the table."""
    hosts, programs = args.hosts or HOSTS, {FIRST: built("zonewright")}
    for named in args.program:
        name, separator, path = named.partition("=")
        if not separator or not os.path.isfile(path):
            fail(f"--program is NAME=PATH, and `{named}` names no file")
        programs[name] = os.path.abspath(path)
    with tempfile.TemporaryDirectory() as folder:
        tell(f"linked: a fleet of {hosts} hosts")
        own = fleet.Fleet(f"{folder}/fleet", hosts, reverse_zones=16)
        clients = {(name, str(threads)): client(path, own, f"{folder}/plan.json", threads)
                   for name, path in programs.items() for threads in THREADS}
        measured = measure.in_turn(args.runs or RUNS, clients)
    rows = []
    for name in programs:
        each = [measured[name, str(threads)] for threads in THREADS]
        times = [f"{table.seconds(found.wall)}, {table.seconds(found.cpu)}" for found in each]
        rows.append([name, *times, ", ".join(table.memory(found.memory) for found in each)])
    heads = [f"{threads} threads" for threads in THREADS]
    return table.table(["program", *heads, f"memory, {THREADS[0]} and {THREADS[1]} threads"], rows)
