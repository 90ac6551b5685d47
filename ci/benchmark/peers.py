"""What a plan costs: zonewright compared with octoDNS, nsdiff and a shell pipeline, on one fleet in one BIND.

A fleet of N hosts with four records each, of which live DNS has 0.5 % of the hosts wrong, is served from BIND, and each client
finds the difference in turn, by a transfer that is signed with hmac-sha256:

zonewright   derives the records from inventory, and plans. The others get finished records: what its apply makes of a copy;
octoDNS      from YAML, one file a zone, which is its usual source;
nsdiff       from master files, zone by zone (https://github.com/fanf2/nsdiff);
the shell    from sorted text: dig, awk, sort and comm, which give no plan, but are the floor for any.

octoDNS and nsdiff are left out if they are not installed; --install gets octoDNS from PyPI. Every client must find the same
RRsets to change. Peak memory is that of a client's largest process.
"""

import os
import re
import subprocess
import sys
import tempfile

from . import cache, fleet, measure, table
from .servers import Server
from .tools import KEY, NOW, ROOT, SECRET, built, fail, program, read, tell, write, write_keys

HOSTS, RUNS = [10_000, 100_000], 3
PACKAGES = ["octodns==1.22.0", "octodns-bind==1.1.0"]
VENV = f"{ROOT}/target/peers"
# From so many hosts on octoDNS, which takes minutes, runs once.
ONCE = 50_000
# What the rules manage; the others of a zone (SOA, NS) are the same on both sides.
TYPES = ("AAAA", "PTR")


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--octodns", default=f"{VENV}/bin/octodns-sync", help="octodns-sync, with octodns-bind installed next to it")
    parser.add_argument("--nsdiff", default=f"{VENV}/nsdiff", help="the script of nsdiff")
    parser.add_argument("--install", action="store_true", help="install octoDNS into target/peers")


def install():
    """Installs octoDNS from PyPI."""
    measure.run([sys.executable, "-m", "venv", VENV])
    measure.run([f"{VENV}/bin/pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])


def records(folder, zone):
    """The records of a zone as it should be, as named-compilezone prints them: name, TTL, class, type, RDATA."""
    command = [program("named-compilezone"), "-i", "none", "-k", "ignore", "-o", "-", zone, f"{folder}/desired/zones/{zone}.zone"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split(None, 4) for line in text.splitlines() if not line.startswith(";")]


def write_octodns(folder, zones, server):
    """Writes the zones as octoDNS reads them: YAML, sorted by name in its order for people."""
    os.mkdir(f"{folder}/yaml")
    natural = lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
    for zone in zones:
        owners = {}
        for name, ttl, _, kind, value in records(folder, zone):
            if kind in TYPES:
                owner = name.removesuffix(f".{zone}.")
                owners.setdefault(owner, {}).setdefault(kind, (ttl, []))[1].append(value)
        with open(f"{folder}/yaml/{zone}.yaml", "w") as file:
            file.write("---\n")
            for owner in sorted(owners, key=natural):
                file.write(f'"{owner}":\n')
                for kind, (ttl, values) in owners[owner].items():
                    file.write(f"  - type: {kind}\n    ttl: {ttl}\n    values: [{', '.join(f'{chr(34)}{v}{chr(34)}' for v in values)}]\n")
    write(
        f"{folder}/octodns.yaml",
        f"""providers:
  config:
    class: octodns.provider.yaml.YamlProvider
    directory: {folder}/yaml
    enforce_order: false
  bind:
    class: octodns_bind.Rfc2136Provider
    host: 127.0.0.1
    port: {server.port}
    key_name: {KEY}
    key_secret: {SECRET}
    key_algorithm: hmac-sha256
    timeout: 300
zones:
"""
        + "".join(f"  {zone}.:\n    sources: [config]\n    targets: [bind]\n" for zone in zones),
    )


def clients(folder, zones, server, workspace, options):
    """What is measured: name, and the command, which leaves what it found in the file `found`."""
    yield "zonewright", (
        f"{built('zonewright')} -C {workspace} --now {NOW} plan --format json > {folder}/found"
    )
    types = "|".join(TYPES)
    pick = f"'$4 ~ /^({types})$/ {{ $1 = $1; print }}'"
    lines = []
    for zone in zones:
        write(f"{folder}/{zone}.text", "".join(" ".join(record) + "\n" for record in records(folder, zone) if record[3] in TYPES))
        with open(f"{folder}/{zone}.sorted", "w") as file:
            subprocess.run(["sort", f"{folder}/{zone}.text"], check=True, stdout=file, env={"LC_ALL": "C"})
        lines.append(
            f"dig -k {folder}/key -p {server.port} @127.0.0.1 {zone} AXFR +noall +answer | awk {pick} | LC_ALL=C sort"
            f" | LC_ALL=C comm -3 - {folder}/{zone}.sorted"
        )
    write(f"{folder}/shell.sh", "set -e\n" + "\n".join(lines) + "\n")
    yield "`dig`, `awk`, `sort`, `comm`", f"sh {folder}/shell.sh > {folder}/found"
    if os.path.exists(options.nsdiff):
        lines = [
            f"perl {options.nsdiff} -v '' -S serial -k {folder}/key -s 127.0.0.1#{server.port} {zone} {folder}/desired/zones/{zone}.zone 2> /dev/null || test $? = 1"
            for zone in zones
        ]
        write(f"{folder}/nsdiff.sh", "set -e\n" + "\n".join(lines) + "\n")
        yield "nsdiff", f"sh {folder}/nsdiff.sh > {folder}/found"
    if os.path.exists(options.octodns):
        write_octodns(folder, zones, server)
        yield "octoDNS", f"{options.octodns} --config-file {folder}/octodns.yaml > {folder}/found 2>&1"


def found(client, folder):
    """How many RRsets a client would change, as far as its output shows."""
    text = read(f"{folder}/found")
    if client == "zonewright":
        return text.count('"zone": "', 0, text.index('"blocked"')) if '"blocked"' in text else 0
    if client == "octoDNS":
        summaries = [line for line in text.splitlines() if line.startswith("*   Summary: ")]
        return sum(int(number) for line in summaries for number in re.findall(r"(?:Creates|Updates|Deletes)=(\d+)", line))
    fields = [line.split() for line in text.splitlines()]
    if client == "nsdiff":
        return len({(line[2], line[-2]) for line in fields if line[:1] == ["update"] and line[-2] in TYPES})
    return len({(line[0], line[3]) for line in fields})


def measure_hosts(hosts, args):
    """Measures with one fleet; gives the medians of each client, the zones, and how many RRsets are to change."""
    with tempfile.TemporaryDirectory() as folder:
        own = fleet.Fleet(f"{folder}/fleet", hosts, reverse_zones=16)
        fleet.Fleet(f"{folder}/desired", hosts, reverse_zones=16)
        measure.run([built("zonewright"), "-q", "-C", f"{folder}/desired", "--now", NOW, "apply", "--yes"])
        write_keys(folder)
        with Server("BIND", f"{folder}/server", own.zones) as server:
            workspace = own.at(server, f"{folder}/workspace")
            counts, figures = {}, {}
            commands = dict(clients(folder, list(own.zones), server, workspace, args))

            def client(name, command):
                def find(_counts):
                    if name == "octoDNS" and hosts >= ONCE and name in figures:
                        return figures[name]
                    cache.forget(workspace)
                    write(f"{folder}/command.sh", command + "\n")
                    figures[name], _ = measure.run([program("bash"), f"{folder}/command.sh"])
                    counts[name] = found(name, folder)
                    return figures[name]

                return find

            measured = measure.in_turn(args.runs or RUNS, {name: client(name, command) for name, command in commands.items()}, warm=False)
    if len(set(counts.values())) != 1:
        fail(f"they do not find the same: {counts}")
    return measured, len(own.zones), counts["zonewright"]


def run(args):
    """Measures; gives the table."""
    if args.install:
        install()
    for name, path in (("octoDNS (--install)", args.octodns), ("nsdiff (--nsdiff PATH)", args.nsdiff)):
        if not os.path.exists(path):
            tell(f"peers: without {name}")
    rows, what = [], []
    for hosts in [args.hosts] if args.hosts else HOSTS:
        tell(f"peers: {hosts} hosts")
        measured, zones, changes = measure_hosts(hosts, args)
        what.append(f"{table.number(hosts)} hosts, {table.number(4 * hosts)} records in {zones} zones, {changes} RRsets to change")
        ours = measured["zonewright"]
        for client, each in measured.items():
            shown = [table.seconds(each.wall), table.seconds(each.cpu), table.memory(each.memory)]
            rows.append([client, table.number(hosts), *shown, table.ratio(each.times(ours)), table.ratio(each.times(ours, "cpu"))])
    head = ["client", "hosts", "wall", "processor time", "peak memory", "wall, times zonewright", "processor time, times zonewright"]
    return "; ".join(what) + ":\n\n" + table.table(head, rows)
