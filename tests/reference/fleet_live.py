"""Mischiefs in the live zones: records that are wrong, missing, elsewhere, not ours, or not ours to touch."""

from datetime import timedelta
from ipaddress import IPv4Address

from fleet_build import fresh_name
from fleet_inventory import release_time
from fleet_macs import newest
from fleet_mischief import mischief
from fleet_model import NOW, OWNER, LockRow, NothingToDamage, heritage_name, reverse_name, under

FOREIGN_OWNERS = ["other-team", "fleet-dns2", "Fleet-DNS", "fleet"]


def published(w, r, where=lambda host: True):
    """An interface, and one of its addresses that is live at it."""
    for _ in range(20):
        _, interface = w.pick_interface(r, where)
        live = [a for a in interface.addresses if str(a) in w.get(interface.name, "AAAA")]
        if live:
            return interface, r.choice(live)
    raise NothingToDamage


def zone_for(w, name, apex=False):
    """The zone of a name that is (or is not) its apex."""
    zone = w.zone_of(name)
    if zone is None or (zone.name == name and not apex):
        raise NothingToDamage
    return zone


def clear_below(zone, name, share, r):
    """Remove a share of what lies below a name; what is left is occluded, not live."""
    for key in list(zone.rrsets):
        if key[0] != name and under(key[0], name) and r.random() < share:
            del zone.rrsets[key]


def has_cut(zone, name):
    return any((name, t) in zone.rrsets for t in ("NS", "DNAME", "CNAME"))


# AAAA at the name.

@mischief("live", 0.5, many=True)
def wrong_address(w, r):
    """Another address instead of the right one, or beside it; with its PTR or without."""
    interface, right = published(w, r)
    wrong = w.stray(r)
    if r.random() < 0.6:
        w.drop(interface.name, "AAAA", str(right))
    if r.random() < 0.6:
        w.drop(reverse_name(right), "PTR")
    w.publish(r, interface.name, "AAAA", str(wrong))
    if r.random() < 0.6:
        w.publish(r, reverse_name(wrong), "PTR", interface.name)


@mischief("live", 0.35, many=True)
def second_acceptable(w, r):
    """Several acceptable addresses live at once, or only one that is not preferred; PTR kept or not."""
    _, interface = w.pick_interface(r)
    for _ in range(10):
        if len(interface.addresses) > 1:
            break
        _, interface = w.pick_interface(r)
    for address in interface.addresses[1:]:
        w.pair(r, interface.name, address)
        if r.random() < 0.4:
            w.drop(reverse_name(address), "PTR")
    if r.random() < 0.4 and len(interface.addresses) > 1:
        w.drop(interface.name, "AAAA", str(interface.addresses[0]))


@mischief("live", 0.5, many=True)
def nothing_published(w, r):
    _, interface = w.pick_interface(r)
    for name, rtype in [(interface.name, "AAAA"), *((reverse_name(a), "PTR") for a in interface.addresses)]:
        w.drop(name, rtype)
        if r.random() < 0.8 and w.zone_of(name):
            w.drop(heritage_name(name, rtype), "TXT")


@mischief("live", 0.25, many=True)
def no_address(w, r):
    _, interface = w.pick_interface(r)
    w.drop(interface.name, "AAAA")
    w.drop(heritage_name(interface.name, "AAAA"), "TXT")


# The right address elsewhere.

@mischief("live", 0.4, many=True)
def address_at_another_host(w, r):
    interface, address = published(w, r)
    _, other = w.pick_interface(r)
    w.publish(r, other.name, "AAAA", str(address))
    if r.random() < 0.4:
        w.drop(interface.name, "AAAA", str(address))
    if r.random() < 0.4:
        w.put(reverse_name(address), "PTR", other.name)


@mischief("live", 0.3)
def address_at_a_frozen_host(w, r):
    """At a name of a host that is skipped or `bad-input`; or a frozen host's PTR at the address."""
    _, address = published(w, r)
    frozen = w.pick(r)
    other = r.choice(w.interfaces(frozen))
    if r.random() < 0.7:
        w.publish(r, other.name, "AAAA", str(address), own=1)
    else:
        w.publish(r, reverse_name(address), "PTR", other.name)
    if r.random() < 0.6:
        frozen.restrictions = "automated-dns"
    else:
        w.report(frozen.inv, "agent", newest(w, frozen) - 1, "not-a-mac")


@mischief("live", 0.35, many=True)
def address_at_a_foreign_name(w, r):
    _, address = published(w, r)
    zone = zone_for(w, r.choice(w.pick(r).name.split(".", 1)), apex=True)
    name = f"{r.choice(['www', 'shop', 'a.b', 'static'])}.{zone.name}"
    if name.endswith(".arpa."):
        raise NothingToDamage
    if r.random() < 0.4:
        w.drop(name, "AAAA")
    w.publish(r, name, "AAAA", str(address), own=r.choice([0, 0, 1]))
    if r.random() < 0.3:
        w.put(reverse_name(address), "PTR", name)


@mischief("live", 0.3)
def address_at_apex_or_wildcard(w, r):
    interface, address = published(w, r)
    zone = zone_for(w, interface.name)
    w.publish(r, r.choice([zone.name, f"*.{zone.name}"]), "AAAA", str(address), own=1)


@mischief("live", 0.25)
def address_where_mx_or_ns_point(w, r):
    """The address at a name that would be cleared, were it not that the zones' own data need it."""
    _, address = published(w, r)
    _, other = w.pick_interface(r)
    zone = zone_for(w, other.name)
    name = r.choice([other.name, f"mail.{zone.name}", f"ns1.{zone.name}"])
    w.publish(r, name, "AAAA", str(address), own=1)
    if r.random() < 0.7:
        w.put(zone.name, "MX", f"20 {name}")
    else:
        w.put(f"sub.{zone.name}", "NS", name)
    if r.random() < 0.3:
        w.put(reverse_name(address), "PTR", name)


@mischief("live", 0.2)
def protected_name_or_reverse_name(w, r):
    """Protected is where something stands that rules would remove, or the reverse name of what somebody needs."""
    names = [name for zone in w.zones for name, rtype in zone.rrsets if rtype in ("AAAA", "PTR") and name != zone.name]
    if not names:
        raise NothingToDamage
    name = r.choice(names)
    start, rest = name[:-1].split(".", 1)
    zone_for(w, name).protect.append(r.choice([name[:-1], name, f"{start[:-1]}?.{rest}", f"{start[:1]}*.{rest}"]))


@mischief("live", 0.15)
def host_is_a_name_server(w, r):
    _, interface = w.pick_interface(r)
    zone = zone_for(w, interface.name)
    w.put(r.choice([zone.name, zone.name, f"sub.{zone.name}"]), "NS", interface.name)


@mischief("live", 0.35, many=True)
def address_at_a_former_name(w, r):
    """At a name that only names.lock knows, released lately or long ago, or still current without a host."""
    _, address = published(w, r)
    rows = [x for x in w.lock if isinstance(x, LockRow) and x.released]
    if not rows or r.random() < 0.3:
        project = w.pick_running(r)
        w.row(w.new_inv(r), fresh_name(w, r, project, r.choice(w.locations)), project.id, r,
              r.choice([None, release_time(w, r)]))
        rows = w.lock[-1:]
    row = r.choice(rows)
    name = r.choice([row.name, w.fastbone_of(row.name, w.projects[row.project]) or row.name])
    w.publish(r, name, "AAAA", str(address))
    if r.random() < 0.3:
        w.put(reverse_name(w.stray(r)), "PTR", name)


@mischief("live", 0.2)
def address_taken_from_a_name_that_ptr_need(w, r):
    """Removing the address by rule 3 leaves a PTR elsewhere that names nothing."""
    _, address = published(w, r)
    row = next((x for x in w.lock if isinstance(x, LockRow) and x.released), None)
    zone = zone_for(w, w.pick(r).name)
    name = row.name if row and r.random() < 0.5 else f"old-www.{zone.name}"
    w.publish(r, name, "AAAA", str(address), own=1)
    w.put(reverse_name(w.stray(r)), "PTR", name)


# Reverse records.

@mischief("live", 0.5, many=True)
def missing_ptr(w, r):
    _, address = published(w, r)
    w.drop(reverse_name(address), "PTR")
    if r.random() < 0.7:
        w.drop(heritage_name(reverse_name(address), "PTR"), "TXT")


@mischief("live", 0.5, many=True)
def wrong_ptr(w, r):
    """The PTR names something else, alone or beside the right name."""
    _, address = published(w, r)
    _, other = w.pick_interface(r)
    reverse = reverse_name(address)
    if r.random() < 0.6:
        w.drop(reverse, "PTR")
    for name in r.choice([[other.name], [other.name, "a.example.com."], ["a.example.com."], [f"www.{other.name}"]]):
        w.put(reverse, "PTR", name)


@mischief("live", 0.45, many=True)
def ptr_elsewhere(w, r):
    """The PTR of O at an address that is nobody's, that is another host's, or an IPv4 one."""
    interface, _ = published(w, r)
    _, other = w.pick_interface(r)
    address = r.choice([w.stray(r), w.stray(r), other.addresses[0], IPv4Address(f"178.154.131.{r.randint(1, 254)}")])
    w.publish(r, reverse_name(address), "PTR", interface.name)


@mischief("live", 0.2)
def ptr_of_an_address_not_kept(w, r):
    """PTR that name O at acceptable addresses that are not live at O."""
    _, interface = w.pick_interface(r)
    for address in interface.addresses:
        w.publish(r, reverse_name(address), "PTR", interface.name)


@mischief("live", 0.12)
def ptr_at_half_an_address(w, r):
    interface, address = published(w, r)
    reverse = reverse_name(address).split(".", r.randint(1, 6))[-1]
    if w.zone_of(reverse):
        w.put(r.choice([reverse, f"0.{reverse_name(address)}"]), "PTR", interface.name)


@mischief("live", 0.4, many=True)
def wrong_ttl(w, r):
    interface, address = published(w, r)
    for name, rtype in r.choice([[(interface.name, "AAAA")], [(reverse_name(address), "PTR")],
                                 [(interface.name, "AAAA"), (reverse_name(address), "PTR")]]):
        zone = w.zone_of(name)
        if zone and (name, rtype) in zone.rrsets:
            zone.rrsets[name, rtype][0] = r.choice([60, 300, 86400])


# IPv4 hosts.

@mischief("live", 0.9, many=True)
def trouble_at_an_ipv4_address(w, r):
    """The PTR of an own A address: missing, wrong, several, with another TTL, at a CNAME, or delegated."""
    host = w.pick(r, lambda h: any(w.zone_of(reverse_name(a)) for a in h.v4))
    address = r.choice([a for a in host.v4 if w.zone_of(reverse_name(a))])
    reverse = reverse_name(address)
    zone = w.zone_of(reverse)
    kind = r.choice(["missing", "wrong", "wrong", "beside", "beside", "ttl", "cname", "delegated", "other host's"])
    if kind in ("missing", "wrong", "cname"):
        w.drop(reverse)
    if kind == "missing":
        w.drop(heritage_name(reverse, "PTR"), "TXT")
    if kind in ("wrong", "beside"):
        w.publish(r, reverse, "PTR", "legacy.example.com.")
    if kind == "other host's":
        w.publish(r, reverse, "PTR", w.pick_interface(r)[1].name)
    if kind == "ttl" and (reverse, "PTR") in zone.rrsets:
        zone.rrsets[reverse, "PTR"][0] = 60
    if kind == "cname":
        w.put(reverse, "CNAME", f"{int(address) & 255}.sub.{zone.name}")
    if kind == "delegated" and not has_cut(zone, reverse):
        w.put(reverse, "NS", "ns.example.com.")


@mischief("live", 0.15)
def a_record_elsewhere(w, r):
    """A records where nobody expects them: at a fastbone name, at www, or at an address nobody maps."""
    host, interface = w.pick_interface(r)
    address = IPv4Address(f"178.154.{r.randint(130, 132)}.{r.randint(1, 254)}")
    if r.random() < 0.6:
        interface = w.interfaces(host)[-1]
        w.put(interface.name, "A", str(address))
    else:
        w.put(f"www.{zone_for(w, interface.name).name}", "A", str(address))
    if r.random() < 0.5:
        w.put(reverse_name(address), "PTR", r.choice([interface.name, "x.example.com."]))


# Cuts.

@mischief("live", 0.2)
def delegated_host(w, r):
    _, interface = w.pick_interface(r)
    if has_cut(zone_for(w, interface.name), interface.name):
        raise NothingToDamage
    w.put(interface.name, "NS", "ns.example.com.")


@mischief("live", 0.05)
def delegated_domain(w, r):
    """The whole domain of a project, or a network, is delegated to servers that are not configured."""
    _, interface = w.pick_interface(r)
    name = r.choice([interface.name.split(".", 1)[1], reverse_name(interface.addresses[0]).split(".", 16)[-1]])
    zone = zone_for(w, name)
    if any(under(z.name, name) for z in w.zones) or has_cut(zone, name):
        raise NothingToDamage
    w.put(name, r.choice(["NS", "NS", "DNAME"]), "elsewhere.example.com.")
    clear_below(zone, name, r.choice([0, 0.5, 1]), r)


@mischief("live", 0.3)
def cut_in_reverse_zone(w, r):
    """An NS or a DNAME somewhere between the zone's apex and a PTR; what lies below is not live."""
    _, interface = w.pick_interface(r)
    reverse = reverse_name(r.choice(interface.addresses))
    zone = zone_for(w, reverse)
    name = reverse.split(".", r.choice([0, 0, 1, 2, 4]))[-1]
    if not under(name, zone.name) or name == zone.name or has_cut(zone, name):
        raise NothingToDamage
    if r.random() < 0.6 or name == reverse:
        w.put(name, "NS", "ns.example.com.")
    else:
        w.put(name, "DNAME", "elsewhere.example.com.")
    clear_below(zone, name, r.choice([0, 0, 1]), r)


@mischief("live", 0.12)
def dname_at_host(w, r):
    """A DNAME at a host's name cuts off what is below it, not the name itself."""
    _, interface = w.pick_interface(r)
    zone = zone_for(w, interface.name)
    if has_cut(zone, interface.name):
        raise NothingToDamage
    w.put(interface.name, "DNAME", "elsewhere.example.com.")
    w.put(f"below.{interface.name}", "AAAA", str(interface.addresses[0]))


@mischief("live", 0.3)
def records_below_a_cut(w, r):
    """Right addresses and PTR where no rule may see them: below a delegation, a DNAME, or another zone's apex."""
    interface, address = published(w, r)
    zone = zone_for(w, interface.name)
    parent = next((z for z in w.zones if z is not zone and under(zone.name, z.name)), None)
    if parent and r.random() < 0.5:
        w.put(r.choice([interface.name, f"www.{zone.name}", "x." + zone.name]), "AAAA",
              r.choice([str(address), str(w.stray(r))]), zone=parent)
        return
    cut = f"cut{r.randint(1, 3)}.{zone.name}"
    if not has_cut(zone, cut):
        w.put(cut, *r.choice([("NS", f"ns.{cut}"), ("DNAME", "elsewhere.example.com.")]))
    w.put(f"ns.{cut}", "AAAA", str(address))
    if (cut, "NS") in zone.rrsets:
        w.put(cut, "AAAA", str(address))


@mischief("live", 0.25)
def cname_at_host(w, r):
    """A CNAME at a host's name or at a reverse name."""
    interface, address = published(w, r)
    name = r.choice([interface.name, reverse_name(address)])
    zone = zone_for(w, name)
    if has_cut(zone, name):
        raise NothingToDamage
    w.drop(name)
    w.put(name, "CNAME", r.choice(["www.example.net.", "x.example.com."]))


@mischief("live", 0.12)
def cname_at_registry_name(w, r):
    """Where the registry TXT would have to be written; the RRset itself is missing."""
    interface, address = published(w, r)
    name, rtype = r.choice([(interface.name, "AAAA"), (reverse_name(address), "PTR")])
    zone_for(w, name)
    w.drop(name, rtype)
    w.drop(heritage_name(name, rtype))
    w.put(heritage_name(name, rtype), "CNAME", "x.example.com.")


@mischief("live", 0.06)
def crowded_rrset(w, r):
    """A hundred records, so that one more is too many."""
    _, interface = w.pick_interface(r)
    zone = zone_for(w, interface.name)
    w.drop(interface.name, "AAAA")
    w.drop(heritage_name(interface.name, "AAAA"))
    for number in range(r.choice([99, 100])):
        w.put(heritage_name(interface.name, "AAAA"), "TXT", f"note {number}", zone=zone)


# The registry.

@mischief("live", 0.5, many=True)
def registry_damage(w, r):
    """The registry TXT of a live RRset: a foreign owner's, missing, several, or beside something else."""
    interface, address = published(w, r)
    name, rtype = r.choice([(interface.name, "AAAA"), (reverse_name(address), "PTR")])
    zone_for(w, name)
    kind = r.choice(["foreign", "missing", "both", "note", "twice"])
    if kind in ("foreign", "missing"):
        w.drop(heritage_name(name, rtype), "TXT")
    if kind in ("foreign", "both"):
        w.register(name, rtype, r.choice(FOREIGN_OWNERS))
    if kind == "twice":
        w.register(name, rtype, OWNER, "host/1")
        w.register(name, rtype, OWNER, "host/2")
    if kind == "note":
        w.put(heritage_name(name, rtype), "TXT", "heritage=nobody")


@mischief("live", 0.4, many=True)
def registry_without_rrset(w, r):
    """A registry TXT where the RRset is missing: ours, foreign, or both; also the PTR of an IPv4 address."""
    host, interface = w.pick_interface(r)
    names = [(interface.name, "AAAA"), (reverse_name(interface.addresses[0]), "PTR")]
    names += [(reverse_name(a), "PTR") for a in host.v4] * 3
    name, rtype = r.choice(names)
    zone_for(w, name)
    w.drop(name, rtype)
    w.drop(heritage_name(name, rtype), "TXT")
    for owner in r.choice([[OWNER], FOREIGN_OWNERS[:1], FOREIGN_OWNERS[2:3], [OWNER, "other-team"]]):
        w.register(name, rtype, owner)


@mischief("live", 0.15)
def registry_of_another_type(w, r):
    interface, _ = published(w, r)
    zone_for(w, interface.name)
    w.register(interface.name, r.choice(["A", "CNAME", "TXT"]), r.choice([OWNER, "other-team"]))


# Released names, orphans, first publication.

@mischief("live", 0.6, many=True)
def released_but_live(w, r):
    """A name given up, still in DNS: with its fastbone, its PTR, own or not."""
    project = w.pick_running(r) if r.random() < 0.8 else r.choice(
        [p for p in w.projects.values() if p.table != "absent"])
    name = fresh_name(w, r, project, r.choice(w.locations), r.choice(project.domains))
    inv = r.choice([w.new_inv(r), *[h.inv for h in w.hosts]])
    w.row(inv, name, project.id, r, release_time(w, r))
    for live in r.choice([[name], [name, w.fastbone_of(name, project)], [w.fastbone_of(name, project)]]):
        for address in [w.stray(r) for _ in range(r.choice([0, 1, 1, 2]))] if live else []:
            w.pair(r, live, address, own=r.choice([None, 1]))
        if live and r.random() < 0.2:
            w.put(reverse_name(w.stray(r)), "PTR", live)
    if r.random() < 0.15:
        w.put(w.zone_of(project.domain).name, "MX", f"30 {name}")


@mischief("live", 0.2)
def released_and_back(w, r):
    """The released name is a host's again: by hosts.csv, by a current row, or as a fastbone's."""
    host = w.pick(r, lambda h: w.projects[h.project].table != "absent")
    project = w.projects[host.project]
    name = r.choice([host.name, w.fastbone_of(host.name, project) or host.name])
    if name.split(".", 1)[1] not in project.domains:
        raise NothingToDamage
    current = {x.inv for x in w.lock if isinstance(x, LockRow) and x.name == name}
    inv = r.choice([h.inv for h in w.hosts if h.inv not in current])
    w.row(inv, name, host.project, r, NOW - timedelta(hours=r.randint(1, 50)))


@mischief("live", 0.6, many=True)
def orphan(w, r):
    """An address at a name that nobody has, in the domain of a project; own or not; with PTR or without."""
    projects = [p for p in w.projects.values() if p.policy == "sync"] or list(w.projects.values())
    project = r.choice(projects)
    zone = w.zone_of(project.domain)
    label = r.choice(["gone1", "gone2", "sas9-9999", "fb-gone", "a.deep", "www"])
    name = f"{label}.{r.choice([project.domain, project.domain, zone.name, *project.domains])}"
    own = r.choice([0, 1, 1, 1])
    for address in [w.stray(r) for _ in range(r.choice([1, 1, 2]))]:
        w.publish(r, name, "AAAA", str(address), own=own)
        if r.random() < 0.7:
            w.publish(r, reverse_name(address), "PTR", name, own=r.choice([own, 1]))
    if r.random() < 0.1:
        w.put(zone.name, "MX", f"40 {name}")


@mischief("live", 0.35)
def first_publication(w, r):
    """The owner's switch is off; hosts with a current row and no AAAA at the backbone name are published even so."""
    projects = [p for p in w.projects.values() if p.table == "allowed"]
    if len(projects) == 1 and r.random() < 0.8:
        raise NothingToDamage
    project = r.choice(projects[1:] or projects)
    project.automation = False
    for host in [h for h in w.hosts if h.project == project.id and h.name]:
        if r.random() < 0.4 and any(isinstance(x, LockRow) and x.inv == host.inv and not x.released for x in w.lock):
            for interface in w.interfaces(host)[: r.choice([1, 2])]:
                w.drop(interface.name, "AAAA")
                w.drop(heritage_name(interface.name, "AAAA"), "TXT")
                for address in interface.addresses if r.random() < 0.6 else ():
                    w.drop(reverse_name(address), "PTR")
                    w.drop(heritage_name(reverse_name(address), "PTR"), "TXT")
