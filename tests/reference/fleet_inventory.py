"""Mischiefs in the inventory: before the live zones are filled, and afterwards where DNS did not follow."""

from datetime import timedelta
from ipaddress import IPv4Address

from fleet_build import add_host, fresh_name, give_v4, new_mac
from fleet_mischief import mischief
from fleet_model import FREE_DOMAIN, NOW, Host, LockRow, NothingToDamage


def rename(w, host, name):
    """Give a host another name wherever the files name the present one."""
    for row in w.lock:
        if isinstance(row, LockRow) and row.inv == host.inv and row.released is None:
            row.name = name or row.name
    if name is None:
        w.lock = [x for x in w.lock if isinstance(x, str) or x.inv != host.inv or x.released]
    host.csv_name = name or ""
    host.name = name


def current_row(w, host):
    """The host's current row in the lock; given to it where it has none."""
    rows = [x for x in w.lock if isinstance(x, LockRow) and x.inv == host.inv and x.released is None]
    if not rows:
        w.lock.append(LockRow(host.inv, host.name, host.project, NOW - timedelta(days=50)))
        rows = w.lock[-1:]
    return rows[0]


def two(w, r, where=lambda a, b: True):
    """Two hosts that belong together in some way."""
    for _ in range(30):
        first, second = w.pick(r), w.pick(r)
        if first is not second and where(first, second):
            return first, second
    raise NothingToDamage


def same_project(first, second):
    return first.project == second.project


def release_time(w, r):
    """A time of release: mostly inside the cooldown, some outside it, some on the edge."""
    edge = timedelta(days=w.cooldown_days())
    return r.choice([NOW - timedelta(hours=r.randint(1, 60)), NOW - edge * r.random(), NOW - edge,
                     NOW - edge - timedelta(seconds=1), NOW - edge - timedelta(days=r.randint(1, 90))])


# Names.

@mischief("inventory", 0.13)
def duplicate_name(w, r):
    first, second = two(w, r, same_project)
    rename(w, second, first.name)


@mischief("inventory", 0.07)
def name_of_free_host(w, r):
    other = w.pick(r)
    w.hosts.append(Host(w.new_inv(r), other.name, other.project, other.location, other.switch, new_mac(r), "free",
                        other.name, other.switch))


@mischief("inventory", 0.12)
def free_host(w, r):
    host = add_host(w, r)
    host.status = "free"
    if r.random() < 0.5:
        rename(w, host, f"free-{host.inv}.{FREE_DOMAIN}.")


@mischief("inventory", 0.08)
def name_of_a_row_without_host(w, r):
    other = w.pick(r)
    w.row(w.new_inv(r), other.name, other.project, r)


@mischief("inventory", 0.15)
def row_without_host(w, r):
    project = w.pick_running(r)
    w.row(w.new_inv(r), fresh_name(w, r, project, r.choice(w.locations)), project.id, r)


@mischief("inventory", 0.12)
def name_like_a_fastbone(w, r):
    first, second = two(w, r, same_project)
    name = w.fastbone_of(first.name, w.projects[first.project])
    if not name:
        raise NothingToDamage
    rename(w, second, name)


@mischief("inventory", 0.2)
def nameless(w, r):
    host = w.pick(r)
    rename(w, host, None)
    host.csv_name = r.choice(["", "", f"free-{host.inv}.{FREE_DOMAIN}"])
    if r.random() < 0.3:
        current_row(w, host).name = f"free-{host.inv}.{FREE_DOMAIN}."


@mischief("inventory", 0.1)
def released_and_nameless(w, r):
    host = w.pick(r, lambda h: w.projects[h.project].table != "absent")
    name = host.name
    rename(w, host, None)
    host.csv_name = r.choice(["", name])
    w.row(host.inv, name, host.project, r, release_time(w, r))


@mischief("inventory", 0.15)
def foreign_domain(w, r):
    host = w.pick(r)
    label, rest = host.name.split(".", 1)
    rename(w, host, r.choice([f"{label}.example.com.", f"{label}.rack7.{rest}", f"{label}.x{rest}", rest]))


@mischief("inventory", 0.2)
def odd_spelling_of_name(w, r):
    host = w.pick(r)
    host.csv_name = r.choice([host.name.upper(), host.name.rstrip("."), host.name.capitalize()])


@mischief("inventory", 0.15)
def row_of_another_project(w, r):
    current_row(w, w.pick(r)).project = r.choice([*w.projects, "gone"])


# Addresses.

@mischief("inventory", 0.1)
def duplicate_mac(w, r):
    first, second = two(w, r)
    second.mac = first.mac
    w.report(second.inv, "agent", 1, first.mac)
    if r.random() < 0.4:
        rename(w, second, None)


@mischief("inventory", 0.25)
def duplicate_address(w, r):
    """The same MAC in the same network; or, with a project id, only the last 32 bits of it."""
    first, second = two(w, r, same_project)
    second.mac = first.mac if not w.projects[first.project].hbf else new_mac(r)[:2] + first.mac[2:]
    second.location, second.switch, second.csv_switch = first.location, first.switch, first.switch
    w.report(second.inv, "agent", 1, second.mac, switch=first.switch)


@mischief("inventory", 0.1)
def one_network_for_both_vlans(w, r):
    host = w.pick(r)
    project = w.projects[host.project]
    rows = [x for x in w.l3 if x[0] == host.switch and x[1] == project.main]
    if not rows or project.scheme == "static":
        raise NothingToDamage
    w.l3 = [(*x[:2], rows[0][2]) if x[0] == host.switch and x[1] == project.fastbone else x for x in w.l3]


@mischief("inventory", 0.75, many=True)
def ipv4_host(w, r):
    host = w.pick(r)
    for kind in r.choice([["mapped"], ["mapped"], ["mapped", "mapped"], ["mapped", "unmapped"], ["unmapped"],
                          ["no-zone"], ["mapped", "mapped", "no-zone"]]):
        give_v4(w, host, kind)


@mischief("inventory", 0.12)
def ipv4_in_numeric_order(w, r):
    host = w.pick(r)
    base = int(IPv4Address("178.154.130.0")) + {"sas": 0, "myt": 256, "vla": 512}[host.location.lower()]
    host.v4 = [IPv4Address(base + last) for last in r.sample([9, 10, 99, 100, 200], r.randint(2, 3))]


@mischief("inventory", 0.15)
def shared_ipv4(w, r):
    first, second = two(w, r, lambda a, b: a.location == b.location)
    if not first.v4:
        give_v4(w, first, r.choice(["mapped", "no-zone"]))
    second.v4.append(first.v4[0])


@mischief("inventory", 0.15)
def network_missing(w, r):
    host = w.pick(r)
    project = w.projects[host.project]
    vlan = r.choice([project.main, project.fastbone])
    if any(x[0] == host.switch for x in w.l3) and r.random() < 0.6:
        w.l3 = [x for x in w.l3 if x[:2] != (host.switch, vlan)]
    elif r.random() < 0.5:
        host.switch = host.csv_switch = host.switch.upper()
        host.location = r.choice([host.location, host.location.upper()])
    else:
        w.layout.pop((host.location, vlan), None)


@mischief("inventory", 0.12)
def network_without_reverse_zone(w, r):
    host = w.pick(r)
    vlan = w.projects[host.project].main
    network = f"2001:db8:{r.getrandbits(16):x}:{vlan:x}::/64"
    if any(x[0] == host.switch for x in w.l3):
        w.l3 = [(*x[:2], network) if x[:2] == (host.switch, vlan) else x for x in w.l3]
    else:
        w.layout.setdefault((host.location, vlan), []).insert(r.choice([0, 9]), network)


# Who may do what.

@mischief("inventory", 0.35, many=True)
def restricted(w, r):
    w.pick(r).restrictions = r.choice(["automated-dns", "no-reboot;automated-dns", "automated-dns;x", "no-reboot",
                                       "automated-dns-2"])


@mischief("inventory", 0.15)
def unknown_project(w, r):
    w.pick(r).project = r.choice(["nosuch", "Search", "mail"])


@mischief("inventory", 0.2)
def protected(w, r):
    _, interface = w.pick_interface(r)
    zone = w.zone_of(interface.name)
    if not zone:
        raise NothingToDamage
    label, rest = interface.name.rstrip(".").split(".", 1)
    zone.protect.append(r.choice([f"{label}.{rest}", f"{label[:-1]}?.{rest}", f"{label[:-2]}*.{rest}", f"www.{rest}",
                                  f"{label.upper()}.{rest}.", f"{label[:-2]}??", f"*{label[-3:]}", label]))


# DNS did not follow.

@mischief("moves", 0.35, many=True)
def new_network_card(w, r):
    host = w.pick(r)
    host.mac = new_mac(r)
    w.report(host.inv, r.choice(["agent", "eine"]), 2, host.mac)


@mischief("moves", 0.3, many=True)
def moved(w, r):
    host = w.pick(r)
    host.location = r.choice(w.locations)
    host.switch = host.csv_switch = r.choice(w.switches[host.location])
    w.report(host.inv, "agent", 1, host.mac, switch=host.switch)


@mischief("moves", 0.4, many=True)
def renamed(w, r):
    host = w.pick(r, lambda h: w.projects[h.project].table != "absent" and h.name.count(".") > 2)
    project, old = w.projects[host.project], host.name
    if old.split(".", 1)[1] in project.domains:
        w.row(host.inv, old, host.project, r, release_time(w, r))
    host.name = None
    w.lock = [x for x in w.lock if isinstance(x, str) or x.inv != host.inv or x.released]
    host.name = fresh_name(w, r, project, r.choice(w.locations))
    w.row(host.inv, host.name, host.project, r)
    host.csv_name = r.choice([old, host.name, ""])


@mischief("moves", 0.15)
def taken_over(w, r):
    giver, taker = two(w, r, same_project)
    project, name = w.projects[giver.project], giver.name
    if project.table == "absent" or name.split(".", 1)[1] not in project.domains:
        raise NothingToDamage
    rename(w, giver, fresh_name(w, r, project, giver.location))
    w.row(giver.inv, name, giver.project, r, release_time(w, r))
    current_row(w, giver)
    rename(w, taker, name)
    if r.random() < 0.5:
        current_row(w, taker)


@mischief("moves", 0.15)
def swapped_names(w, r):
    first, second = two(w, r, same_project)
    one, other = first.name, second.name
    rename(w, first, other)
    rename(w, second, one)


@mischief("moves", 0.3, many=True)
def vanished(w, r):
    """A host leaves hosts.csv; its row in the lock may stay, be released, or never have been."""
    host = w.pick(r)
    w.hosts.remove(host)
    if r.random() < 0.6:
        w.lock = [x for x in w.lock if isinstance(x, str) or x.inv != host.inv]
    for row in w.lock:
        if isinstance(row, LockRow) and row.inv == host.inv and r.random() < 0.6:
            if host.project in w.projects and w.projects[host.project].table != "absent" and (
                    row.name.split(".", 1)[1] in w.projects[host.project].domains and row.project == host.project):
                row.released = release_time(w, r)
                row.since = min(row.since, row.released - timedelta(days=1))


@mischief("moves", 0.12)
def freed(w, r):
    host = w.pick(r)
    host.status = "free"
    if r.random() < 0.4:
        rename(w, host, f"free-{host.inv}.{FREE_DOMAIN}.")


@mischief("moves", 0.1)
def changed_project(w, r):
    w.pick(r).project = r.choice(list(w.projects))
