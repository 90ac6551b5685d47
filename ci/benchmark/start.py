"""What it costs to start the program, to have it, and to build it.

`zonewright --help` and `/bin/true`, which takes what starting any process takes, each started so many times in turn; the
size of the binary; how many crates it is made of. With --cold the program is built from nothing in a folder that is then removed.
"""

import json
import os
import re
import statistics
import subprocess
import tempfile
import time

from . import measure, table
from .tools import ROOT, built, fail, find, program, read, tell

STARTS = 50
# How many of the crates that take longest to build are listed.
HEAVY = 8
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
    """The size of the binary without symbols and line tables, in bytes, or None if it cannot be measured."""
    if find("strip") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program("strip"), "-o", f"{folder}/stripped", binary], check=True)
        return os.path.getsize(f"{folder}/stripped")


def build():
    """Builds the program from nothing; gives its figures, and the crates that took longest, with their seconds."""
    with tempfile.TemporaryDirectory() as folder:
        what = ["--locked", "--release", "--bin", "zonewright", "--manifest-path", f"{ROOT}/Cargo.toml", "--target-dir", folder]
        figures, _ = measure.run([program("cargo"), "build", "--quiet", "--timings", *what])
        found = re.search(r"^const UNIT_DATA = (\[.*?^\]);", read(f"{folder}/cargo-timings/cargo-timing.html"), re.MULTILINE | re.DOTALL)
        if not found:
            fail("cargo writes its timings in another form than before")
    took = {}
    for unit in json.loads(found[1]):
        took[unit["name"]] = took.get(unit["name"], 0) + unit["duration"]
    return figures, sorted(took.items(), key=lambda each: -each[1])[:HEAVY]


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
    heavy = ""
    if args.cold:
        figures, longest = build()
        rows.append(["a build from nothing", f"{figures.wall:.0f} s, {figures.cpu:.0f} s of processor time"])
        heavy = "\nThe crates that took longest to build:\n\n"
        heavy += table.table(["crate", "seconds"], [[f"`{name}`", f"{each:.1f}"] for name, each in longest])
    targets = table.Targets()
    targets.at_most("`zonewright --help`", medians["`zonewright --help`"] * 1000, HELP * 1000, " ms")
    return table.table(["what", "measured"], rows) + heavy + "\n" + targets.table()
