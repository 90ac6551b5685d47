"""What manifests cost a plan: a fleet with many endpoints of DNSEndpoint manifests, compared with the fleet alone.

The endpoints are A of names below a domain of their own. They are live and right; or they are new, so that the plan creates
all of them. Live and right they are planned without a state, and with that of the apply
that made them just before; the fleet alone has none, so that this has no limit.
"""

import glob
import os
import shutil
import tempfile

from . import fleet, measure, table
from .tools import read, tell, write

HOSTS, RUNS = 250_000, 5
ENDPOINTS, FILES = 100_000, 2_000
# Of the processor time of the fleet alone.
CPU = 1.5
DOMAIN, ZONE = "apps.search.example.net", "search.example.net"
SETTINGS = f"""
[[sources.records]]
name = "apps"
format = "dnsendpoint"
path = "manifests/*.yaml"
project = "apps"

[project.apps]
dns_domain = "{DOMAIN}"
automation = "allowed"
"""
PROJECT = 'id: apps\nvlan_scheme: none\nttl: 600\nautomation: true\npolicy: repair\n'
HEAD = """apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata:
  name: apps-{number}
  namespace: prod
spec:
  endpoints:
"""
ENDPOINT = """  - dnsName: {name}.{domain}
    recordType: A
    recordTTL: 600
    targets:
    - {address}
"""


def endpoints(number):
    """The names and addresses of so many endpoints."""
    return [(f"svc-{place}", f"192.0.{place // 250 % 250}.{place % 250 + 1}") for place in range(number)]


def with_manifests(own, folder, number, live):
    """The fleet in another folder, with manifests of so many endpoints; gives the folder."""
    shutil.copytree(own.folder, folder, copy_function=os.link, ignore=shutil.ignore_patterns("zonewright.toml", f"{ZONE}.zone"))
    write(f"{folder}/zonewright.toml", read(f"{own.folder}/zonewright.toml") + SETTINGS)
    projects = os.path.dirname(glob.glob(f"{folder}/**/search.yaml", recursive=True)[0])
    write(f"{projects}/apps.yaml", PROJECT)
    names = endpoints(number)
    each = max(1, -(-number // FILES))
    for place in range(0, number, each):
        file = place // each
        entries = "".join(ENDPOINT.format(name=name, address=address, domain=DOMAIN) for name, address in names[place:place + each])
        write(f"{folder}/manifests/{file}.yaml", HEAD.format(number=file) + entries)
    records = "".join(f"{name}.{DOMAIN}. 600 IN A {address}\n" for name, address in names) if live else ""
    write(f"{folder}/zones/{ZONE}.zone", read(f"{own.folder}/zones/{ZONE}.zone") + records)
    return folder


def client(workspace, document, hosts):
    """A plan of a workspace, which changes so many subjects."""

    def run(_counts):
        figures = fleet.plan(workspace, document)
        fleet.check_plan(document, hosts)
        return figures

    return run


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--endpoints", type=int, default=ENDPOINTS, help="how many endpoints the manifests have")


def run(args):
    """Measures; gives the table."""
    hosts, number = args.hosts or HOSTS, args.endpoints
    with tempfile.TemporaryDirectory() as folder:
        tell(f"manifests: a fleet of {hosts} hosts, and {number} endpoints")
        own, document = fleet.Fleet(f"{folder}/fleet", hosts), f"{folder}/plan.json"
        # An apply makes them, so that they are own, and the state notes what states them.
        noted = with_manifests(own, f"{folder}/noted", number, live=False)
        measure.run(fleet.zonewright(noted, "apply", "--project", "apps", "--yes"))
        clients = {
            "the fleet alone": client(own.folder, document, own.drifted),
            "endpoints live, no state": client(with_manifests(own, f"{folder}/live", number, live=True), document, own.drifted),
            "endpoints live, with state": client(noted, document, own.drifted),
            "endpoints new": client(with_manifests(own, f"{folder}/new", number, live=False), document, own.drifted + number),
        }
        measured = measure.in_turn(args.runs or RUNS, clients)
    alone, targets, rows = measured["the fleet alone"], table.Targets(), []
    for name, found in measured.items():
        rows.append([name, table.seconds(found.wall), table.seconds(found.cpu), table.ratio(found.times(alone, "cpu")), table.memory(found.memory)])
        if "no state" in name:
            targets.at_most(f"{name}: processor time, times the fleet alone", found.times(alone, "cpu"), CPU)
    head = ["plan of", "wall", "processor time", "times the fleet alone", "peak memory"]
    text = f"{table.number(hosts)} hosts; {table.number(number)} endpoints in {table.number(min(number, FILES))} manifests:\n\n"
    return text + table.table(head, rows) + "\n" + targets.table()
