"""A pass of `run` in which nothing moved, and one in which little did, compared with a plan from nothing.

The fleet has no drift, so that the first pass changes nothing either. `run` makes passes without a pause; once it
uses its plan again, its processor time is counted over many of them. Another `run`, which only plans, makes a pass each three
seconds: before each a row of hosts.csv is changed, and nsupdate changes a record. A third one does the same and applies: it fixes
the record that nsupdate makes wrong. A cold plan, with nothing kept, runs in turn with all of them.
"""

import csv
import io
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request

from . import cache, fleet, measure, table, warm
from .servers import KINDS, Server
from .tools import built, fail, read, tell, write, write_keys

HOSTS, RUNS, SECONDS = 250_000, 5, 5
# Of the processor time of a cold plan: where nothing moved, and where a row and a record did.
SHARE, SHARE_MOVED = 0.05, 0.15
COLD, UNMOVED = "a cold plan", "a pass in which nothing moved"
MOVING, APPLYING = "a pass in which a row and a record moved", "the same, and the record is fixed"
# How many passes with changes are counted together.
MOVED = 4
# A file counts as written for good after two seconds: a plan from before that is not used again.
SETTLE = 4
# The fleet is dated, and `run` uses the clock.
AGE = 'max_age = "12h"\n'
DATED = re.compile(r'^(l3_tors|net_layout|ipv4_map) *= (".*")$', re.MULTILINE)


class Passes:
    """A process that makes passes."""

    def __init__(self, workspace, said, interval, *options):
        self.said = open(said, "w+b")
        command = [built("zonewright"), "-C", workspace, "--color", "never", "run", "--interval", interval, "--listen", "127.0.0.1:0", *options]
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
        """A number that `run` gives of itself; the sum of several."""
        with urllib.request.urlopen(f"{self.page}metrics", timeout=60) as answer:
            found = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", answer.read().decode(), re.MULTILINE)
        return sum(float(number) for number in found)

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

    def await_passes(self, count):
        """Waits until there were so many."""
        for _ in range(600):
            if self.metric("zonewright_passes") >= count:
                return
            time.sleep(0.5)
        fail(f"there is no pass {count}: {read(self.said.name)[-2000:]}")

    def measure_moved(self, change):
        """What a pass takes before which something changes; `change` gives how many hosts are wrong then."""
        self.await_passes(self.metric("zonewright_passes") + 1)
        passes, cpu, began, wrong = self.metric("zonewright_passes"), self.cpu(), time.monotonic(), 0
        for number in range(MOVED):
            wrong = change()
            self.await_passes(passes + number + 1)
        count, cpu, wall = self.metric("zonewright_passes") - passes, self.cpu() - cpu, time.monotonic() - began
        pending = self.metric("zonewright_pending_changes")
        if count != MOVED or self.metric("zonewright_failed_passes") or pending != wrong:
            fail(f"{count} passes for {MOVED} changes, {pending} pending of {wrong}: {read(self.said.name)[-2000:]}")
        return measure.Figures(wall / count, cpu / count, self.memory())

    def end(self):
        """Ends it."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60) != 0:
            fail(f"`run` ended with {self.process.returncode}: {read(self.said.name)[-2000:]}")
        self.said.close()


class Row:
    """A row of hosts.csv that says something else each time."""

    def __init__(self, workspace):
        self.path = f"{workspace}/racktables/hosts.csv"
        self.lines = read(self.path).splitlines(keepends=True)
        # Behind the host whose record changes.
        self.place = len(self.lines) // 2

    def change(self):
        """Gives the host another rack."""
        [row] = csv.reader([self.lines[self.place]])
        row[6] = "A1" if row[6] != "A1" else "A2"
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        self.lines[self.place] = line.getvalue()
        write(f"{self.path}.new", "".join(self.lines))
        os.rename(f"{self.path}.new", self.path)


def ageless(own, server, folder):
    """The fleet in a folder, where no export is too old; gives the folder."""
    workspace = own.at(server, folder, cache.SETTING)
    settings = read(f"{workspace}/zonewright.toml")
    changed, dated = DATED.subn(r'\1 = { path = \2, max_age = "none" }', settings)
    if AGE not in changed or dated != 3:
        fail("examples/fleet writes other settings than ci/benchmark/passes.py knows")
    write(f"{workspace}/zonewright.toml", changed.replace(AGE, ""))
    return workspace


def clients(server, own, folder):
    """What is measured on a server."""
    document = f"{folder}/plan.json"
    moving_workspace = ageless(own, server, f"{folder}/{server.kind}-moving")
    applying_workspace = ageless(own, server, f"{folder}/{server.kind}-applying")
    changes = warm.Changes(server, folder, own, 1)

    workspace = ageless(own, server, f"{folder}/{server.kind}-workspace")
    cold_workspace = own.at(server, f"{folder}/{server.kind}-cold", cache.SETTING)

    def cold(_counts):
        cache.forget(cold_workspace)
        figures = fleet.plan(cold_workspace, document)
        fleet.check_plan(document, 0, len(server.zones))
        return figures

    def unmoved(_counts):
        passes = Passes(workspace, f"{folder}/unmoved", "0s")
        passes.await_passes(1)
        time.sleep(SETTLE)
        found = passes.measure()
        passes.end()
        return found

    def moving(workspace, applies):
        row, options = Row(workspace), [] if applies else ["--dry-run"]

        def change():
            row.change()
            changes.wrong = changes.wrong and not applies
            return changes.make()

        def moved(_counts):
            passes = Passes(workspace, f"{folder}/moved", "3s", *options)
            passes.await_passes(1)
            found = passes.measure_moved(change)
            passes.end()
            # It is right again: by the last pass, or by the last change.
            changes.wrong = False
            return found

        return moved

    clients = {COLD: cold, UNMOVED: unmoved, MOVING: moving(moving_workspace, False), APPLYING: moving(applying_workspace, True)}
    return {(server.kind, name): client for name, client in clients.items()}


def run(args):
    """Measures; gives the tables."""
    hosts = args.hosts or HOSTS
    with tempfile.TemporaryDirectory() as folder:
        tell(f"passes: a fleet of {hosts} hosts")
        own = fleet.Fleet(f"{folder}/fleet", hosts, drift=0)
        write_keys(folder)
        rows, targets = [], table.Targets()
        for kind in KINDS:
            with Server(kind, f"{folder}/{kind}", own.zones, updates=True) as server:
                measured = measure.in_turn(args.runs or RUNS, clients(server, own, folder))
            cold = measured[kind, COLD]
            for (_, name), found in measured.items():
                rows.append([kind, name, table.seconds(found.wall), table.seconds(found.cpu), f"{found.times(cold, 'cpu'):.3f}", table.memory(found.memory)])
            for name, share in [(UNMOVED, SHARE), (MOVING, SHARE_MOVED)]:
                targets.at_most(f"{kind}: {name}, processor time, times a cold plan", measured[kind, name].times(cold, "cpu"), share)
    head = ["server", "what", "wall", "processor time", "times a cold plan", "peak memory"]
    return f"{table.number(hosts)} hosts:\n\n" + table.table(head, rows) + "\n" + targets.table()
