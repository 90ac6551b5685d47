"""Mischiefs on the text of the files: spellings that are allowed, and sources or zones that cannot be trusted."""

from fleet_build import weighted
from fleet_mischief import mischief
from fleet_model import NothingToDamage

TEXT_SOURCES = ["racktables/hosts.csv", "racktables/l3-tors.txt", "racktables/ipv4-map.txt", "names.lock"]


def some(w, r, *beginnings):
    """The path of one of the files that begin so."""
    found = [p for p in sorted(w.files) if p.startswith(beginnings)]
    if not found:
        raise NothingToDamage
    return r.choice(found)


def edit(w, path, old, new):
    if old not in w.files[path]:
        raise NothingToDamage
    w.files[path] = w.files[path].replace(old, new, 1)


# Allowed.

@mischief("files", 0.3)
def crlf(w, r):
    path = some(w, r, "racktables/", "names.lock", "agents/", "projects/", "zonewright.toml")
    w.files[path] = w.files[path].replace("\n", "\r\n")


@mischief("files", 0.25)
def bom(w, r):
    path = some(w, r, "racktables/", "names.lock", "agents/", "projects/", "zonewright.toml")
    w.files[path] = "\ufeff" + w.files[path]


@mischief("files", 0.1)
def end_line(w, r):
    path = some(w, r, *TEXT_SOURCES[1:])
    rows = [x for x in w.files[path].splitlines() if x.split("#")[0].strip("\ufeff\t ")]
    w.files[path] += f"# end {len(rows)}" + ("\r\n" if "\r\n" in w.files[path] else "\n")


@mischief("files", 0.15)
def comment_line(w, r):
    path = some(w, r, *TEXT_SOURCES)
    w.files[path] += "# a comment" + ("\r\n" if "\r\n" in w.files[path] else "\n")


@mischief("files", 0.1)
def cut_last_report(w, r):
    path = some(w, r, "agents/")
    w.files[path] = w.files[path].rstrip("\r\n")[: -r.randint(1, 30)]


# Sources that are unknown.

@mischief("files", 0.07, untidy=True)
def cut_source(w, r):
    path = some(w, r, *TEXT_SOURCES)
    w.files[path] = w.files[path].rstrip("\r\n")[: -r.choice([0, 3, 20]) or None]


@mischief("files", 0.05, untidy=True)
def empty_source(w, r):
    w.files[some(w, r, *TEXT_SOURCES[1:], "racktables/net", "agents/")] = ""


@mischief("files", 0.04, untidy=True)
def missing_source(w, r):
    del w.files[some(w, r, *TEXT_SOURCES[1:3], "racktables/net", "agents/macs", "agents/eine")]


@mischief("files", 0.06, untidy=True)
def stale_source(w, r):
    """An export that is older than its max_age, or has none of the date that max_age asks for."""
    path = "racktables/l3-tors.txt"
    edit(w, "zonewright.toml", f'l3_tors = "{path}"', f'l3_tors = {{ path = "{path}", max_age = "6h" }}')
    edit(w, path, "# generated: 2026-11-20T01:00:00Z", r.choice(["# generated: 2026-11-19T19:59:59Z",
                                                               "# generated: 2026-11-19T20:00:00Z", "# no date"]))


@mischief("files", 0.05, untidy=True)
def broken_layout(w, r):
    edit(w, "racktables/net-layout.xml", r.choice(["</net-layout>", "<vlan ", "</datacenter>"]), "")


# Projects.

@mischief("files", 0.06)
def bad_project_file(w, r):
    path = some(w, r, "projects/")
    end = "\r\n" if "\r\n" in w.files[path] else "\n"
    line = r.choice(["colour: red", 'shortname_template: "{location}-x"', "policy: repairs", "vlans: {main: 604",
                     "ttl: soon", 'hbf_project_id: "123456789"', "automation: perhaps"])
    lines = [x for x in w.files[path].splitlines() if x.split(":")[0] != line.split(":")[0]]
    w.files[path] = end.join([*lines, line]) + end


@mischief("files", 0.025)
def project_file_missing(w, r):
    if len(w.projects) < 2:
        raise NothingToDamage
    del w.files[some(w, r, "projects/")]


@mischief("files", 0.02)
def project_id_twice(w, r):
    w.files["projects/copy.yaml"] = w.files[some(w, r, "projects/")]


# Zones, and what is fatal.

@mischief("files", 0.08)
def broken_zone(w, r):
    """A zone that cannot be read whole: missing, cut, or not a valid master file."""
    paths = sorted(p for p in w.files if p.startswith("zones/"))
    path = r.choices(paths, [len(w.files[p]) for p in paths])[0]
    apex = path[len("zones/"):-len("zone")]
    if any(project.domain == apex for project in w.projects.values()) and r.random() < 0.4:
        raise NothingToDamage
    kind = weighted(r, missing=2, newline=3, garbage=3, cname=3, empty=1)
    if kind == "missing":
        del w.files[path]
    elif kind == "newline":
        w.files[path] = w.files[path].rstrip("\n")
    elif kind == "empty":
        w.files[path] = ""
    elif kind == "cname":
        w.files[path] += f"two.{apex} 60 IN CNAME x.example.com.\ntwo.{apex} 60 IN TXT \"beside\"\n"
    else:
        w.files[path] += r.choice(["host IN AAAA not-an-address\n", f"x.{apex} 60 IN A 1.2.3.400\n", "( open\n"])


@mischief("files", 0.015)
def fatal_configuration(w, r):
    path = "zonewright.toml"
    edit(w, path, *r.choice([('pool = "main"', 'pool = "other"'), ("owner =", "colour = 1\nowner ="),
                             ('type = "zonefile"', 'type = "zonefiles"'), ("free_domain", "free_domian"),
                             ('registry = "', 'registry = "x')]))
