#!/usr/bin/env python3
"""Writes a zone the way external-dns v0.22.0 leaves it (rfc2136 provider, txt registry, no encryption).

Use: writer.py < input.json > records.jsonl

The input is one JSON object:

  owner                 the owner id (--txt-owner-id). Must not be empty.
  prefix, suffix        --txt-prefix and --txt-suffix. At most one of them. Each may hold %{record_type}.
  wildcard_replacement  --txt-wildcard-replacement.
  min_ttl               --rfc2136-min-ttl in seconds. Default 0.
  default_ttl_of_txt    the TTL of every registry TXT. Default: min_ttl, as the rfc2136 provider does it.
                        Other providers: Route 53, Azure and PowerDNS have 300.
  zone                  the zone's name. Optional. If it is given, a registry TXT outside the zone is left out.
  records               a list of objects: name, type, ttl (0 or missing = not set), values (a list),
                        resource (missing or null = no such label), labels (more labels, optional).

The output has one JSON object a line, one line a record: name, ttl, type, value. Names are absolute. The value is
in the presentation form of a master file. First come the records, then the registry TXT: external-dns sends them
in this order. Warnings go to standard error.

The rules come from reading external-dns, tag v0.22.0: registry/mapper/mapper.go, registry/txt/registry.go,
endpoint/labels.go, endpoint/endpoint.go, provider/rfc2136/rfc2136.go. No code was taken over.

Standard library only, Python 3.11.
"""
import ipaddress
import json
import re
import sys

TEMPLATE = "%{record_type}"


class Refused(Exception):
    """The input is not something that external-dns writes, or not something that this program covers."""


def ascii_lower(text):
    """Lower case as Go's strings.ToLower does it."""
    return text.lower()


def to_txt_name(cfg, dns_name, record_type):
    """The name of the registry TXT for a record. The name is given and returned without a dot at the end.

    Only the first label changes. The prefix, the suffix, the wildcard replacement and the type are in lower case.
    The record's own name keeps its case.
    """
    prefix, suffix = ascii_lower(cfg.get("prefix", "")), ascii_lower(cfg.get("suffix", ""))
    wildcard = ascii_lower(cfg.get("wildcard_replacement", ""))
    rtype = ascii_lower(record_type)
    first, dot, rest = dns_name.partition(".")
    if first == "*" and wildcard:
        first = wildcard
    if TEMPLATE not in prefix and TEMPLATE not in suffix:
        first = rtype + "-" + first
    return prefix.replace(TEMPLATE, rtype) + first + suffix.replace(TEMPLATE, rtype) + dot + rest


def serialize_labels(labels):
    """The text of a registry TXT without quotes: the heritage, then the labels in the order of their names."""
    parts = ["heritage=external-dns"]
    for key in sorted(labels, key=str.encode):
        if key != "txt-encryption-nonce":
            parts.append(f"external-dns/{key}={labels[key]}")
    return ",".join(parts)


def registry_txt(cfg, dns_name, record_type, labels):
    """The registry TXT of a record: its name and its target, or None if external-dns makes none.

    The target has its quotes: they are part of the text that external-dns gives to a provider. A TXT name with a
    label of more than 63 octets gives no TXT at all. The record itself is written all the same.
    """
    name = to_txt_name(cfg, dns_name, record_type)
    if any(len(label.encode()) > 63 for label in name.split(".")):
        return None
    return name.removesuffix("."), '"' + serialize_labels(labels) + '"'


def absolute(name):
    return name if name.endswith(".") else name + "."


def ttl_of(cfg, ttl):
    """The TTL of a record: its own if it is set and larger than the minimum, else the minimum."""
    least = cfg.get("min_ttl", 0)
    return ttl if ttl > 0 and ttl > least else least


def char_strings(text):
    """Reads a TXT target as a master file does: quoted strings or bare words. Gives a list of octet strings.

    A bare word ends at a space. Parts of more than 255 octets are cut into pieces of 255.
    """
    out = []
    rest = text
    while rest.strip(" \t"):
        rest = rest.lstrip(" \t")
        m = re.match(r'"([^"\\]*)"', rest) or re.match(r'([^\s"\\;()]+)(?=\s|$)', rest)
        if not m:
            raise Refused(f"this program does not cover the TXT target {text!r} (escapes, ';', brackets, open quote)")
        octets = m.group(1).encode()
        out += [octets[i:i + 255] for i in range(0, len(octets), 255)] or [b""]
        rest = rest[m.end():]
    if not out:
        raise Refused("a TXT target is empty")
    return out


def present_string(octets):
    """One character string in master-file form, in quotes."""
    return '"' + "".join("\\" + chr(b) if b in b'"\\' else chr(b) if 32 <= b < 127 else f"\\{b:03d}" for b in octets) + '"'


def present_value(rtype, target):
    """One target in master-file form. Host names become absolute: the provider reads them with the root as origin."""
    words = target.split()
    if rtype == "A":
        return str(ipaddress.IPv4Address(target))
    if rtype == "AAAA":
        return str(ipaddress.IPv6Address(target))
    if rtype in ("CNAME", "DNAME", "NS", "PTR") and len(words) == 1:
        return absolute(words[0])
    if (rtype, len(words)) in (("MX", 2), ("SRV", 4)):
        return " ".join([str(int(w)) for w in words[:-1]] + [absolute(words[-1])])
    if rtype == "NAPTR" and len(words) == 6:
        order, preference, *strings, replacement = words
        quoted = [present_string(char_strings(s)[0]) for s in strings]
        return " ".join([str(int(order)), str(int(preference)), *quoted, absolute(replacement)])
    if rtype == "TXT":
        return " ".join(present_string(s) for s in char_strings(target))
    raise Refused(f"this program does not cover {rtype} {target!r}")


def check_config(cfg):
    if not cfg.get("owner"):
        raise Refused("the owner id must not be empty")
    if cfg.get("prefix") and cfg.get("suffix"):
        raise Refused("prefix and suffix exclude each other")


def write_zone(cfg, warn):
    """The lines of the zone, each a dict with name, ttl, type, value."""
    check_config(cfg)
    zone = absolute(cfg["zone"]).lower() if cfg.get("zone") else None
    lines, txts, seen = [], [], set()

    def add(to, name, ttl, rtype, value):
        key = (name.lower(), rtype, value)
        if key not in seen:
            seen.add(key)
            to.append({"name": name, "ttl": ttl, "type": rtype, "value": value})

    for r in cfg["records"]:
        name, rtype = r["name"].removesuffix("."), r["type"]
        if rtype in ("CNAME", "DNAME") and len(r["values"]) != 1:
            raise Refused(f"{name} {rtype} must have one value")
        ttl = ttl_of(cfg, r.get("ttl") or 0)
        for target in r["values"]:
            add(lines, absolute(name), ttl, rtype, present_value(rtype, target))
        labels = dict(r.get("labels") or {})
        if r.get("resource") is not None:
            labels["resource"] = r["resource"]
        labels["owner"] = cfg["owner"]
        made = registry_txt(cfg, name, rtype, labels)
        if made is None or len(made[0].encode()) > 253:
            warn(f"{name} {rtype}: no registry TXT, its name would be too long; external-dns then does not own the record")
            continue
        txt_name, target = absolute(made[0]), made[1]
        if zone and not ("." + txt_name.lower()).endswith("." + zone):
            warn(f"{name} {rtype}: the registry TXT {txt_name} is outside the zone and is left out; without a domain "
                 "filter external-dns sends it and the server refuses the whole message")
            continue
        add(txts, txt_name, cfg.get("default_ttl_of_txt", ttl_of(cfg, 0)), "TXT", present_value("TXT", target))

    aliases = {line["name"].lower() for line in lines if line["type"] == "CNAME"}
    for line in txts:
        if line["name"].lower() in aliases:
            warn(f"the registry TXT {line['name']} is left out: a CNAME is there and the server passes over the TXT")
    return lines + [line for line in txts if line["name"].lower() not in aliases]


def main():
    try:
        lines = write_zone(json.load(sys.stdin), lambda text: print("warning:", text, file=sys.stderr))
    except (Refused, ValueError, KeyError) as e:
        print(f"refused: {e}", file=sys.stderr)
        return 1
    for line in lines:
        print(json.dumps(line, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
