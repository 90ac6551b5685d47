"""A model in Python of the plan that external-dns v0.22.0 makes.

This file is not a copy. It states in Python what plan/plan.go, plan/conflict.go, plan/policy.go and
endpoint/endpoint.go (Targets.Same, Targets.IsLess) do. It serves two purposes: extract.py uses it to fill in
the results that a Go test does not state itself, and check_plan.py uses it to check every case of plan.json.

Standard library only, Python 3.11.
"""
import functools
import ipaddress

POLICIES = ("sync", "upsert-only", "create-only")


class Endpoint:
    """One record set, as external-dns holds it. Two names for one object see the same changes, as in Go."""

    def __init__(self, dns_name="", rtype="", targets=(), ttl=0, set_identifier="", labels=None, specific=()):
        self.DNSName = dns_name
        self.RecordType = rtype
        self.Targets = list(targets)
        self.RecordTTL = ttl
        self.SetIdentifier = set_identifier
        self.Labels = labels
        self.ProviderSpecific = [tuple(p) for p in specific]

    def label(self, key):
        """The value of a label. "" stands for a label that is missing."""
        return (self.Labels or {}).get(key, "")

    def to_json(self):
        labels = self.Labels or {}
        return {
            "dns_name": self.DNSName,
            "type": self.RecordType,
            "targets": list(self.Targets),
            "ttl": self.RecordTTL,
            "owner": labels.get("owner"),
            "resource": labels.get("resource"),
            "set_identifier": self.SetIdentifier,
            "provider_specific": dict(self.ProviderSpecific),
        }

    @classmethod
    def from_json(cls, o):
        labels = {k: o[k] for k in ("owner", "resource") if o[k] is not None}
        return cls(o["dns_name"], o["type"], o["targets"], o["ttl"], o["set_identifier"], labels,
                   o["provider_specific"].items())


def address(text):
    """The IP address that the text is, or None."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def address_order(a):
    """IPv4 comes before IPv6. Inside one version the number decides."""
    return (a.version, int(a))


def cmp_sort(a, b):
    """The order of the targets in one list: plain text order, also for two addresses (as text, in short form)."""
    ia, ib = address(a), address(b)
    if ia is not None and ib is not None:
        a, b = str(ia), str(ib)
    return (a.encode() > b.encode()) - (a.encode() < b.encode())


def sorted_targets(targets):
    return sorted(targets, key=functools.cmp_to_key(cmp_sort))


def same_targets(t, o):
    """Whether two lists say the same.

    A pair of texts is the same without regard to case. The FIRST pair that differs so decides alone if both are
    addresses: external-dns then does not look at the rest.
    """
    if len(t) != len(o):
        return False
    for a, b in zip(sorted_targets(t), sorted_targets(o)):
        if a.casefold() != b.casefold():
            ia, ib = address(a), address(b)
            return ia is not None and ib is not None and ia == ib
    return True


def is_less(t, o):
    """Whether list t comes before list o: fewer targets first, then the first target that differs decides."""
    if len(t) != len(o):
        return len(t) < len(o)
    for a, b in zip(sorted_targets(t), sorted_targets(o)):
        if a != b:
            ia, ib = address(a), address(b)
            if ia is not None and ib is not None:
                return address_order(ia) < address_order(ib)
            if ia is not None:
                return True
            if ib is not None:
                return False
            return a.encode() < b.encode()
    return False


def compare(a, b):
    if is_less(a.Targets, b.Targets):
        return -1
    return 1 if is_less(b.Targets, a.Targets) else 0


def resolve_create(candidates):
    """The least candidate. Of equal ones the first in the list wins."""
    best = candidates[0]
    for c in candidates[1:]:
        if compare(c, best) < 0:
            best = c
    return best


def resolve_update(current, candidates):
    """The least candidate with the resource of the current record. If there is none: the least of all."""
    candidates.sort(key=functools.cmp_to_key(compare))
    for c in candidates:
        if c.label("resource") == current.label("resource"):
            return c
    return resolve_create(candidates)


def resolve_types(row):
    """Discards the wanted CNAMEs of a name if another type is wanted there too. The current CNAME stays in the row."""
    types = {c.RecordType for c in row["candidates"]}
    if "CNAME" not in types or len(types) == 1:
        return row["records"]
    return {t: {"current": r["current"], "candidates": [] if t == "CNAME" else r["candidates"]}
            for t, r in row["records"].items()}


def normal_name(name):
    """The key of a name: no space around it, lower case, A-labels, one dot at the end."""
    name = name.strip().lower()
    if not name.isascii():
        name = name.encode("idna").decode()
    return name if name.endswith(".") else name + "."


def filter_match(domain_filter, name):
    """Whether a name passes the domain filter {"include": [...], "exclude": [...]}."""
    def any_of(filters, if_empty):
        if not filters:
            return if_empty
        n = name.strip().lower().rstrip(".")
        return any((f.startswith(".") and n.endswith(f)) or n == f or n.endswith("." + f) for f in filters)
    return any_of(domain_filter["include"], True) and not any_of(domain_filter["exclude"], False)


def owned_by(owner, endpoints):
    return [e for e in endpoints if (e.Labels or {}).get("owner") == owner]


def calculate(case, current, desired):
    """The changes as lists of Endpoint: create, update_old, update_new, delete."""
    def relevant(eps):
        return [e for e in eps if filter_match(case["domain_filter"], e.DNSName)
                and e.RecordType in case["managed_types"] and e.RecordType not in case["excluded_types"]]

    rows = {}
    for kind, eps in (("current", relevant(current)), ("candidates", relevant(desired))):
        for e in eps:
            row = rows.setdefault((normal_name(e.DNSName), e.SetIdentifier),
                                  {"current": [], "candidates": [], "records": {}})
            row[kind].append(e)
            slot = row["records"].setdefault(e.RecordType, {"current": None, "candidates": []})
            if kind == "current":
                slot["current"] = e
            else:
                slot["candidates"].append(e)

    out = {"create": [], "update_old": [], "update_new": [], "delete": []}
    for row in rows.values():
        if not row["candidates"]:
            out["delete"] += row["current"]
            continue
        creates = []
        for slot in resolve_types(row).values():
            cur, cands = slot["current"], slot["candidates"]
            if not cands:
                if cur is not None:
                    out["delete"].append(cur)
            elif cur is None:
                creates.append(resolve_create(cands))
            else:
                new = resolve_update(cur, cands)
                ttl_differs = new.RecordTTL > 0 and new.RecordTTL != cur.RecordTTL
                migrates = case["old_owner"] != "" and cur.label("owner") != case["old_owner"]
                if (ttl_differs or not same_targets(new.Targets, cur.Targets) or migrates
                        or dict(new.ProviderSpecific) != dict(cur.ProviderSpecific)):
                    new.Labels = {} if new.Labels is None else new.Labels
                    new.Labels["owner"] = cur.label("owner")
                    out["update_old"].append(cur)
                    out["update_new"].append(new)
        if case["owner"] == "" or len(owned_by(case["owner"], row["current"])) == len(row["current"]):
            out["create"] += creates

    if case["policy"] in ("upsert-only", "create-only"):
        out["delete"] = []
    if case["policy"] == "create-only":
        out["update_old"], out["update_new"] = [], []

    if case["owner"] != "":
        seen, once = set(), []
        for e in owned_by(case["owner"], out["delete"]):
            key = (e.DNSName, e.RecordType, e.SetIdentifier)
            if key not in seen:
                seen.add(key)
                once.append(e)
        out["delete"] = once
        out["update_old"] = owned_by(case["owner"], out["update_old"])
        out["update_new"] = owned_by(case["owner"], out["update_new"])
    return out


def as_expected(out):
    """The changes in the form of plan.json: sorted, old and new of an update in one object."""
    def key(o):
        return (o["dns_name"], o["set_identifier"], o["type"], o["targets"], o["ttl"])
    return {
        "create": sorted((e.to_json() for e in out["create"]), key=key),
        "update": sorted(({"old": a.to_json(), "new": b.to_json()}
                          for a, b in zip(out["update_old"], out["update_new"], strict=True)),
                         key=lambda u: key(u["new"])),
        "delete": sorted((e.to_json() for e in out["delete"]), key=key),
    }
