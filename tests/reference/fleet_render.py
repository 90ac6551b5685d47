"""Writes a fleet as the text of a workspace's files, in the spellings that the formats allow."""

import csv
import io
import json
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address

from fleet_model import FREE_DOMAIN, OWNER, under

MOSCOW = timezone(timedelta(hours=3))
HEADER = "inv,name,project,status,location,queue,rack,switch,port,restrictions"


def stamp(time):
    """RFC 3339, in UTC and whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def render(w, r):
    """All files of the workspace: path -> text."""
    files = {"zonewright.toml": toml(w, r), "racktables/hosts.csv": hosts_csv(w, r),
             "racktables/l3-tors.txt": table(r, w.l3), "racktables/net-layout.xml": layout_xml(w, r),
             "racktables/ipv4-map.txt": table(r, w.ipv4_map), **reports(w, r)}
    for project in w.projects.values():
        files[f"projects/{project.id}.yaml"] = project_yaml(project, r)
    if w.lock:
        files["names.lock"] = lock_text(w, r)
    for zone in w.zones:
        files[zone_path(zone)] = zone_text(zone, r)
    return files


def zone_path(zone):
    return f"zones/{zone.name}zone"


def toml(w, r):
    lines = [f'owner = "{OWNER}"', f'registry = "{w.registry}"', f'free_domain = "{FREE_DOMAIN}"']
    if w.cooldown is not None:
        lines.append(f'name_cooldown = "{w.cooldown}d"')
    if w.max_bad_rows:
        lines.append(f'max_bad_rows = "{w.max_bad_rows}"')
    lines += ["", "[sources]", 'projects = "projects/*.yaml"', 'hosts = "racktables/hosts.csv"']
    lines.append(r.choice(['l3_tors = "racktables/l3-tors.txt"',
                           'l3_tors = { path = "racktables/l3-tors.txt", max_age = "6h" }']))
    lines += ['net_layout = "racktables/net-layout.xml"', 'ipv4_map = "racktables/ipv4-map.txt"', ""]
    for name, path, more in (("agent", r.choice(['"agents/agent-*.jsonl"',
                                                 '["agents/agent-1.jsonl", "agents/agent-2.jsonl"]']), ""),
                             ("eine", '"agents/eine-*.jsonl"', 'max_age = "12h"'),
                             ("racktables", '"agents/macs.jsonl"', 'penalty = "1h"')):
        lines += ["[[sources.mac]]", f'name = "{name}"', f"path = {path}", *([more] if more else []), ""]
    for project in w.projects.values():
        if project.table == "absent":
            continue
        lines += [f"[project.{project.id}]", f'dns_domain = "{spelled(project.domain, r)}"']
        if project.also:
            lines.append("also_domains = [" + ", ".join(f'"{spelled(d, r)}"' for d in project.also) + "]")
        if project.table != "default":
            lines.append(f'automation = "{project.table}"')
        lines.append("")
    lines += ["[pool.main]", "[[pool.main.target]]", 'type = "zonefile"', 'dir = "zones"', ""]
    for zone in w.zones:
        lines += ["[[zone]]", f'network = "{zone.network}"' if zone.network else f'name = "{spelled(zone.name, r)}"',
                  'pool = "main"']
        if zone.permission == "full" or r.random() < 0.5:
            lines.append(f'permission = "{zone.permission}"')
        lines += [f'claim_addresses = "{zone.claim}"'] if zone.claim else []
        lines += [f"ttl = {zone.ttl}"] if zone.ttl else []
        lines += ["protect = [" + ", ".join(f'"{p}"' for p in zone.protect) + "]"] if zone.protect else []
        lines.append("")
    if w.limited:
        lines += ["[limits]", 'hosts = [{ period = "1h", max = 300 }, { period = "1d", max = 1000 }]', ""]
    return "\n".join(lines)


def spelled(name, r):
    """A name with or without its final dot."""
    return name if r.random() < 0.2 else name.rstrip(".")


def project_yaml(project, r):
    vlans = f"main: {project.main}" + (f", fastbone: {project.fastbone}" if project.scheme == "search" else "")
    lines = ["# The owners' half of the project."] if r.random() < 0.4 else []
    lines += [f"id: {project.id}", f"vlan_scheme: {project.scheme}",
              f"vlans: {{{vlans}}}" + r.choice(["", "   # as racked"])]
    if r.random() < 0.5:
        lines.append('shortname_template: "{location}{bucket}-{index:04}"')
    if project.scheme == "search" and (project.fastbone_name != "fb-{shortname}" or r.random() < 0.4):
        lines.append(f'fastbone_name: "{project.fastbone_name}"')
    if project.hbf:
        plain = project.hbf[0] in "abcdef" and r.random() < 0.5
        lines.append(f"hbf_project_id: {project.hbf}" if plain else f'hbf_project_id: "{project.hbf}"')
    lines += [f"ttl: {project.ttl}"] if project.ttl else []
    if project.automation or r.random() < 0.5:
        lines.append(f"automation: {str(project.automation).lower()}")
    if project.policy != "repair" or r.random() < 0.5:
        lines.append(f"policy: {project.policy}")
    lines += ["limits:", "  hosts: [{period: 1h, max: 200}]"] if project.limited else []
    return "\n".join(lines) + "\n"


def hosts_csv(w, r):
    lines = [HEADER]
    for host in w.hosts:
        row = {"inv": str(host.inv), "name": spelled(host.csv_name, r), "project": host.project,
               "status": host.status, "location": host.location, "queue": r.choice(["q1", "q1", "a,b", 'say "x"']),
               "rack": f"r{r.randint(1, 9)}", "switch": host.csv_switch, "port": r.choice(["", "ge1/0/3"]),
               "restrictions": host.restrictions, **host.raw}
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow([v for v in row.values() if v is not None])
        lines.append(text.getvalue())
    return "\n".join(lines + w.raw_hosts) + "\n"


def table(r, rows):
    """l3-tors.txt or ipv4-map.txt."""
    lines = ["# generated: 2026-11-20T01:00:00Z"]
    for row in rows:
        blank = r.choice([" ", " ", "\t", "   "])
        if not isinstance(row, str):
            network = row[-1].upper() if r.random() < 0.1 else row[-1]
            row = blank.join([*(str(f) for f in row[:-1]), network])
        lines.append(row + r.choice([""] * 9 + ["  # checked"]))
        lines += [r.choice(["", "# a comment"])] if r.random() < 0.05 else []
    return "\n".join(lines) + "\n"


def layout_xml(w, r):
    lines = ['<?xml version="1.0" encoding="UTF-8"?>'] if r.random() < 0.5 else []
    lines.append('<net-layout generated="2026-11-20T01:00:00Z">')
    for location in w.locations:
        lines.append(f'  <datacenter name="{location}">')
        for (where, vlan), nets in w.layout.items():
            if where == location:
                lines.append(f'    <vlan id="{vlan}">' + "".join(f"<network>{n}</network>" for n in nets) + "</vlan>")
        lines.append("  </datacenter>" + r.choice(["", "  <!-- end -->"]))
    return "\n".join(lines) + "\n</net-layout>\n"


def lock_text(w, r):
    lines = []
    for row in w.lock:
        if isinstance(row, str):
            lines.append(row)
            continue
        released = stamp(row.released) if row.released else "-"
        name = row.name if r.random() < 0.9 else row.name.rstrip(".")
        lines.append("\t".join([str(row.inv), name, row.project, stamp(row.since), released]))
    if r.random() < 0.5:
        lines.sort()
    return "\n".join(lines) + "\n"


def mac_text(mac, r):
    if not isinstance(mac, bytes):
        return mac
    digits = mac.hex()
    dotted = ".".join(digits[i:i + 4] for i in (0, 4, 8))
    return r.choice([mac.hex(":"), mac.hex(":"), mac.hex("-"), dotted, digits, mac.hex(":").upper()])


def reports(w, r):
    files = {"agents/agent-1.jsonl": [], "agents/agent-2.jsonl": [], "agents/eine-1.jsonl": [], "agents/macs.jsonl": []}
    for source, found in w.reports.items():
        for report in r.sample(found, len(found)):
            path = {"agent": f"agents/agent-{r.randint(1, 2)}.jsonl", "eine": "agents/eine-1.jsonl",
                    "racktables": "agents/macs.jsonl"}[source]
            if isinstance(report, dict):
                time = report["time"]
                if isinstance(time, datetime):
                    time = stamp(time) if r.random() < 0.9 else time.astimezone(MOSCOW).isoformat()
                report = {**report, "time": time, "mac": mac_text(report["mac"], r)}
                report = json.dumps({k: v for k, v in report.items() if v is not None}, separators=(",", ":"))
            files[path].append(report)
    other = '{"time":"2026-11-20T00:00:00Z","inv":1,"mac":"02:00:00:00:00:01"}'
    return {path: "\n".join(lines or [other]) + "\n" for path, lines in files.items()}


def rdata_text(zone, rtype, rdata, r):
    if rtype == "AAAA" and zone.style == "fancy" and r.random() < 0.2:
        return ip_address(rdata).exploded.upper()
    return f'"{rdata}"' if rtype == "TXT" else rdata


def zone_text(zone, r):
    """A master file: with whole names; with an origin, a default TTL and relative names; or a bit of everything."""
    serial = r.randint(2026010100, 2026112099)
    lines = []
    if zone.style == "plain":
        lines.append(f"{zone.name} 3600 IN SOA ns1.example.net. hostmaster.example.net. {serial} 7200 900 1209600 300")
    else:
        lines += [f"$ORIGIN {zone.name}", "$TTL 3600",
                  f"@ IN SOA ns1.example.net. hostmaster.example.net. ( {serial} ; serial", "  7200 900 1209600 300 )"]
    order = sorted(zone.rrsets, key=lambda k: (k[0] != zone.name, k))
    if r.random() < 0.5:
        r.shuffle(order)
    for name, rtype in order:
        ttl, records = zone.rrsets[name, rtype]
        for number, rdata in enumerate(records):
            lines.append(record_line(zone, name, rtype, ttl, rdata_text(zone, rtype, rdata, r), number, r))
    return "\n".join(lines) + "\n"


def record_line(zone, name, rtype, ttl, rdata, number, r):
    if zone.style == "plain":
        return f"{name} {ttl} IN {rtype} {rdata}"
    if zone.style == "fancy":
        owner = name.upper() if r.random() < 0.2 else name
        target = rdata.upper() if rtype in ("PTR", "NS") and r.random() < 0.2 else rdata
        return r.choice([f"{owner}\t{ttl}\tIN\t{rtype}\t{target}", f"{owner} IN {ttl} {rtype} {target} ; checked",
                         f"{owner} {ttl} {rtype} {target}"])
    owner = "@" if name == zone.name else name[: -len(zone.name) - 1]
    if rtype in ("PTR", "NS", "CNAME") and under(rdata, zone.name) and rdata != zone.name:
        rdata = rdata[: -len(zone.name) - 1]
    shown = "" if ttl == 3600 and r.random() < 0.7 else f"{ttl} "
    return f"{owner if number == 0 else ''} {shown}IN {rtype} {rdata}"
