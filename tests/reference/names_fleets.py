#!/usr/bin/env python3
"""Writes random small fleets in which many hosts wait for a name, and most low numbers are taken in one way or another.

    names_fleets.py SEED OUTDIR

The fleet is one of `fleets.py`, with other templates, names, former names and records at names.
"""

import random
import sys
from datetime import timedelta

import fleet_mischief
import fleets
import names
from fleet_build import build_fleet, publish_fleet
from fleet_model import NOW, LockRow
from fleet_render import render

TEMPLATES = ["{location}{bucket}-{index:01}", "{location}-{index:01}", "x{index:01}", "n{index}", "fb-{location}{index:02}",
 "{location}{index:02}", "{location}{bucket}-{index:04}"]
FASTBONES = ["fb-{shortname}", "fb-{shortname}", "{shortname}f", "f{shortname}"]
# A fleet that is refused as a whole shows little; some are, by the mischiefs that stay.
LEFT_OUT = ["cut_source", "empty_source", "stale_source", "broken_zone", "fatal_configuration", "missing_source"]


def generate(seed):
    """The files of a fleet: path -> text."""
    w = build_fleet(random.Random(f"{seed}/build"))
    fleet_mischief.run_stage(w, "inventory", seed, LEFT_OUT)
    publish_fleet(w, random.Random(f"{seed}/publish"))
    fleet_mischief.run_stage(w, "live", seed, LEFT_OUT)
    fleet_mischief.run_stage(w, "moves", seed, LEFT_OUT)
    r = random.Random(f"{seed}/names")
    templates = {project: r.choice(TEMPLATES) for project in w.projects}
    for project in w.projects.values():
        project.fastbone_name = r.choice(FASTBONES)
    for host in w.hosts:
        shake(w, r, host, templates)
    for _ in range(r.randint(0, 12)):
        former_name(w, r, templates)
    for _ in range(r.randint(0, 12)):
        record_at_a_name(w, r, templates)
    w.files = render(w, random.Random(f"{seed}/render"))
    for project, template in templates.items():
        path = f"projects/{project}.yaml"
        kept = [line for line in w.files[path].splitlines() if not line.startswith("shortname_template")]
        w.files[path] = "\n".join([*kept, f'shortname_template: "{template}"']) + "\n"
    fleet_mischief.run_stage(w, "files", seed, LEFT_OUT)
    return w.files


def low_name(w, r, templates):
    """A name with a low number of some project, or the fastbone name beside one; with the project."""
    project = r.choice(list(w.projects.values()))
    template = templates[project.id]
    name = None
    while name is None:
        name = names.expand(template, r.choice(w.locations), r.randint(1, 12))
    name = f"{name}.{r.choice(project.domains)}"
    fastbone = w.fastbone_of(name, project)
    return (fastbone if fastbone and r.random() < 0.2 else name), project


def shake(w, r, host, templates):
    """A host loses its name, or gets one that is in the way of others; or its location is written in upper case."""
    if r.random() < 0.1:
        host.raw = {"location": host.location.upper(), **host.raw}
    if r.random() < 0.6:
        host.csv_name = "" if r.random() < 0.8 else host.csv_name
        w.lock = [row for row in w.lock if isinstance(row, str) or row.inv != host.inv or row.released]
        if host.csv_name or r.random() < 0.1:
            name, project = low_name(w, r, templates)
            w.row(host.inv, name, project.id, r, release_time(w, r))
    elif r.random() < 0.4:
        host.csv_name, _ = low_name(w, r, templates)


def former_name(w, r, templates):
    name, project = low_name(w, r, templates)
    rows = [row for row in w.lock if isinstance(row, LockRow)]
    inv = r.choice(rows).inv if rows and r.random() < 0.4 else w.new_inv(r)
    w.row(inv, name, project.id, r, r.choice([None, release_time(w, r), release_time(w, r), release_time(w, r)]))


def release_time(w, r):
    """Within the cooldown, exactly as long ago, a second longer, or long ago."""
    cooldown = timedelta(days=w.cooldown_days())
    second = timedelta(seconds=1)
    return NOW - r.choice([cooldown, cooldown - second, cooldown + second, cooldown * 3, cooldown / 2, -second])


def record_at_a_name(w, r, templates):
    name, _ = low_name(w, r, templates)
    rtype, rdata = r.choice([("AAAA", "2001:db8::1"), ("TXT", "note"), ("MX", "10 mail.example.net."),
                             ("CNAME", "www.example.net."), ("NS", "ns.example.com."), ("A", "192.0.2.1")])
    zone = w.zone_of(name)
    if zone and rtype == "CNAME":
        w.drop(name)
    if r.random() < 0.1:
        name = "below." + name  # takes nothing
    w.put(name, rtype, rdata)


def main():
    fleets.write(sys.argv[2], generate(int(sys.argv[1])), [], [])


if __name__ == "__main__":
    main()
