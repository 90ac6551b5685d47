"""Runs commands and measures what they take."""

import math
import os
import statistics
import subprocess
import tempfile
import time
from typing import NamedTuple

from .tools import fail, program, read, tell


class Figures(NamedTuple):
    """What a command took: wall and processor time in seconds, and peak memory of its largest process in bytes."""

    wall: float
    cpu: float
    memory: int


def run(command, output=os.devnull, expected=0, env=None):
    """Runs a command, whose standard output goes to a file; gives its figures and what it said on standard error.

    GNU time starts the command: the kernel counts a command that a large process starts as equally large (exec counts the
    memory of what it replaces), and GNU time is small. Processor time is the kernel's own account of both.
    """
    with tempfile.NamedTemporaryFile() as errors, tempfile.NamedTemporaryFile() as told, open(output, "wb") as out:
        timed = [program("time"), "-q", "-f", "%M", "-o", told.name, *command]
        begin = time.monotonic()
        child = subprocess.Popen(timed, stdin=subprocess.DEVNULL, stdout=out, stderr=errors.file, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        said = read(errors.name)
        if child.returncode != expected:
            printed = read(output)[-2000:] if os.path.isfile(output) else ""
            fail(f"{' '.join(command)[:500]} ended with {child.returncode}: {printed}{said[-2000:]}")
        return Figures(wall, usage.ru_utime + usage.ru_stime, int(read(told.name)) * 1024), said


class Rounds:
    """What a client took, round by round, and the medians of that."""

    def __init__(self, rows):
        self.rows = rows
        self.medians = Figures(*(statistics.median(column) for column in zip(*rows)))
        self.wall, self.cpu, self.memory = self.medians

    def times(self, other, what="wall"):
        """How many times as much this client took as another: the median of the rounds, in each of which both ran."""
        return statistics.median(getattr(own, what) / max(getattr(each, what), 1e-6) for own, each in zip(self.rows, other.rows))


def in_turn(runs, clients, warm=True):
    """Lets clients run in turn, so many times; gives the rounds of each.

    `clients` has a function for each name, which takes whether the round counts, and gives figures. With `warm` the first
    round does not count: after it files are in memory, and servers have their pages.
    """
    measured = {name: [] for name in clients}
    for number in range(0 if warm else 1, runs + 1):
        tell(f"  run {number} of {runs}" if number else "  to warm up")
        for name, client in clients.items():
            figures = client(number > 0)
            tell(f"    {name if isinstance(name, str) else ', '.join(name)}: {figures.wall:.3f} s, {figures.cpu:.3f} s CPU")
            if number:
                measured[name].append(figures)
    return {name: Rounds(rows) for name, rows in measured.items()}


def exponent(sizes, values):
    """The exponent by which values grow with sizes: the slope of the line of least squares through their logarithms."""
    if len(sizes) < 2:
        return math.nan
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(value) for value in values]).slope
