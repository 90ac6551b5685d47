"""Mischiefs in the MAC reports: who wins, what is too old, withdrawn, or bad."""

from datetime import datetime, timedelta

from fleet_build import new_mac
from fleet_mischief import mischief
from fleet_model import NOW


def reports_of(w, host):
    """The well-formed reports of a host, with their sources."""
    return [(s, x) for s, found in w.reports.items() for x in found if isinstance(x, dict) and x.get("inv") == host.inv]


def newest(w, host):
    """The age in minutes of the host's newest report; a large one where it has none."""
    times = [x["time"] for _, x in reports_of(w, host) if isinstance(x["time"], datetime)]
    return int((NOW - max(times)).total_seconds() // 60) if times else 600


def forget(w, host):
    for found in w.reports.values():
        found[:] = [x for x in found if not isinstance(x, dict) or x.get("inv") != host.inv]


@mischief("moves", 0.25)
def no_reports(w, r):
    forget(w, w.pick(r))


@mischief("moves", 0.2)
def sources_tie(w, r):
    """The same time in two sources, or the same after the penalty; both MACs differ."""
    host = w.pick(r)
    forget(w, host)
    age, other = r.randint(5, 200), new_mac(r)
    first, second = r.choice([("agent", "eine"), ("eine", "agent"), ("agent", "racktables"), ("racktables", "eine")])
    w.report(host.inv, first, age - 60 * (first == "racktables") + 60, host.mac)
    w.report(host.inv, second, age - 60 * (second == "racktables") + 60, other)


@mischief("moves", 0.2)
def macs_tie(w, r):
    host = w.pick(r)
    forget(w, host)
    for mac in (host.mac, host.mac[:5] + bytes([host.mac[5] ^ 1])):
        w.report(host.inv, "agent", 30, mac)


@mischief("moves", 0.2)
def switches_tie(w, r):
    host = w.pick(r)
    forget(w, host)
    switches = r.sample(w.switches[host.location.lower()], 2)
    for more in r.sample([{}, {"switch": switches[0]}, {"switch": switches[1], "port": "1"}], r.randint(2, 3)):
        w.report(host.inv, "agent", 30, host.mac, **more)


@mischief("moves", 0.15)
def penalty_decides(w, r):
    host = w.pick(r)
    forget(w, host)
    w.report(host.inv, "racktables", 10, new_mac(r))
    w.report(host.inv, "agent", r.choice([69, 70, 71]), host.mac)


@mischief("moves", 0.2)
def max_age_edge(w, r):
    """The only report, or the newer one, is just young enough or just too old for its source."""
    host = w.pick(r)
    forget(w, host)
    w.report(host.inv, "eine", r.choice([719, 720, 721, 2000]), host.mac)
    if r.random() < 0.4:
        w.report(host.inv, "agent", 2900, new_mac(r))


@mischief("moves", 0.2)
def lldp_elsewhere(w, r):
    host = w.pick(r)
    switch = r.choice(w.switches[r.choice(w.locations)])
    w.report(host.inv, "agent", 1, host.mac, switch=switch, port="ge9/0/9")


@mischief("moves", 0.3, many=True)
def withdrawn(w, r):
    """An inactive report: later, earlier or at the same time as the host's good ones; of any age and source."""
    host = w.pick(r)
    age = newest(w, host)
    w.report(host.inv, r.choice(list(w.reports)), r.choice([age - 1, age, age + 1, 1]), host.mac, active=False)


@mischief("moves", 0.06)
def withdrawn_long_ago(w, r):
    host = w.pick(r)
    forget(w, host)
    w.report(host.inv, "agent", 3000, host.mac)
    w.report(host.inv, "eine", r.choice([2000, 3000, 4000]), host.mac, active=False)


@mischief("moves", 0.15)
def from_the_future(w, r):
    host = w.pick(r)
    seconds = r.choice([299, 300, 301, 4000])
    w.report(host.inv, "agent", 0, new_mac(r))
    w.reports["agent"][-1]["time"] = NOW + timedelta(seconds=seconds)


@mischief("moves", 0.12)
def timeless(w, r):
    host = w.pick(r)
    w.report(host.inv, "agent", 1, new_mac(r))
    w.reports["agent"][-1]["time"] = r.choice(["yesterday", "2026-13-01T00:00:00Z", "", None, 1795000000])


@mischief("moves", 0.15)
def unusable_mac(w, r):
    """Multicast or all zero, alone or beside a good report."""
    host = w.pick(r)
    if r.random() < 0.5:
        forget(w, host)
    w.report(host.inv, "agent", 1, r.choice(["00:00:00:00:00:00", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff"]))


@mischief("moves", 0.3)
def bad_report(w, r):
    """A report that is wrong in some other way: newer or older than the host's good ones, or all that it has."""
    host = w.pick(r)
    age = newest(w, host) + r.choice([-3, -2, 0, 1, 50])
    if r.random() < 0.2:
        forget(w, host)
    w.report(host.inv, r.choice(["agent", "agent", "eine"]), age,
             r.choice(["78:e3:b5:08:93", "78:e3:b5:08:93:zz", "", None, 1234]))


@mischief("moves", 0.06)
def report_of_wrong_shape(w, r):
    host = w.pick(r)
    age = newest(w, host) + r.choice([-2, 2])
    w.report(host.inv, "agent", age, host.mac, **r.choice([{"active": "no"}, {"switch": 7}, {"active": 0}]))


@mischief("moves", 0.12)
def bad_json(w, r):
    w.reports[r.choice(list(w.reports))].append(r.choice([
        '{"time":"2026-11-20T01:00:00Z","inv":', "[]", "nonsense", '"text"', '{"mac":"78:e3:b5:08:93:98"}',
        '{"time":"2026-11-20T01:00:00Z","inv":"many","mac":"78:e3:b5:08:93:98"}']))


@mischief("moves", 0.2)
def unknown_fields_and_hosts(w, r):
    w.report(w.new_inv(r), "agent", 20, new_mac(r))
    host = w.pick(r)
    w.report(host.inv, "agent", newest(w, host) + 40, host.mac, vendor="x")
