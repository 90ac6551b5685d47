"""What an apply takes of the processor while the pace of a cloud is what it waits for: 10 000 RRsets of Route 53.

A double of Route 53 takes five requests a second, as the service does. A plan makes all RRsets of an empty zone, and `apply`
writes them. The share of a core is the processor time by the wall time of the same command.
"""

import json
import os
import subprocess
import tempfile

from . import apis, measure, table
from .tools import built, fail, read, tell, write

# A hosted zone takes 10 000 sets: these, its SOA and NS, and the marker.
NAMES, ZONE = 9_990, "bench.example"
# The share of a core, in percent.
SHARE = 5


class Route53:
    """A double of Route 53, for as long as the `with` block runs."""

    def __enter__(self):
        self.process = subprocess.Popen([built("examples/route53"), ZONE], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            fail("the double of Route 53 does not start")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)


def write_keys(folder):
    """Writes the keys that the double knows."""
    os.makedirs(f"{folder}/keys")
    keys = {"Version": 1, "AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "secret/of+example"}
    write(f"{folder}/keys/aws.json", json.dumps(keys))
    os.chmod(f"{folder}/keys/aws.json", 0o600)


def run(args):
    """Measures; gives the tables."""
    names, runs = args.hosts or NAMES, args.runs or 1
    tell(f"clouds: {names} RRsets")
    with tempfile.TemporaryDirectory() as folder:
        def plan(double):
            subprocess.run(["rm", "-rf", folder + "/w"], check=True)
            target = f'type = "route53"\nendpoint = "{double.url}"\ncredentials = {{ secret_file = "keys/aws.json" }}'
            os.makedirs(f"{folder}/w")
            apis.write_workspace(f"{folder}/w", target, names)
            write_keys(f"{folder}/w")
            return measure.run(apis.zonewright(f"{folder}/w", "plan", "--out", f"{folder}/plan"))[0]

        def apply(_):
            figures, _ = measure.run(apis.zonewright(f"{folder}/w", "apply", f"{folder}/plan"), f"{folder}/applied")
            if f"{names}" not in read(f"{folder}/applied"):
                fail(f"not all was applied: {read(f'{folder}/applied')[:500]}")
            return figures

        rows, targets, rounds = [], table.Targets(), {"`plan`": [], "`apply`": []}
        for _ in range(runs):
            with Route53() as double:
                for name, step in (("`plan`", plan), ("`apply`", apply)):
                    rounds[name].append(step(double))
        for name, measured in rounds.items():
            found = measure.Rounds(measured)
            share = 100 * found.cpu / found.wall
            rows.append([name, table.seconds(found.wall), table.seconds(found.cpu), f"{share:.1f} %", table.memory(found.memory)])
        found = measure.Rounds(rounds["`apply`"])
        targets.at_most("Route 53, write: percent of a core", 100 * found.cpu / found.wall, SHARE)
    head = [f"{table.number(names)} RRsets of Route 53", "wall", "processor time", "of a core", "peak memory"]
    return f"{table.table(head, rows)}\n{targets.table()}"
