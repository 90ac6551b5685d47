"""Mischiefs in the rows of the exports and of names.lock: rows that are bad, contradict each other, or are only odd."""

from ipaddress import IPv4Network

from fleet_build import add_host, fresh_name, new_mac
from fleet_inventory import current_row, release_time, two
from fleet_mischief import mischief
from fleet_model import LockRow, NothingToDamage


@mischief("moves", 0.5, untidy=True)
def bad_host_row(w, r):
    host = w.pick(r)
    host.raw = r.choice([{"status": "broken"}, {"status": ""}, {"name": "bad name.example.net"}, {"name": "a..b"},
                         {"name": "-"}, {"project": "a,b,c"}, {"inv": "12x"}, {"inv": ""}, {"restrictions": None},
                         {"inv": "-5"}])


@mischief("moves", 0.1, untidy=True)
def host_twice(w, r):
    host = w.pick(r)
    status = r.choice(["assigned", "free"])
    w.raw_hosts.append(f"{host.inv},,{host.project},{status},{host.location},q,r,{host.switch},,")


@mischief("moves", 0.06, untidy=True)
def stray_host_line(w, r):
    w.raw_hosts.append(r.choice(["nonsense", "x,y,z", '100,"open', "0.5,,search,free,,,,,,"]))


@mischief("moves", 0.35, untidy=True)
def two_current_rows(w, r):
    host = w.pick(r)
    current_row(w, host)
    w.row(host.inv, fresh_name(w, r, w.projects[host.project], r.choice(w.locations)), host.project, r)


@mischief("moves", 0.3, untidy=True)
def name_current_twice(w, r):
    first, second = two(w, r)
    current_row(w, second).name = current_row(w, first).name


@mischief("moves", 0.3, untidy=True)
def released_outside_its_project(w, r):
    host = w.pick(r)
    w.row(host.inv, r.choice(["x1.example.com.", f"a.b.{w.pick_running(r).domain}"]), host.project, r,
          release_time(w, r))


@mischief("moves", 0.15, untidy=True)
def released_by_unknown_project(w, r):
    w.row(w.new_inv(r), f"x2.{w.pick_running(r).domain}", "gone", r, release_time(w, r))


@mischief("moves", 0.45, untidy=True)
def bad_lock_row(w, r):
    host = w.pick(r)
    name, since = fresh_name(w, r, w.projects[host.project], r.choice(w.locations)), "2026-01-02T03:04:05Z"
    fields = r.choice([[host.inv, name, host.project, since], [host.inv, name, host.project, since, "soon"],
                       [host.inv, "bad name.", host.project, since, since], [host.inv, name, host.project, "-", "-"],
                       ["inv", name, host.project, since, "-"], [host.inv, name, host.project, since, "-", "x"]])
    w.lock.append("\t".join(str(f) for f in fields))


@mischief("moves", 0.2)
def switch_contradicts_itself(w, r):
    """The same switch and VLAN with two networks; or twice with the same one, which is no error."""
    rows = [x for x in w.l3 if not isinstance(x, str)]
    if not rows:
        raise NothingToDamage
    row = r.choice(rows)
    w.l3.insert(r.randrange(len(w.l3) + 1), r.choice([(*row[:2], w.new_network(w.locations[0]))] * 3 + [row]))


@mischief("moves", 0.15)
def bad_switch_row(w, r):
    rows = [x for x in w.l3 if not isinstance(x, str)]
    if not rows:
        raise NothingToDamage
    row = r.choice(rows)
    bad = r.choice([row[2].replace("/64", "/63"), row[2].replace("::/64", "::"), "10.0.0.0/24", "network"])
    if r.random() < 0.6:
        w.l3[w.l3.index(row)] = f"{row[0]} {row[1]} {bad}"
    else:
        w.l3.append(r.choice([f"{row[0]} 4000 {bad}", f"new-{row[0]} {row[1]} {bad}"]))


@mischief("moves", 0.04)
def unreadable_switch_row(w, r):
    w.l3.append(r.choice(["???", "x y", "1 2 3 4 5"]))


@mischief("moves", 0.12)
def bad_map_row(w, r):
    """A row that cannot be read, for hosts with IPv4 of one location and VLAN, or of none."""
    row = r.choice([x for x in w.ipv4_map if not isinstance(x, str)])
    bad = r.choice([(*row[:3], row[3].replace("/64", "/60")), ("178.154.300.0/24", *row[1:]), row[:3]])
    if r.random() < 0.4:
        bad = (bad[0], "nowhere", *bad[2:])
    w.ipv4_map.append(" ".join(str(f) for f in bad))


@mischief("moves", 0.05)
def map_row_twice(w, r):
    row = r.choice([x for x in w.ipv4_map if not isinstance(x, str)])
    w.ipv4_map.append((*row[:3], r.choice([row[3], row[3], w.new_network(w.locations[0])])))


@mischief("moves", 0.3)
def map_row_more_specific(w, r):
    host = w.pick(r, lambda h: bool(h.v4))
    net = IPv4Network((int(host.v4[0]), r.choice([30, 31, 32])), strict=False)
    w.ipv4_map.append((str(net), host.location, w.projects[host.project].main, w.new_network(host.location)))


@mischief("moves", 0.35)
def odd_layout_networks(w, r):
    """Networks that are no /64, the same one twice, and IPv4 ones."""
    key = r.choice(list(w.layout) or [None])
    if key is None:
        raise NothingToDamage
    nets = w.layout[key]
    for net in ("2a02:6b8:0:ff00::/56", "10.1.0.0/16", *nets[:1]):
        if r.random() < 0.6:
            nets.insert(r.randrange(len(nets) + 1), net)


@mischief("moves", 0.15)
def layout_reordered(w, r):
    for nets in w.layout.values():
        r.shuffle(nets)


@mischief("moves", 0.15)
def free_host_collides(w, r):
    """A free host that once had somebody's MAC and network: it takes part with its name only."""
    other = w.pick(r)
    host = add_host(w, r, w.projects[other.project])
    host.status, host.mac, host.switch = "free", other.mac, other.switch
    w.report(host.inv, "agent", 3, other.mac)


@mischief("moves", 0.1)
def assigned_lately(w, r):
    """New hosts of which DNS and the switches know nothing yet."""
    host = add_host(w, r)
    w.report(host.inv, "agent", 1, r.choice([host.mac, new_mac(r)]))


@mischief("moves", 0.1)
def row_never_cleaned(w, r):
    """A name released twice by different hosts."""
    rows = [x for x in w.lock if isinstance(x, LockRow) and x.released and x.project in w.projects]
    if not rows:
        raise NothingToDamage
    row = r.choice(rows)
    w.row(w.new_inv(r), row.name, row.project, r, release_time(w, r))
