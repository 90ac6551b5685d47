#!/usr/bin/env python3
"""Writes random small fleets, dense in trouble, for differential tests of zonewright.

    fleets.py SEED OUTDIR [--without NAME,NAME]    one workspace, and OUTDIR/args with the arguments for a plan
    fleets.py SEED OUTDIR --hosts N --registry txt one that servers can load and updates may change: that many hosts,
                                                   whole files, every zone with permission full, a plan of all hosts
    fleets.py --list                               the mischiefs: stage, share of fleets, name

The same SEED gives the same workspace. A fleet starts healthy (`fleet_build`), the mischiefs (`fleet_inventory`,
`fleet_rows`, `fleet_macs`, `fleet_live`, `fleet_files`) damage it, and OUTDIR/mischiefs lists those that were done.
"""

import argparse
import random
from pathlib import Path

import fleet_files
import fleet_inventory
import fleet_live
import fleet_macs
import fleet_mischief
import fleet_rows
from fleet_build import build_fleet, publish_fleet
from fleet_render import render

# Each of these modules enters its mischiefs into the table when it is imported.
TABLES = (fleet_inventory, fleet_rows, fleet_macs, fleet_live, fleet_files)
NOW = "2026-11-20T02:00:00Z"
# An RRset that BIND has no room for.
NOT_FOR_SERVERS = ("crowded_rrset",)


def generate(seed, without=(), hosts=None, registry=None):
    """The files of a fleet (path -> text), the arguments of its plan, and the mischiefs done."""
    w = build_fleet(random.Random(f"{seed}/build"), hosts, registry)
    w.tidy |= bool(hosts)
    without = [*without, *(NOT_FOR_SERVERS if hosts else ())]
    done = fleet_mischief.run_stage(w, "inventory", seed, without)
    publish_fleet(w, random.Random(f"{seed}/publish"))
    done += fleet_mischief.run_stage(w, "live", seed, without)
    done += fleet_mischief.run_stage(w, "moves", seed, without)
    for zone in w.zones if hosts else ():
        # Below a DNAME nothing may stand, and some servers do not load a zone where something does.
        zone.rrsets = {key: rrset for key, rrset in zone.rrsets.items() if key[1] != "DNAME"}
    w.files = render(w, random.Random(f"{seed}/render"))
    if hosts:
        return w.files, ["--now", NOW], done
    done += fleet_mischief.run_stage(w, "files", seed, without)
    return w.files, arguments(w, random.Random(f"{seed}/arguments")), done


def arguments(w, r):
    """The command line of a plan: mostly the whole fleet, sometimes some hosts or one project."""
    args = ["--now", NOW]
    kind = r.random()
    if kind < 0.1:
        rows = [row.inv for row in w.lock if not isinstance(row, str) and row.released and w.host(row.inv)]
        for _ in range(r.randint(1, 6)):
            args += ["--host", str(r.choice(rows) if rows and r.random() < 0.3 else r.choice(w.hosts).inv)]
    elif kind < 0.13:
        args += ["--project", r.choice(list(w.projects))]
    return args


def write(outdir, files, args, done):
    for path, text in {**files, "args": "\n".join(args) + "\n", "mischiefs": "\n".join(done) + "\n"}.items():
        file = Path(outdir, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())


def main():
    parser = argparse.ArgumentParser(description="Write a random fleet for differential tests.")
    parser.add_argument("seed", nargs="?", type=int)
    parser.add_argument("outdir", nargs="?")
    parser.add_argument("--list", action="store_true", help="print the mischiefs and stop")
    parser.add_argument("--without", default="", help="mischiefs to leave out, separated by commas")
    parser.add_argument("--hosts", type=int, help="how many hosts, in zones that servers can load")
    parser.add_argument("--registry", choices=["txt", "journal", "noop"], help="how own RRsets are known")
    options = parser.parse_args()
    if options.list:
        for entry in fleet_mischief.TABLE:
            share = f"{entry.rate:.0%}" + (" of untidy" if entry.untidy else "")
            print(f"{entry.stage:9} {share:14} {entry.name}")
        return
    if options.outdir is None:
        parser.error("SEED and OUTDIR are needed")
    unknown = set(filter(None, options.without.split(","))) - {entry.name for entry in fleet_mischief.TABLE}
    if unknown:
        parser.error(f"no such mischief: {', '.join(sorted(unknown))}")
    write(options.outdir, *generate(options.seed, options.without.split(","), options.hosts, options.registry))


if __name__ == "__main__":
    main()
