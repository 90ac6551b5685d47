"""What pods cost a plan, compared with as many hosts, from 10 000 to 1 500 000.

The pods are in sets of about 38, each with one endpoint, and live DNS comes from zone files: four records a pod, as hosts
have. Half a percent of the pods has moved, and as many hosts have drifted. The exponent is the slope of the line of least
squares through the logarithms.
"""

import tempfile

from . import fleet, measure, table
from .sizes import SIZES, exponents, growth
from .tools import built, fail, tell

RUNS = 3
# The pods of a set: 1 500 000 pods are in 40 000 sets.
OF_SET = 37.5
CPU, EXPONENT, MEMORY = 2.5, 1.1, 2200


def made(folder, pods, reverse_zones=50):
    """Makes a workspace of so many pods; gives how many of them have moved."""
    shape = ["--sets", str(max(1, round(pods / OF_SET))), "--reverse-zones", str(reverse_zones), "--seed", "1"]
    measure.run([built("examples/pods"), "--pods", str(pods), *shape, "--drift", str(fleet.DRIFT), folder])
    return round(fleet.DRIFT * pods)


def check_moves(document, moved):
    """Whether a plan changes so many pods; the SRV that follow are of other subjects. It blocks and skips none."""
    changed, found = fleet.changed_hosts(document)
    changed = {subject for subject in changed if subject.startswith("pod:")}
    if (len(changed), len(found["blocked"]) + len(found["skipped"])) != (moved, 0):
        fail(f"the plan changes {len(changed)} pods, not {moved}, and blocks {found['blocked'][:3]}")


def measure_pods(number, runs):
    """Plans so many pods, and as many hosts; gives the figures of both."""
    with tempfile.TemporaryDirectory() as folder:
        own, document = fleet.Fleet(f"{folder}/fleet", number), f"{folder}/plan.json"
        moved = made(f"{folder}/pods", number)

        def hosts(_counts):
            figures = fleet.plan(own.folder, document)
            fleet.check_plan(document, own.drifted)
            return figures

        def pods(_counts):
            figures = fleet.plan(f"{folder}/pods", document)
            check_moves(document, moved)
            return figures

        return measure.in_turn(runs, {"hosts": hosts, "pods": pods})


def run(args):
    """Measures; gives the table."""
    sizes = [size for size in SIZES if size <= (args.hosts or SIZES[-1])] or [args.hosts]
    measured, lines, targets = {}, [], table.Targets()
    for size in sizes:
        tell(f"pods: {size} pods, and as many hosts")
        measured[size] = measure_pods(size, args.runs or RUNS)
    for size, found in measured.items():
        hosts, pods = found["hosts"], found["pods"]
        shown = [table.seconds(pods.wall), table.seconds(pods.cpu), table.ratio(pods.times(hosts, "cpu"))]
        lines.append([table.number(size), table.number(round(size / OF_SET)), *shown, table.memory(pods.memory), table.ratio(pods.times(hosts, "memory"))])
        targets.at_most(f"{size} pods: processor time, times as many hosts", pods.times(hosts, "cpu"), CPU)
    rows = [found["pods"] for found in measured.values()]
    if len(sizes) > 1:
        wall, cpu, memory = exponents(sizes, rows)
        lines.append(["exponent", "", f"{wall:.2f}", f"{cpu:.2f}", "", f"{memory:.2f}", ""])
        targets.at_most("exponent of processor time", cpu, EXPONENT)
    if sizes[-1] == SIZES[-1]:
        targets.at_most("peak memory with 1 500 000 pods", rows[-1].memory / 1e6, MEMORY, " MB")
    head = ["pods", "sets", "wall", "processor time", "times as many hosts", "peak memory", "times as many hosts"]
    return table.table(head, lines) + growth(sizes, rows).replace("host", "pod") + "\n" + targets.table()
