"""A pass of `run` in which nothing moved, compared with a plan from nothing.

The fleet has no drift, so that the first pass changes nothing either. `run` makes passes without a pause; once it
uses its plan again, its processor time is counted over many of them. A cold plan, with nothing kept, runs in turn with that.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack

from . import cache, fleet, measure, table
from .servers import KINDS, Server
from .tools import built, fail, read, tell, write, write_keys

HOSTS, RUNS, SECONDS = 250_000, 5, 5
# Of the processor time of a cold plan.
SHARE = 0.05
# A file counts as written for good after two seconds: a plan from before that is not used again.
SETTLE = 4
# The fleet is dated, and `run` uses the clock.
AGE = 'max_age = "12h"\n'
DATED = re.compile(r'^(l3_tors|net_layout|ipv4_map) *= (".*")$', re.MULTILINE)


class Passes:
    """A process that makes passes."""

    def __init__(self, workspace, folder):
        self.said = open(f"{folder}/passes", "w+b")
        command = [built("zonewright"), "-C", workspace, "--color", "never", "run", "--interval", "0s", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)
        self.page = self.await_page()

    def await_page(self):
        """Waits until the page is served; gives its address."""
        for _ in range(600):
            found = re.search(r"http://[^/\s]+/", read(self.said.name))
            if found:
                return found[0]
            time.sleep(0.05)
        return fail(f"`run` serves no page: {read(self.said.name)[-2000:]}")

    def metric(self, name):
        """A number that `run` gives of itself."""
        with urllib.request.urlopen(f"{self.page}metrics", timeout=60) as answer:
            found = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", answer.read().decode(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    def cpu(self):
        """The processor time that it has had, in seconds."""
        fields = read(f"/proc/{self.process.pid}/stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """The most memory that it had, in bytes."""
        return int(re.search(r"VmHWM:\s+(\d+) kB", read(f"/proc/{self.process.pid}/status"))[1]) * 1024

    def measure(self):
        """What a pass takes; gives it with how many there were."""
        passes, cpu, began = self.metric("zonewright_passes"), self.cpu(), time.monotonic()
        time.sleep(SECONDS)
        count, cpu, wall = self.metric("zonewright_passes") - passes, self.cpu() - cpu, time.monotonic() - began
        if count < 1 or self.metric("zonewright_failed_passes"):
            fail(f"{count} passes in {SECONDS} s: {read(self.said.name)[-2000:]}")
        return measure.Figures(wall / count, cpu / count, self.memory())

    def end(self):
        """Ends it."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60) != 0:
            fail(f"`run` ended with {self.process.returncode}: {read(self.said.name)[-2000:]}")
        self.said.close()


def clients(server, own, folder, stack):
    """What is measured on a server."""
    workspace, document = own.at(server, f"{folder}/{server.kind}-workspace", cache.SETTING), f"{folder}/plan.json"
    settings = read(f"{workspace}/zonewright.toml")
    ageless, dated = DATED.subn(r'\1 = { path = \2, max_age = "none" }', settings)
    if AGE not in ageless or dated != 3:
        fail("examples/fleet writes other settings than ci/benchmark/passes.py knows")
    write(f"{workspace}/zonewright.toml", ageless.replace(AGE, ""))
    passes = Passes(workspace, folder)
    stack.callback(passes.end)
    while passes.metric("zonewright_passes") < 1:
        time.sleep(0.1)
    time.sleep(SETTLE)

    cold_workspace = own.at(server, f"{folder}/{server.kind}-cold", cache.SETTING)

    def cold(_counts):
        cache.forget(cold_workspace)
        figures = fleet.plan(cold_workspace, document)
        fleet.check_plan(document, 0, len(server.zones))
        return figures

    def unmoved(_counts):
        return passes.measure()

    return {(server.kind, "a cold plan"): cold, (server.kind, "a pass in which nothing moved"): unmoved}


def run(args):
    """Measures; gives the tables."""
    hosts = args.hosts or HOSTS
    with tempfile.TemporaryDirectory() as folder:
        tell(f"passes: a fleet of {hosts} hosts")
        own = fleet.Fleet(f"{folder}/fleet", hosts, drift=0)
        write_keys(folder)
        rows, targets = [], table.Targets()
        for kind in KINDS:
            with Server(kind, f"{folder}/{kind}", own.zones) as server, ExitStack() as stack:
                measured = measure.in_turn(args.runs or RUNS, clients(server, own, folder, stack))
            cold = measured[kind, "a cold plan"]
            for (_, name), found in measured.items():
                rows.append([kind, name, table.seconds(found.wall), table.seconds(found.cpu), f"{found.times(cold, 'cpu'):.3f}", table.memory(found.memory)])
            found = measured[kind, "a pass in which nothing moved"]
            targets.at_most(f"{kind}: a pass in which nothing moved, processor time, times a cold plan", found.times(cold, "cpu"), SHARE)
    head = ["server", "what", "wall", "processor time", "times a cold plan", "peak memory"]
    return f"{table.number(hosts)} hosts:\n\n" + table.table(head, rows) + "\n" + targets.table()
