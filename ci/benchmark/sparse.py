"""A plan of a few hosts: what it costs to ask the servers for their names, compared with a plan of the whole fleet.

A plan of one host (`--host`), and one of 100 hosts, over a target whose zones may be transferred or asked, whichever is
cheaper; they run in turn with the plan of the whole fleet.
"""

import csv
import tempfile
from contextlib import ExitStack

from . import cache, fleet, measure, table
from .servers import KINDS, Server
from .tools import tell

HOSTS, RUNS = 250_000, 5
# Lines of a target in zonewright.toml that let a plan of a few hosts ask for names.
SETTING = 'read = "auto"\n'
# How many hosts are named; those that drifted among them are changed.
NAMED = [1, 100]


def drifted_hosts(own, folder):
    """The hosts that a plan of the whole fleet changes."""
    fleet.plan(own.folder, f"{folder}/whole.json")
    found = fleet.check_plan(f"{folder}/whole.json", own.drifted, len(own.zones))
    return {int(change["subject"].split(":")[1]) for change in found["changes"]}


def clients(server, own, folder, drifted):
    """What is measured on a server."""
    zones, document = list(server.zones), f"{folder}/plan.json"
    workspace = own.at(server, f"{folder}/{server.kind}-workspace", SETTING)
    with open(f"{workspace}/racktables/hosts.csv") as file:
        hosts = [int(row["inv"]) for row in csv.DictReader(file)]

    def plan(named):
        options = [word for host in named for word in ("--host", str(host))]
        wrong = len(drifted & set(named)) if named else own.drifted

        def client(_counts):
            cache.forget(workspace)
            figures = fleet.plan(workspace, document, *options)
            fleet.check_plan(document, wrong, None if named else len(zones))
            return figures

        return client

    steps = {(server.kind, "the whole fleet"): plan([])}
    for number in NAMED:
        # Spread over the fleet, and the first one has drifted.
        some = [min(drifted), *hosts[:: max(1, len(hosts) // number)]]
        steps[server.kind, f"{number} hosts named" if number > 1 else "one host named"] = plan(list(dict.fromkeys(some))[:number])
    return steps


def run(args):
    """Measures; gives the tables."""
    hosts = args.hosts or HOSTS
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        tell(f"sparse: a fleet of {hosts} hosts")
        own = fleet.Fleet(f"{folder}/fleet", hosts)
        fleet.write_keys(folder)
        drifted = drifted_hosts(own, folder)
        servers = [stack.enter_context(Server(kind, f"{folder}/{kind}", own.zones)) for kind in KINDS]
        both = {}
        for server in servers:
            both.update(clients(server, own, folder, drifted))
        measured = measure.in_turn(args.runs or RUNS, both)
    rows = []
    for (kind, name), found in measured.items():
        whole = measured[kind, "the whole fleet"]
        figures = [table.ratio(found.times(whole)), table.seconds(found.cpu), table.ratio(found.times(whole, "cpu"))]
        rows.append([kind, name, table.seconds(found.wall), *figures, table.memory(found.memory)])
    head = ["server", "plan of", "wall", "times the whole fleet", "processor time", "times the whole fleet", "peak memory"]
    return f"{table.number(hosts)} hosts:\n\n" + table.table(head, rows)
