"""The exports of the inventory and names.lock (section 2): reading, bad rows, unknown sources (section 9)."""

import csv
import dataclasses
import datetime
import glob
import ipaddress
import json
import os
import re
import xml.etree.ElementTree
import xml.parsers.expat

import dnsnames
import values

_HOSTS_HEADER = "inv,name,project,status,location,queue,rack,switch,port,restrictions"
_CLOCK_TOLERANCE = datetime.timedelta(minutes=5)


class Unknown(Exception):
    """An export that is empty, cut short or unreadable."""


@dataclasses.dataclass
class Host:
    """One host of hosts.csv; several rows of one `inv` are merged into one bad host."""

    inv: int
    names: list  # as hosts.csv has them, without those that count as none
    project: str
    status: str
    location: str
    switch: str
    restrictions: list
    bad: bool
    columns_known: bool  # False: the row is so bad that only inv, name and project were guessed


@dataclasses.dataclass
class LockRow:
    inv: int | None
    name: str | None  # None: below free_domain, or unreadable
    project: str
    released: datetime.datetime | None  # None: a current row
    bad: bool
    line: str = ""  # as written


@dataclasses.dataclass
class Report:
    """One good MAC report. `source` is the place of its source in the order of preference."""

    time: datetime.datetime
    inv: int
    mac: int
    switch: str | None
    active: bool
    source: int


@dataclasses.dataclass
class BadReport:
    """A bad MAC report that freezes its host."""

    time: datetime.datetime
    inv: int
    source: int


@dataclasses.dataclass
class Inventory:
    hosts: dict = dataclasses.field(default_factory=dict)  # inv -> Host
    bad_host_rows: int = 0
    lock: list = dataclasses.field(default_factory=list)  # LockRow
    l3: dict = dataclasses.field(default_factory=dict)  # (switch, vlan) -> network
    l3_bad: set = dataclasses.field(default_factory=set)  # (switch, vlan or None)
    layout: dict = dataclasses.field(default_factory=dict)  # (location, vlan) -> networks
    layout_bad: set = dataclasses.field(default_factory=set)  # (location, vlan or None)
    ipv4_map: list = dataclasses.field(default_factory=list)  # (IPv4 network, location, vlan, /64)
    ipv4_map_bad: list = dataclasses.field(default_factory=list)  # (network or None, location, vlan or None)
    reports: list = dataclasses.field(default_factory=list)
    bad_reports: list = dataclasses.field(default_factory=list)
    project_files: list = dataclasses.field(default_factory=list)
    unknown: set = dataclasses.field(default_factory=set)  # sources; "mac" stands for any source of MACs

    @property
    def l3_switches(self):
        return {switch for switch, _ in self.l3} | {switch for switch, _ in self.l3_bad}


def read(folder, config, now):
    """The Inventory of the workspace."""
    inventory = Inventory()
    readers = {"hosts": _hosts, "l3_tors": _l3_tors, "net_layout": _net_layout, "ipv4_map": _ipv4_map}
    for name, source in config.sources.items():
        try:
            paths = paths_of(folder, source)
            if name == "projects":
                inventory.project_files = paths
                continue
            rows, bad = readers[name](inventory, source, paths, config, now)
            _judge(rows, bad, config)
        except Unknown:
            inventory.unknown.add(name)
    for index, source in enumerate(config.mac_sources):
        try:
            rows, bad = _macs(inventory, source, index, paths_of(folder, source), now)
            _judge(rows, bad, config)
        except Unknown:
            inventory.unknown.add("mac")
    _names_lock(inventory, folder, config, now)
    return inventory


def _judge(rows, bad, config):
    """Unknown: a source with more bad rows than max_bad_rows allows; one is always allowed."""
    if bad > 1 and bad > config.max_bad_rows * rows:
        raise Unknown("too many bad rows")


# Files and lines


def paths_of(folder, source):
    paths = []
    for pattern in source.patterns:
        full = os.path.join(folder, pattern)
        found = sorted(glob.glob(full, recursive=True)) if glob.has_magic(pattern) else [full]
        paths += [path for path in found if path not in paths]
    if not paths:
        raise Unknown("no file")
    return paths


def read_text(path):
    """The text of a file without its BOM; Unknown where it cannot be read or is not UTF-8."""
    try:
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Unknown(str(error)) from error


def _lines(path):
    """The lines of a text export; Unknown where the last one does not end."""
    text = read_text(path)
    if not text.endswith("\n"):
        raise Unknown("cut short")
    return [line.removesuffix("\r") for line in text[:-1].split("\n")]


def data_lines(lines):
    return [line for line in lines if line.strip() and not line.startswith("#")]


def _check_not_empty(rows):
    """Section 9: no file of a source may be empty."""
    if rows == 0:
        raise Unknown("empty")


def _generated(lines):
    """The date that a first line `# generated: RFC3339` gives, as text; None where there is none."""
    match = re.fullmatch(r"# generated:\s*(\S+)\s*", lines[0])
    return match.group(1) if match else None


# How old an export with a date may be where nothing is said.
DEFAULT_AGE = datetime.timedelta(days=3)


def _check_age(source, date, now):
    """Unknown: a source with max_age that is older, or has no date of its own; by default a date may be 3 days old."""
    if source.any_age:
        return
    try:
        age = now - values.rfc3339(date)
    except ValueError as error:
        if source.max_age is None:
            return
        raise Unknown("no date") from error
    if age > (DEFAULT_AGE if source.max_age is None else source.max_age):
        raise Unknown("too old")


def _check_end(lines, rows, source):
    """A last line `# end ROWS` must be there where it is required, and be right where it is there."""
    match = re.fullmatch(r"# end (\d+)\s*", lines[-1]) if lines else None
    if match is None and source.require_end:
        raise Unknown("no # end line")
    if match is not None and int(match.group(1)) != rows:
        raise Unknown("the # end line counts other rows")


def name_or_none(text, free_domain):
    """A name in canonical form; None for no name and for one below free_domain."""
    if not text:
        return None
    name = dnsnames.host_name(text)
    if free_domain and name != free_domain and dnsnames.is_at_or_below(name, free_domain):
        return None
    return name


# racktables/hosts.csv


def _hosts(inventory, source, paths, config, now):
    rows = []
    cut = False
    for path in paths:
        text = read_text(path)
        cut = cut or not text.endswith("\n")
        # The hosts of an export that was cut are listed all the same, but for the row in which the cut may be.
        lines = [line.removesuffix("\r") for line in text.split("\n")[:-1]]
        data = data_lines(lines)
        if not data or data[0] != _HOSTS_HEADER:
            raise Unknown("another header")
        _check_not_empty(len(data) - 1)
        _check_end(lines, len(data) - 1, source)
        _check_age(source, _generated(lines), now)
        rows += [_host_row(line, config.free_domain) for line in data[1:]]
    with_inv = [row for row in rows if row is not None]
    bad = len(rows) - len(with_inv)
    for inv in {row.inv for row in with_inv}:
        same = [row for row in with_inv if row.inv == inv]
        inventory.hosts[inv] = _merged(same)
        if inventory.hosts[inv].bad:
            bad += len(same)
    inventory.bad_host_rows = bad
    if cut:
        raise Unknown("cut short")
    return len(rows), bad


def _host_row(line, free_domain):
    """The Host of a row, bad or good; None where not even its number can be read."""
    try:
        fields = next(csv.reader([line], strict=True))
    except csv.Error:
        fields = line.split(",")[:1]  # what stands before the fault
    try:
        inv = values.inventory_number(fields[0])
    except (ValueError, IndexError):
        return None
    columns_known = len(fields) == 10
    bad = not columns_known
    fields += [""] * (10 - len(fields))
    _, raw_name, project, status, location, _, _, switch, _, restrictions = fields[:10]
    try:
        name = name_or_none(raw_name, free_domain)
    except ValueError:
        name = None
        bad = True
    if status not in ("assigned", "free"):
        bad = True
    return Host(
        inv=inv,
        names=[name] if name else [],
        project=project,
        status=status if columns_known else "",
        location=location,
        switch=switch,
        restrictions=[part.strip() for part in restrictions.split(";")],
        bad=bad,
        columns_known=columns_known,
    )


def _merged(rows):
    """The only row of a host, or one bad host for all the rows that claim its number."""
    first = rows[0]
    if len(rows) == 1:
        return first
    all_free = all(row.status == "free" for row in rows)
    names = sorted({name for row in rows for name in row.names})
    return dataclasses.replace(first, names=names, status="free" if all_free else "assigned", bad=True)


# racktables/l3-tors.txt and racktables/ipv4-map.txt


def _fields_of_lines(paths, source, now):
    """The blank-separated fields of each row; `#` starts a comment anywhere."""
    rows = []
    for path in paths:
        lines = _lines(path)
        data = [line.split("#")[0].split() for line in lines]
        data = [fields for fields in data if fields]
        _check_not_empty(len(data))
        _check_end(lines, len(data), source)
        _check_age(source, _generated(lines), now)
        rows += data
    return rows


def _vlan_or_none(fields, place):
    try:
        return values.vlan_number(fields[place])
    except (ValueError, IndexError):
        return None


def _l3_tors(inventory, source, paths, _, now):
    rows = _fields_of_lines(paths, source, now)
    good = []
    for fields in rows:
        switch, vlan = fields[0], _vlan_or_none(fields, 1)
        try:
            if len(fields) != 3 or vlan is None:
                raise ValueError("not SWITCH VLAN NETWORK")
            good.append(((switch, vlan), values.ipv6_64(fields[2])))
        except ValueError:
            inventory.l3_bad.add((switch, vlan))
    return len(rows), len(rows) - len(good) + _without_contradictions(good, inventory.l3, inventory.l3_bad)


def _without_contradictions(rows, into, contradicted):
    """Put (key, value) rows into a dict; rows of one key with different values are bad. Returns how many."""
    bad = 0
    for key in {key for key, _ in rows}:
        found = [value for other, value in rows if other == key]
        if len(set(found)) == 1:
            into[key] = found[0]
        else:
            contradicted.add(key)
            bad += len(found)
    return bad


def _ipv4_map(inventory, source, paths, _, now):
    rows = _fields_of_lines(paths, source, now)
    good = []
    unreadable = set()
    for fields in rows:
        try:
            network = ipaddress.IPv4Network(fields[0])
        except ValueError:
            network = None
        location = fields[1] if len(fields) > 1 else None
        vlan = _vlan_or_none(fields, 2)
        try:
            if len(fields) != 4 or network is None or vlan is None:
                raise ValueError("not IPV4-NETWORK LOCATION VLAN IPV6-NETWORK")
            good.append(((network, location, vlan), values.ipv6_64(fields[3])))
        except ValueError:
            unreadable.add((network, location, vlan))
    known = {}
    contradictions = _without_contradictions(good, known, unreadable)
    inventory.ipv4_map = [(*key, network) for key, network in known.items()]
    inventory.ipv4_map_bad = list(unreadable)
    return len(rows), len(rows) - len(good) + contradictions


# racktables/net-layout.xml


def _parsed_xml(text):
    """The root element; Unknown where the text is no XML or has a DTD (and so entities of its own)."""

    def refuse(*_):
        raise Unknown("a DTD")

    checker = xml.parsers.expat.ParserCreate()
    checker.StartDoctypeDeclHandler = refuse
    checker.EntityDeclHandler = refuse
    try:
        checker.Parse(text, True)
        root = xml.etree.ElementTree.fromstring(text)
    except (xml.parsers.expat.ExpatError, xml.etree.ElementTree.ParseError) as error:
        raise Unknown(str(error)) from error
    if root.tag != "net-layout":
        raise Unknown("no net-layout")
    return root


def _net_layout(inventory, source, paths, _, now):
    rows = bad = 0
    for path in paths:
        root = _parsed_xml("\n".join(_lines(path)) + "\n")
        if source.require_end:
            raise Unknown("XML has no # end line")
        _check_not_empty(len(list(root.iter("network"))))
        _check_age(source, root.get("generated"), now)
        for datacenter in root.iter("datacenter"):
            for vlan_element in datacenter.iter("vlan"):
                found, unreadable = _layout_vlan(inventory, datacenter.get("name"), vlan_element)
                rows += found
                bad += unreadable
    return rows, bad


def _layout_vlan(inventory, location, element):
    """Take over one <vlan>; returns how many networks it has and how many of them are bad."""
    texts = [(network.text or "").strip() for network in element.iter("network")]
    vlan = _vlan_or_none([element.get("id") or ""], 0)
    if vlan is None or location is None:
        inventory.layout_bad.add((location, None))
        return len(texts), len(texts)
    bad = 0
    networks = inventory.layout.setdefault((location, vlan), [])
    for text in texts:
        try:
            network = ipaddress.ip_network(text)
        except ValueError:
            inventory.layout_bad.add((location, vlan))
            bad += 1
            continue
        if network.version == 6 and network.prefixlen == 64 and network not in networks:
            networks.append(network)
    return len(texts), bad


# MAC reports


def _macs(inventory, source, index, paths, now):
    rows = bad = 0
    for path in paths:
        text = read_text(path)
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        incomplete = lines.pop()
        data = data_lines(lines)
        rows += len(data)
        _check_not_empty(len(data) + bool(incomplete.strip()))
        _check_end([*lines, incomplete] if incomplete else lines, len(data), source)
        bad += sum(not _report(inventory, line, index, now) for line in data)
        if incomplete.strip():
            rows += 1
            bad += 1
            _freeze_by_incomplete(inventory, incomplete, index, now)
    return rows, bad


def _report(inventory, line, source, now):
    """Take over one report; True where it is good."""
    try:
        record = json.loads(line)
        time = values.rfc3339(record["time"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return False  # no readable time: ignored
    if time > now + _CLOCK_TOLERANCE:
        return False  # from the future: ignored
    inv = record.get("inv")
    if type(inv) is not int or not 0 <= inv < 2**64:
        return False  # nobody's
    active = record.get("active", True)
    switch = record.get("switch")
    try:
        mac = _mac(record.get("mac"))
        if not isinstance(active, bool) or not isinstance(switch, str | None):
            raise ValueError("active or switch")
    except ValueError:
        inventory.bad_reports.append(BadReport(time, inv, source))
        return False
    if mac == 0 or mac >> 40 & 1:
        inventory.bad_reports.append(BadReport(time, inv, source))
        return False
    inventory.reports.append(Report(time, inv, mac, switch or None, active, source))
    return True


def _freeze_by_incomplete(inventory, line, source, now):
    """An incomplete last line is bad; where it can be read all the same, it freezes its host."""
    aside = Inventory()
    _report(aside, line, source, now)
    for report in [*aside.reports, *aside.bad_reports]:
        inventory.bad_reports.append(BadReport(report.time, report.inv, source))


def _mac(text):
    digits = re.sub(r"[:.-]", "", text) if isinstance(text, str) else ""
    if not re.fullmatch(r"[0-9A-Fa-f]{12}", digits):
        raise ValueError(f"not a MAC: {text!r}")
    return int(digits, 16)


# names.lock


def _names_lock(inventory, folder, config, now):
    path = os.path.join(folder, "names.lock")
    if not os.path.lexists(path):
        return
    try:
        text = read_text(path)
    except Unknown:
        inventory.unknown.add("names.lock")
        return
    if not text.endswith("\n"):
        inventory.unknown.add("names.lock")
    lines = data_lines([line.removesuffix("\r") for line in text.split("\n")[:-1]])
    inventory.lock = [_lock_row(line, config, now) for line in lines]
    current = [row for row in inventory.lock if row.released is None and row.inv is not None and not row.bad]
    for row in current:
        row.bad = any(
            other is not row and (other.inv == row.inv or (row.name and other.name == row.name))
            for other in current
        )


def _lock_row(line, config, now):
    """One row, bad or good."""
    row = LockRow(None, None, "", None, bad=False, line=line)
    fields = line.split("\t")
    try:
        row.inv = values.inventory_number(fields[0])
        row.name = name_or_none(fields[1], config.free_domain)
        _, raw_name, row.project, since, released = fields
        if released != "-":
            row.released = values.rfc3339(released)
        values.rfc3339(since)
        if not raw_name or not row.project:
            raise ValueError("an empty field")
    except (ValueError, IndexError):
        row.bad = True
    else:
        row.bad = _is_foreign_tombstone(row, config, now)
    return row


def _is_foreign_tombstone(row, config, now):
    """Section 4.9: a released name that counts must lie directly below a domain of the row's project."""
    project = config.projects.get(row.project)
    if project is None or row.name is None or not is_recently_released(row, config, now):
        return False
    return not any(dnsnames.is_directly_below(row.name, domain) for domain in project.domains)


def is_recently_released(row, config, now):
    return row.released is not None and now - row.released <= config.name_cooldown
