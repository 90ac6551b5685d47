"""An independent reading of section 5 of the specification: prints the names.lock that `allocate --write` leaves.

python3 names.py -C DIR --now RFC3339

Comments are left out; nothing at all is printed, and the exit code is 1, where `allocate` must refuse the fleet.
"""

import argparse
import csv
import datetime
import os
import re
import sys

import config
import derive
import dnsnames
import exports
import livedns
import masterfile
import projects
import values


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-C", dest="folder", required=True)
    parser.add_argument("--now", required=True, type=values.rfc3339)
    arguments = parser.parse_args()
    lines = allocate(arguments.folder, arguments.now)
    if lines is None:
        return 1
    sys.stdout.write("".join(line + "\n" for line in lines))
    return 0


def allocate(folder, now):
    """The rows of names.lock after `allocate --write`, or None where the fleet is refused."""
    try:
        settings = config.load(folder)
    except config.ConfigError:
        return None
    inventory = exports.read(folder, settings, now)
    if {"hosts", "names.lock"} & inventory.unknown:
        return None
    live = livedns.Live(settings.zones)
    domains = {domain for project in settings.projects.values() for domain in project.domains}
    if any(live.is_in_unknown_zone("x." + domain) for domain in domains):
        return None
    if any(dnsnames.parent(zone) in domains for zone in live.unknown_zones):
        return None
    by_id, _ = projects.load(inventory.project_files, settings.registry)
    fleet = derive.Fleet(settings, by_id, inventory, live, now)
    files = [*exports.paths_of(folder, settings.sources["hosts"]), os.path.join(folder, "names.lock")]
    given = Names(fleet, domains, stray_names(files, settings)).give()
    return rows_after(fleet, given) if given else [row.line for row in inventory.lock]


def stray_names(paths, settings):
    """The names in rows of hosts.csv and names.lock whose inventory number cannot be read: nobody knows whose they are."""
    for path in paths:
        try:
            text = exports.read_text(path)
        except exports.Unknown:
            continue  # there is no names.lock
        delimiter = "\t" if path.endswith("names.lock") else ","
        for line in exports.data_lines(text.splitlines()):
            try:
                fields = next(csv.reader([line], delimiter=delimiter, strict=True))
            except csv.Error:
                continue
            if fields[0].isdigit():
                continue
            # In names.lock a name may stand anywhere in such a row: tabs become blanks easily.
            words = [word for word in line.split() if "." in word] if delimiter == "\t" else []
            for word in [*fields[1:2], *words]:
                try:
                    name = exports.name_or_none(word, settings.free_domain)
                except ValueError:
                    continue
                if name:
                    yield name


class Names:
    """What is taken, and who gets what is not."""

    def __init__(self, fleet, domains, strays):
        self.fleet = fleet
        # Everything that stands at a name, below a cut too: what servers would answer there is not asked.
        self.standing = _standing(fleet.config.zones, domains)
        self.clouded = set()  # short names with fastbones that nobody knows: their project's file is bad
        self.taken = {dnsnames.labels_of(name)[0] for name in strays}  # short names that hosts have, or had lately
        for inv, host in fleet.inventory.hosts.items():
            for name in fleet.backbone_names(inv):
                self._take(name, host.project)
        for row in fleet.inventory.lock:
            # While a host moves, the fastbone name that it will have in the row's project is taken too.
            if row.name and (row.released is None or exports.is_recently_released(row, fleet.config, fleet.now)):
                self._take(row.name, row.project)

    def _take(self, name, project):
        self.taken |= {dnsnames.labels_of(each)[0] for each in self.fleet.with_fastbone(name, project)}
        if project in self.fleet.config.projects and project not in self.fleet.projects:
            self.clouded.add(dnsnames.labels_of(name)[0])

    def give(self):
        """inv -> (name, project) of the hosts that get one, in order of inv."""
        given = {}
        for inv in sorted(self.fleet.assigned):
            host = self.fleet.assigned[inv]
            is_ours = host.project in self.fleet.config.projects and host.project in self.fleet.projects
            if is_ours and not self._has_bad_rows(host) and not self.fleet.backbone_names(inv):
                short_name = self._lowest_free(host)
                if short_name is not None:
                    name = short_name + "." + self.fleet.config.projects[host.project].dns_domain
                    self._take(name, host.project)
                    given[inv] = (name, host.project)
        return given

    def _has_bad_rows(self, host):
        return host.bad or any(row.bad and row.inv == host.inv for row in self.fleet.inventory.lock)

    def _may_be_fastbone(self, label):
        return any(short_name != label and short_name in label for short_name in self.clouded)

    def _lowest_free(self, host):
        project = self.fleet.projects[host.project]
        domain = self.fleet.config.projects[host.project].dns_domain
        number = 1
        while True:
            short_name = expand(project.template, host.location, number)
            if short_name is None:
                return None
            labels = [name.split(".", 1)[0] for name in self.fleet.with_fastbone(f"{short_name}.{domain}", host.project)]
            if max(len(label) for label in labels) > 63:
                return None
            if all(label not in self.taken | self.standing and not self._may_be_fastbone(label) for label in labels):
                return short_name
            number += 1


def _standing(zones, domains):
    """The first labels of all names directly below a domain at which anything stands."""
    labels = set()
    for zone in zones.values():
        try:
            records = masterfile.load(zone.master_file, zone.name)
        except (masterfile.ZoneError, TypeError):
            continue  # a zone that could not say anything, or the fleet would have been refused
        names = {record.name for record in records}
        labels |= {dnsnames.labels_of(name)[0] for name in names if name != "." and dnsnames.parent(name) in domains}
    return labels


def expand(template, location, number):
    """The short name of a number; None where the width is used up or the result is no label."""
    width = re.search(r"\{index:0([1-9])\}", template)
    size = 10 ** int(width.group(1)) if width else None
    bucket, index = (0, number) if "{bucket}" not in template else divmod(number, size)
    if bucket > 9 or (size is not None and index >= size):
        return None
    text = template.replace("{location}", location).replace("{bucket}", str(bucket))
    text = re.sub(r"\{index(:0[0-9]+)?\}", str(index).zfill(int(width.group(1)) if width else 0), text).lower()
    return text if re.fullmatch(r"[a-z0-9_-]{1,63}", text) else None


def rows_after(fleet, given):
    """The rows, sorted by inv then name: the new ones, and what stays of the old ones."""
    settings = fleet.config
    lines, has_row = [], set(given)
    for row in fleet.inventory.lock:
        is_replaced = row.inv in given and row.released is None
        is_over = row.released is not None and fleet.now - row.released > settings.name_cooldown
        if not is_replaced and (row.bad or not is_over):
            lines.append(row.line)
            has_row.add(row.inv)
    stamp = fleet.now.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for inv, (name, project) in given.items():
        lines.append("\t".join([str(inv), name.rstrip("."), project, stamp, "-"]))
    for inv in {row.inv for row in fleet.inventory.lock} - has_row:
        # Its last rows were tombstones: without any row the name in hosts.csv would come back.
        if inv in fleet.inventory.hosts and fleet.inventory.hosts[inv].names:
            last = max((row for row in fleet.inventory.lock if row.inv == inv), key=lambda row: row.released)
            stamp = last.released.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            name = f"free-{inv}.{settings.free_domain.rstrip('.')}"
            lines.append("\t".join([str(inv), name, last.project, stamp, "-"]))
    return sorted(lines, key=_place)


def _place(line):
    """Where a line stands: by inv and name as written; rows of nobody last."""
    fields = [*line.split("\t"), "", ""]
    try:
        return False, values.inventory_number(fields[0]), fields[1], line
    except ValueError:
        return True, 0, fields[1], line


if __name__ == "__main__":
    sys.exit(main())
