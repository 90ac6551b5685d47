"""The parts of a plan, each alone: `cargo bench`, as a table."""

import re
import subprocess

from . import table
from .tools import ROOT, fail, program, tell

# A line of benches/parts.rs.
LINE = re.compile(r"^(\S.*?) {2,}(\d+) +wall +([\d.]+) ns +processor +([\d.]+) ns", re.MULTILINE)
# What the things are that a part takes, by the first words of its name.
THINGS = {"inventory: all": "hosts", "inventory": "rows", "zone": "records", "hosts": "hosts", "plan": "changes"}


def thing(name):
    """What a part takes."""
    return next(word for start, word in THINGS.items() if name.startswith(start))


def micro(nanoseconds):
    """A time in microseconds."""
    return f"{float(nanoseconds) / 1000:.2f} µs"


def run(_args):
    """Measures; gives the table."""
    tell("parts: cargo bench")
    done = subprocess.run([program("cargo"), "bench", "--quiet", "--locked", "--bench", "parts"], cwd=ROOT, capture_output=True, text=True)
    found = LINE.findall(done.stdout)
    if done.returncode != 0 or not found:
        fail(f"cargo bench: {done.stderr[-2000:]}")
    rows = [[name, f"{table.number(int(count))} {thing(name)}", micro(wall), micro(cpu)] for name, count, wall, cpu in found]
    return table.table(["part", "of", "wall, each", "processor time, each"], rows)
