"""How fast `zonewright allocate` finds names for a tenth of a large fleet, and how much memory it takes.

Of N hosts nine tenths have names, and live DNS is a file with an AAAA at each. The cases differ in how many locations,
projects and numbers there are, in where the names are written, and in whether anything is left to give. The floor is
`sort` of the files that must be read: hosts.csv, names.lock and the zone. `zonewright check` reads all files,
and gives no names. The times of the others are processor time, which other work on the machine changes least. Needs a
gigabyte for files.
"""

import os
import sys
import tempfile

from . import fleet, measure, table
from .tools import fail, program, tell, write

HOSTS, RUNS = 1_000_000, 3
SINCE = "2026-01-05T09:00:00Z"
# Within the cooldown.
RELEASED = "2026-11-19T09:00:00Z"
ZONE = "bench.example"
FIRST = 100_000
BUCKET, WIDE, NARROW, PLAIN = "{location}{bucket}-{index:04}", "{location}-{index:07}", "{location}-{index:05}", "h{index:07}"
# The case whose names are all taken, and from how many hosts on they are.
FULL, FILLED = "9 locations, all names taken", 1_000_000
# What each case is about, and in what it differs from the defaults of `write_workspace`.
CASES = {
    "100 locations, names.lock and a zone": {},
    "the same without a zone": {"live": False},
    "the same named by hosts.csv alone": {"lock": False},
    "the same with fastbones": {"fastbones": True},
    "5 locations, free numbers scattered": {"locations": 5, "template": WIDE, "holes": True},
    "1 000 projects share the template": {"projects": 1000},
    "10 000 locations": {"locations": 10_000},
    "10 000 locations, none in the name": {"locations": 10_000, "template": PLAIN, "one_series": True},
    FULL: {"locations": 9, "template": NARROW, "numbers": 99_999},
}


def label(template, location, number):
    """The name that a template gives."""
    return template.format(location=f"l{location}", bucket=number // 10_000, index=number % 10_000 if template == BUCKET else number)


def domain(project, projects):
    """The domain of a project: no two have one."""
    return ZONE if projects == 1 else f"p{project}.{ZONE}"


def write_reports(path, hosts):
    """Writes the reports of all MACs, which `allocate` does not need."""
    with open(path, "w") as file:
        for index in range(hosts):
            report = f'{{"time":"2026-11-20T01:00:00Z","inv":{FIRST + index},"mac":"{0xac1f_6000_0000 + index:012x}"}}\n'
            file.write(report)


def write_settings(folder, projects, template, fastbones, live):
    """Writes zonewright.toml, the projects, and the sources that are not about names."""
    admins = ((number, domain(number, projects)) for number in range(projects))
    domains = "".join(f'[project.p{number}]\ndns_domain = "{own}"\nautomation = "allowed"\n' for number, own in admins)
    zone = f'[pool.main]\n[[pool.main.target]]\ntype = "zonefile"\ndir = "zones"\n[[zone]]\nname = "{ZONE}"\npool = "main"\n'
    sources = 'projects = "projects/*.yaml"\nhosts = "hosts.csv"\nl3_tors = "l3"\nnet_layout = "layout.xml"\nipv4_map = "map"\n'
    macs = '[[sources.mac]]\nname = "agent"\npath = "macs.jsonl"\n'
    head = f'owner = "bench"\nfree_domain = "free.invalid"\n[sources]\n{sources}{macs}'
    write(f"{folder}/zonewright.toml", head + domains + (zone if live else ""))
    scheme = "vlan_scheme: search\nvlans: {main: 604, fastbone: 761}" if fastbones else "vlan_scheme: static\nvlans: {main: 604}"
    for number in range(projects):
        text = f'id: p{number}\nshortname_template: "{template}"\n{scheme}\nautomation: true\n'
        write(f"{folder}/projects/p{number}.yaml", text)
    write(f"{folder}/l3", "s1 604 2001:db8:0:1::/64\n")
    network = "<network>2001:db8:0:2::/64</network>"
    layout = f'<net-layout><datacenter name="l0"><vlan id="1">{network}</vlan></datacenter></net-layout>\n'
    write(f"{folder}/layout.xml", layout)
    write(f"{folder}/map", "192.0.2.0/24 l0 1 2001:db8:0:2::/64\n")


def write_workspace(folder, hosts, locations=100, projects=1, template=BUCKET, lock=True, live=True, fastbones=False,
                    holes=False, one_series=False, numbers=None):
    """Writes a workspace; gives how many hosts get a name, and how many none.

    Every tenth host has no name. A host whose location has no number left has none either. With `holes` every tenth number is free
    or, one in a hundred of those, was given up yesterday.
    """
    write_settings(folder, projects, template, fastbones, live)
    os.makedirs(f"{folder}/zones")
    used, wanting, refused = [0] * locations, 0, 0
    with open(f"{folder}/hosts.csv", "w") as csv, open(f"{folder}/names.lock", "w") as rows, \
            open(f"{folder}/zones/{ZONE}.zone", "w") as zone:
        csv.write("inv,name,project,status,location,queue,rack,switch,port,restrictions\n")
        zone.write(f"$ORIGIN {ZONE}.\n$TTL 600\n@ SOA ns1 hostmaster 1 3600 600 86400 60\n@ NS ns1\nns1 AAAA ::1\n")
        for index in range(hosts):
            inv, location, project = FIRST + index, index // 10 % locations, f"p{index % projects}"
            own = domain(index % projects, projects)
            below = f".{own}".removesuffix(f".{ZONE}")
            series = 0 if one_series else location
            name = ""
            if index % 10 != 9 and (numbers is None or used[series] < numbers):
                used[series] += 1
                number = used[series]
                if holes:
                    number += (number - 1) // 9
                    if number % 1000 == 1 and number > 1:
                        gone = label(template, location, number - 1)
                        rows.write(f"{inv}\t{gone}.{own}\t{project}\t{SINCE}\t{RELEASED}\n")
                name = label(template, location, number)
                address = f"2001:db8:{index >> 16:x}::{index & 0xffff:x}"
                zone.write(f"{name}{below} AAAA {address}\n" + (f"fb-{name}{below} AAAA {address}\n" if fastbones else ""))
                if lock:
                    rows.write(f"{inv}\t{name}.{own}\t{project}\t{SINCE}\t-\n")
            else:
                wanting, refused = wanting + 1, refused + (numbers is not None)
            csv.write(f"{inv},{name and name + '.' + own},{project},assigned,l{location},q,r,s1,{index % 48},\n")
    if not lock:
        os.remove(f"{folder}/names.lock")
    if not live:
        os.remove(f"{folder}/zones/{ZONE}.zone")
    return wanting - refused, refused


def given(output):
    """How many rows the shown difference adds."""
    with open(output, errors="replace") as file:
        return sum(line.startswith("+") for line in file) - 1


def measure_case(case, folder, hosts, runs, reports):
    """Measures one case; gives the medians of each command, and what `allocate` logged last."""
    workspace, output = f"{folder}/workspace", f"{folder}/output"
    wanting, refused = write_workspace(workspace, hosts, **CASES[case])
    os.link(reports, f"{workspace}/macs.jsonl")
    files = [f"{workspace}/{name}" for name in ("hosts.csv", "names.lock", f"zones/{ZONE}.zone")]
    plain = {**os.environ, "LC_ALL": "C"}
    said = [""]

    def allocate(_counts):
        figures, said[0] = measure.run(fleet.zonewright(workspace, "-vv", "allocate"), output, 1 if refused else 0)
        if wanting and given(output) != wanting:
            fail(f"{case}: {given(output)} names were given, not {wanting}")
        return figures

    clients = {
        "sort": lambda _: measure.run([program("sort"), *filter(os.path.exists, files)], output, env=plain)[0],
        "check": lambda _: measure.run(fleet.zonewright(workspace, "check"), output)[0],
        "allocate": allocate,
    }
    return measure.in_turn(runs, clients), said[0]


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--case", default="", help="only the cases with this in their name")
    parser.add_argument("--stages", action="store_true", help="print the log, too, of how long each stage took")


def run(args):
    """Measures; gives the table."""
    hosts, rows = args.hosts or HOSTS, []
    with tempfile.TemporaryDirectory() as parent:
        write_reports(f"{parent}/macs.jsonl", hosts)
        for case in CASES:
            if args.case not in case or (case == FULL and hosts < FILLED):
                continue
            tell(f"names: {case}")
            with tempfile.TemporaryDirectory(dir=parent) as folder:
                figures, said = measure_case(case, folder, hosts, args.runs or RUNS, f"{parent}/macs.jsonl")
            if args.stages:
                sys.stderr.write(said)
            found, sort, check = (figures[name] for name in ("allocate", "sort", "check"))
            ratios = [f"{found.times(other, 'cpu'):.2f} times {table.seconds(other.cpu)}" for other in (sort, check)]
            rows.append([case, table.seconds(found.wall), table.seconds(found.cpu), table.memory(found.memory), *ratios])
    return table.table(["case", "wall", "processor time", "peak memory", "compared with `sort`", "compared with `check`"], rows)
