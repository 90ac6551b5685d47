"""What it costs to start the program, to have it, and to build it.

`zonewright --help` beside `/bin/true`, which is what starting any process takes, each started so many times in turn; the size
of the binary; how many crates it is made of. With --cold the program is built from nothing in a folder that is then removed.
"""

import os
import statistics
import subprocess
import tempfile
import time

from . import measure, table
from .tools import ROOT, built, find, program, tell

STARTS = 50
# Seconds that `--help` may take.
HELP = 0.010


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--cold", action="store_true", help="time a build from nothing, too (minutes)")


def wall(command):
    """The seconds that a command takes."""
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def crates(edges):
    """How many crates the program has by these edges, itself not counted."""
    command = [program("cargo"), "tree", "--locked", "-e", edges, "--prefix", "none"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return len({line.removesuffix(" (*)") for line in lines if line}) - 1


def stripped(binary):
    """The size of the binary without symbols and line tables, in octets, or None where that cannot be found."""
    if find("strip") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program("strip"), "-o", f"{folder}/stripped", binary], check=True)
        return os.path.getsize(f"{folder}/stripped")


def run(args):
    """Measures; gives the tables."""
    tell("start")
    binary = built("zonewright")
    took = {"`zonewright --help`": [], "`/bin/true`": []}
    for _ in range(STARTS):
        took["`zonewright --help`"].append(wall([binary, "--help"]))
        took["`/bin/true`"].append(wall(["/bin/true"]))
    medians = {name: statistics.median(each) for name, each in took.items()}
    rows = [[name, f"{median * 1000:.1f} ms"] for name, median in medians.items()]
    rows.append(["the binary", f"{os.path.getsize(binary) / 1e6:.1f} MB"])
    size = stripped(binary)
    if size:
        rows.append(["the binary without symbols and line tables", f"{size / 1e6:.1f} MB"])
    rows.append(["crates that are linked in (`cargo tree --locked -e normal`)", crates("normal")])
    rows.append(["crates that build those, too (`-e normal,build`)", crates("normal,build")])
    if args.cold:
        with tempfile.TemporaryDirectory() as folder:
            figures, _ = measure.run([program("cargo"), "build", "--quiet", "--locked", "--release", "--bin", "zonewright",
                                      "--manifest-path", f"{ROOT}/Cargo.toml", "--target-dir", folder])
        rows.append(["a build from nothing", f"{figures.wall:.0f} s, {figures.cpu:.0f} s of processor time"])
    targets = table.Targets()
    targets.at_most("`zonewright --help`", medians["`zonewright --help`"] * 1000, HELP * 1000, " ms")
    return table.table(["what", "measured"], rows) + "\n" + targets.table()
