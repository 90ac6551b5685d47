"""Fleets that examples/fleet makes, where their live DNS is read from, and whether a plan of them is right."""

import glob
import json
import os
import shutil

from . import measure
from .tools import NOW, built, fail, read, write, write_keys

DRIFT = 0.005
# The lines of a fleet's zonewright.toml about files, which a server's lines replace.
TARGET = "[[pool.main.target]]\n"
FILES = 'type = "zonefile"\ndir = "zones"\n'


class Fleet:
    """A workspace of so many hosts, with four live records each, of which a share of the hosts has drifted."""

    def __init__(self, folder, hosts, reverse_zones=50, drift=DRIFT):
        self.folder, self.hosts = folder, hosts
        shape = ["--reverse-zones", str(reverse_zones), "--ipv4", "0", "--seed", "1", "--drift", str(drift)]
        measure.run([built("examples/fleet"), "--hosts", str(hosts), *shape, folder])
        write_keys(folder)
        paths = sorted(glob.glob(f"{folder}/zones/*.zone"))
        # The zone of names, which is by far the largest, comes first.
        paths.sort(key=lambda path: path.endswith(".arpa.zone"))
        self.zones = {os.path.basename(path).removesuffix(".zone"): path for path in paths}
        self.drifted = round(drift * hosts)

    def records(self):
        """How many records live DNS has."""
        count = 0
        for path in self.zones.values():
            with open(path, "rb") as file:
                count += sum(line[:1] not in b"$;\n" for line in file)
        return count

    def at(self, server, folder, more=""):
        """The same fleet in another folder, with live DNS on a server; gives the folder. `more` are lines for the target."""
        return self.with_targets([server.target(folder, more)], folder)

    def with_targets(self, targets, folder):
        """The same fleet in another folder, with these targets in its pool, each the lines of its settings; gives the folder."""
        shutil.copytree(self.folder, folder, copy_function=os.link, ignore=shutil.ignore_patterns("zones", "zonewright.toml"))
        settings = read(f"{self.folder}/zonewright.toml")
        if TARGET + FILES not in settings:
            fail("examples/fleet writes other settings than ci/benchmark/fleet.py knows")
        write(f"{folder}/zonewright.toml", settings.replace(TARGET + FILES, pool_of(targets)))
        return folder


def pool_of(targets):
    """The lines of a pool that has these targets; where there are several, each has a name."""
    named = (f'{TARGET}name = "t{number}"\n{lines}' for number, lines in enumerate(targets))
    return "".join(named) if len(targets) > 1 else TARGET + targets[0]


def zonewright(folder, *command):
    """The command that runs zonewright in a workspace."""
    return [built("zonewright"), "-C", folder, "--now", NOW, "--color", "never", *command]


def plan(folder, document, *options, env=None):
    """Plans, with the plan as JSON in a file; gives its figures."""
    if os.path.exists(document):
        os.remove(document)
    return measure.run(zonewright(folder, "plan", "--format", "json", "--out", document, *options), env=env)[0]


def changed_hosts(document):
    """The hosts that a plan changes, and the plan."""
    with open(document) as file:
        found = json.load(file)
    return {change["subject"] for change in found["changes"]}, found


def check_plan(document, hosts, zones=None):
    """Whether a plan changes so many hosts, blocks and skips none, and has seen all zones, if that is asked."""
    changed, found = changed_hosts(document)
    changed = len(changed)
    stopped = len(found["blocked"]) + len(found["skipped"])
    seen = len(found["zones"])
    if (changed, stopped, seen) != (hosts, 0, zones or seen):
        fail(f"the plan changes {changed} hosts, not {hosts}, stops at {stopped}, and saw {seen} of {zones} zones")
    return found
