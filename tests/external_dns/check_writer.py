#!/usr/bin/env python3
"""Holds writer.py and reader.py against every table of registry.json. Exit status 1 on a difference.

Standard library only, Python 3.11.
"""
import json
import sys
from pathlib import Path

import aes_gcm  # noqa: F401  (reader needs it)
import plan_model
import reader
import writer

HERE = Path(__file__).parent
bad, counts = 0, {}


def compare(kind, name, got, want):
    global bad
    counts[kind] = counts.get(kind, 0) + 1
    if got != want:
        bad += 1
        print(f"  DIFFERENT {kind}: {name}\n    want {want!r}\n    got  {got!r}")


def unordered(records):
    return sorted(json.dumps(r, sort_keys=True) for r in records)


def check_mapper(data):
    for c in data["mapper_to_txt_name"]:
        compare("mapper_to_txt_name", c["source"], writer.to_txt_name(c, c["dns_name"], c["record_type"]), c["txt_name"])
    for c in data["mapper_to_endpoint_name"]:
        compare("mapper_to_endpoint_name", c["source"], reader.to_endpoint_name(c, c["txt_name"]),
                (c["dns_name"], c["record_type"]))
    for c in data["mapper_extra"]:
        if c["dns_name"] is not None:
            compare("mapper_extra", c["note"], writer.to_txt_name(c, c["dns_name"], c["record_type"]), c["txt_name"])
        compare("mapper_extra", c["note"], reader.to_endpoint_name(c, c["txt_name"]),
                (c["read_dns_name"], c["read_record_type"]))


def check_labels(data):
    for c in data["labels"]:
        key = c["aes_key"] and c["aes_key"].encode()
        got = reader.parse_labels(c["text"], key)
        nonce = got.pop("txt-encryption-nonce", None) if got is not None else None
        compare("labels", c["source"], (got, nonce), (c["labels"], c["nonce"]))
    for c in data["labels_extra"]:
        compare("labels_extra", c["note"], reader.parse_labels(c["text"]), c["labels"])
    for c in data["serialize"]:
        if c["aes_key"]:
            # What Go compresses, zlib does not give octet by octet. So this looks at the plain text only.
            plain, nonce = reader.decrypt(c["text"], c["aes_key"].encode())
            compare("serialize (plain text of an encrypted one)", c["source"],
                    (writer.serialize_labels(c["labels"]), nonce), (plain, c["nonce"]))
            continue
        text = writer.serialize_labels(c["labels"])
        compare("serialize", c["source"], f'"{text}"' if c["quotes"] else text, c["text"])
    for c in data["aes_keys"]:
        key = reader.usable_key(c["given"])
        compare("aes_keys", c["given"], (key is not None, key and key.hex()), (c["accepted"], c["key_hex"]))
    for c in data["decrypt"]:
        got = reader.decrypt(c["text"], c["aes_key"].encode())
        compare("decrypt", c["source"], got and got[0], c["plain"])


def check_records(data):
    for kind in ("records", "records_extra"):
        for c in data[kind]:
            got, _ = reader.read_zone(c["config"], c["zone"])
            short = [{**{k: r[k] for k in ("dns_name", "type", "targets", "ttl")}, "owner": r["labels"].get("owner", ""),
                      "resource": r["labels"].get("resource", ""), "force_update": r["force_update"]} for r in got]
            compare(kind, c["name"], unordered(short), unordered(c["expected"]))


def check_changes(data):
    for c in data["apply_changes"]:
        txt_names = reader.read_zone(c["config"], c["zone"])[1] if c["records_first"] else ()
        ch = c["changes"]
        got = reader.registry_changes(c["config"], {"create": ch["create"], "delete": ch["delete"],
                                                    "update_old": [u["old"] for u in ch["update"]],
                                                    "update_new": [u["new"] for u in ch["update"]]}, txt_names)
        kind = "apply_changes"
        if c["encrypted"]:
            kind = "apply_changes (encrypted, plain text compared)"
            key = reader.usable_key(c["config"]["aes_key"])
            for r in c["expected"]["delete"]:
                opened = reader.decrypt(r["targets"][0].strip('"'), key)
                r["targets"] = [f'"{opened[0]}"'] if opened else r["targets"]
        for part in ("create", "update_old", "update_new", "delete"):
            compare(kind, f"{c['name']} {part}", unordered(got[part]), unordered(c["expected"][part]))
    for c in data["generate"]:
        r = c["record"]
        got = reader.registry_changes(c["config"], {"create": [], "update_old": [], "update_new": [r], "delete": []})
        if r["labels"].get("owner") != c["config"]["owner"]:        # the Go test calls the inner function
            labels = {**r["labels"], **({"owner": c["config"]["owner"]} if c["config"]["old_owner"] else {})}
            made = writer.registry_txt(c["config"], r["dns_name"], r["type"], labels)
            txts = [made] if made else []
        else:
            txts = [(x["dns_name"], x["targets"][0]) for x in got["update_new"][1:]]
        compare("generate", c["name"], txts, [(x["dns_name"], x["targets"][0]) for x in c["expected"]])


def check_rounds(data):
    for c in data["rounds"]:
        for policy in c["policies"]:
            zone = list(c["zone"])
            for turn in (1, 2):
                current, txt_names = reader.read_zone(c["config"], zone)
                case = {"policy": policy, "owner": c["config"]["owner"], "old_owner": "",
                        "managed_types": c["config"]["managed_types"], "excluded_types": [],
                        "domain_filter": {"include": [], "exclude": []}}
                eps = [plan_model.Endpoint(r["dns_name"], r["type"], r["targets"], r["ttl"], labels=dict(r["labels"]),
                                           specific=[("txt/force-update", "true")] * r["force_update"]) for r in current]
                want = [plan_model.Endpoint(r["dns_name"], r["type"], r["targets"], r["ttl"], labels={}) for r in c["desired"]]
                out = plan_model.calculate(case, eps, want)
                changes = {k: [{"dns_name": e.DNSName, "type": e.RecordType, "targets": e.Targets, "ttl": e.RecordTTL,
                                "labels": e.Labels} for e in v] for k, v in out.items()}
                done = reader.registry_changes(c["config"], changes, txt_names)
                compare("rounds", f"{c['name']} {policy} round {turn}",
                        {k: unordered(v) for k, v in done.items()},
                        {"create": unordered(c["expected_create"] if turn == 1 else []),
                         "update_old": [], "update_new": [], "delete": []})
                zone += done["create"]


def check_whole_writer(data):
    """Puts the whole program on the creates of apply_changes and on a few zones with a result written by hand."""
    for c in data["apply_changes"]:
        made = c["expected"]["create"]
        if not made or c["encrypted"]:
            continue
        records = [{"name": r["dns_name"], "type": r["type"], "ttl": r["ttl"], "values": r["targets"],
                    "resource": r["labels"].get("resource")} for r in c["changes"]["create"]]
        lines = writer.write_zone({**c["config"], "records": records}, lambda _text: None)
        want = [{"name": r["dns_name"] + ".", "ttl": 0, "type": r["type"],
                 "value": r["targets"][0] + ("." if r["type"] == "CNAME" else "")} for r in made]
        compare("whole writer, apply_changes", c["name"], unordered(lines), unordered(want))

    def zone(name, cfg, records, want, warnings=0):
        seen = []
        lines = writer.write_zone({"owner": "me", **cfg, "records": records}, seen.append)
        compare("whole writer, by hand", name, ([tuple(x.values()) for x in lines], len(seen)), (want, warnings))

    own = '"heritage=external-dns,external-dns/owner=me"'
    foo = {"name": "Foo.example.org", "type": "A", "ttl": 300, "values": ["192.0.2.2", "192.0.2.1"]}
    zone("two values, case, TTL of the TXT", {}, [foo],
         [("Foo.example.org.", 300, "A", "192.0.2.2"), ("Foo.example.org.", 300, "A", "192.0.2.1"),
          ("a-Foo.example.org.", 0, "TXT", own)])
    zone("the least TTL", {"min_ttl": 600}, [foo],
         [("Foo.example.org.", 600, "A", "192.0.2.2"), ("Foo.example.org.", 600, "A", "192.0.2.1"),
          ("a-Foo.example.org.", 600, "TXT", own)])
    apex = {"name": "example.org", "type": "AAAA", "ttl": 60, "values": ["2001:DB8:0::1"], "resource": "crd/dns/x"}
    txt = '"heritage=external-dns,external-dns/owner=me,external-dns/resource=crd/dns/x"'
    zone("apex, prefix with template and dot, another TTL of the TXT",
         {"prefix": "TXT-%{record_type}.", "zone": "example.org", "default_ttl_of_txt": 300}, [apex],
         [("example.org.", 60, "AAAA", "2001:db8::1"), ("txt-aaaa.example.org.", 300, "TXT", txt)])
    zone("apex without a prefix: the TXT is outside", {"zone": "example.org"}, [apex],
         [("example.org.", 60, "AAAA", "2001:db8::1")], 1)
    wild = {"name": "*.example.org", "type": "CNAME", "values": ["lb.example.net"]}
    zone("wildcard", {"wildcard_replacement": "Any", "suffix": "-Reg"}, [wild],
         [("*.example.org.", 0, "CNAME", "lb.example.net."), ("cname-any-reg.example.org.", 0, "TXT", own)])
    zone("wildcard without a replacement", {}, [wild],
         [("*.example.org.", 0, "CNAME", "lb.example.net."), ("cname-*.example.org.", 0, "TXT", own)])
    label = "x" * 62
    zone("a label that gets too long", {}, [{"name": label + ".example.org", "type": "A", "values": ["192.0.2.1"]}],
         [(label + ".example.org.", 0, "A", "192.0.2.1")], 1)
    zone("a TXT name with a CNAME", {}, [{"name": "a-foo.example.org", "type": "CNAME", "values": ["x.example."]},
                                         {"name": "foo.example.org", "type": "A", "values": ["192.0.2.1"]}],
         [("a-foo.example.org.", 0, "CNAME", "x.example."), ("foo.example.org.", 0, "A", "192.0.2.1"),
          ("cname-a-foo.example.org.", 0, "TXT", own)], 1)
    long = "r" * 300
    text = f"heritage=external-dns,external-dns/owner=me,external-dns/resource={long}"
    zone("a text of more than 255 octets", {},
         [{"name": "foo.example.org", "type": "A", "values": ["192.0.2.1"], "resource": long}],
         [("foo.example.org.", 0, "A", "192.0.2.1"), ("a-foo.example.org.", 0, "TXT", f'"{text[:255]}" "{text[255:]}"')])
    zone("other types", {}, [{"name": "example.org", "type": "MX", "values": ["10 mx.example.org"]},
                             {"name": "_s._tcp.example.org", "type": "SRV", "values": ["1 2 3 h.example.org."]},
                             {"name": "t.example.org", "type": "TXT", "values": ["two words", '"one string"']}],
         [("example.org.", 0, "MX", "10 mx.example.org."), ("_s._tcp.example.org.", 0, "SRV", "1 2 3 h.example.org."),
          ("t.example.org.", 0, "TXT", '"two" "words"'), ("t.example.org.", 0, "TXT", '"one string"'),
          ("mx-example.org.", 0, "TXT", own), ("srv-_s._tcp.example.org.", 0, "TXT", own), ("txt-t.example.org.", 0, "TXT", own)])


def main():
    data = json.loads((HERE / "registry.json").read_text())
    print(f"begin: registry.json, external-dns {data['origin']['tag']} {data['origin']['commit']}")
    for check in (check_mapper, check_labels, check_records, check_changes, check_rounds, check_whole_writer):
        check(data)
    for kind, n in counts.items():
        print(f"  {kind}: {n} compared")
    print(f"end: {'PASS' if bad == 0 else f'FAIL, {bad} differences'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
