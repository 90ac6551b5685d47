"""Reads ownership the way external-dns v0.22.0 does (txt registry). The counterpart of writer.py.

The rules come from reading registry/mapper/mapper.go, registry/txt/registry.go, endpoint/labels.go and
endpoint/crypto.go at tag v0.22.0. No code was taken over. Standard library only, Python 3.11.
"""
import base64
import binascii
import gzip
import zlib

import aes_gcm
import writer

# The order counts: the first type that fits wins.
TYPES = ("A", "AAAA", "CNAME", "NS", "MX", "PTR", "SRV", "NAPTR", "TXT", "DNAME")
TEMPLATE = writer.TEMPLATE


def type_at_start(name):
    """Splits "type-rest". A name without a known type comes back as it is, with the type ""."""
    head = name.split("-")[0]
    for t in TYPES:
        if head == t.lower():
            return name.removeprefix(head + "-"), t
    return name, ""


def drop_affix(prefix, suffix, text):
    """Takes the prefix (or the suffix) away. Gives the rest and the type. ("", "") if the text does not have it."""
    def without(p, s):
        if s == "" and text.startswith(p):
            return text[len(p):]
        if s != "" and p == "" and text.endswith(s):
            return text[:len(text) - len(s)]
        return None

    if TEMPLATE in prefix or TEMPLATE in suffix:
        for t in TYPES:
            p, s = prefix.replace(TEMPLATE, t.lower()), suffix.replace(TEMPLATE, t.lower())
            rest = without(p, s)
            if rest is not None:
                return rest, t
        # The form of old versions: the template stands for nothing.
        prefix, suffix = prefix.replace(TEMPLATE, ""), suffix.replace(TEMPLATE, "")
    rest = without(prefix, suffix)
    return ("", "") if rest is None else type_at_start(rest)


def to_endpoint_name(cfg, txt_name):
    """The record that a registry TXT name speaks of: (name, type). The type "" is the old form without a type."""
    prefix, suffix = cfg.get("prefix", "").lower(), cfg.get("suffix", "").lower()
    name = txt_name.lower()
    if suffix == "":
        return drop_affix(prefix, suffix, name)
    if prefix != "":
        return "", ""
    # The suffix may hold dots. Then it spans more labels. The text after those labels stays.
    dots = suffix.count(".")
    labels = name.split(".", 1 + dots)
    if len(labels) <= dots:
        return "", ""
    head, rtype = drop_affix(prefix, suffix, ".".join(labels[:1 + dots]))
    return (head if len(labels) == 1 + dots else head + "." + labels[1 + dots]), rtype


def parse_plain(text):
    """The labels of a registry text, or None if it is not one of external-dns."""
    labels, found = {}, False
    for part in text.strip('"').split(","):
        key, equals, value = part.partition("=")
        if not equals:
            continue
        if key == "heritage":
            if value != "external-dns":
                return None
            found = True
        elif key.startswith("external-dns"):
            labels[key.removeprefix("external-dns/")] = value
    return labels if found else None


def decrypt(text, key):
    """The plain text and the nonce in base64. None if the text is not encrypted with this key."""
    try:
        data = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
        if len(data) <= 12:
            return None
        plain = gzip.decompress(aes_gcm.decrypt(key, data[:12], data[12:])).decode()
    except (ValueError, binascii.Error, EOFError, OSError, zlib.error):
        return None
    return plain, base64.b64encode(data[:12]).decode()


def parse_labels(text, key=None):
    """The labels of a TXT value, or None. With a key: decrypt first. If that fails, read the text as plain."""
    if key:
        opened = decrypt(text.strip('"'), key)
        if opened is not None:
            labels = parse_plain(opened[0])
            if labels is not None:
                labels["txt-encryption-nonce"] = opened[1]
            return labels
    return parse_plain(text)


def usable_key(text):
    """The 32 octets of a key from the command line: 32 octets as they are, else standard base64. None = refused."""
    raw = text.encode()
    if len(raw) == 32:
        return raw
    try:
        raw = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (ValueError, binascii.Error):
        return None
    return raw if len(raw) == 32 else None


def read_zone(cfg, zone):
    """What Records() gives: each record with owner, resource, labels and force_update. And the registry TXT names.

    The zone is a list of {dns_name, type, targets, ttl}. A registry TXT itself is not in the result.
    """
    key = usable_key(cfg["aes_key"]) if cfg.get("aes_key") else None
    plain, by_record, txt_names = [], {}, set()
    for r in zone:
        if r["type"] != "TXT":
            plain.append(r)
            continue
        if not r["targets"]:
            continue
        labels = parse_labels(r["targets"][0], key)
        if labels is None:
            plain.append(r)
            continue
        by_record[to_endpoint_name(cfg, r["dns_name"])] = labels
        txt_names.add(r["dns_name"])

    out = []
    for r in plain:
        name = r["dns_name"]
        if cfg.get("wildcard_replacement") and name.split(".")[0] == "*":
            name = cfg["wildcard_replacement"] + name[1:]
        labels = by_record.get((name, r["type"]))
        if labels is None and r["type"] != "AAAA":
            labels = by_record.get((name, ""))
        labels = dict(labels or {})
        if cfg.get("old_owner") and labels.get("owner") == cfg["old_owner"]:
            labels["owner"] = cfg["owner"]
        force = False
        if txt_names and labels.get("owner") == cfg["owner"] and r["type"] in cfg["managed_types"] \
                and r["type"] not in cfg["excluded_types"]:
            made = writer.registry_txt(cfg, r["dns_name"], r["type"], labels)
            force = made is not None and made[0] not in txt_names
        out.append({**r, "labels": labels, "force_update": force})
    return out, txt_names


def registry_changes(cfg, changes, txt_names=()):
    """What ApplyChanges() gives to the provider, as {create, update, delete}. txt_names: those that Records() read.

    A record of changes has labels. A create gets the owner of the settings, and its TXT only if there is no registry
    TXT at that very name yet, whoever owns it. An update or a delete of another owner's record is dropped.
    """
    def txt(r, labels):
        labels = dict(labels)
        if cfg.get("old_owner") and labels.get("owner") == cfg["old_owner"]:
            labels["owner"] = cfg["owner"]
        made = writer.registry_txt(cfg, r["dns_name"], r["type"], labels)
        return [] if made is None else [{"dns_name": made[0], "type": "TXT", "targets": [made[1]], "ttl": 0}]

    def bare(r):
        return {k: r[k] for k in ("dns_name", "type", "targets", "ttl")}

    def mine(r):
        return r["labels"].get("owner") == cfg["owner"]

    out = {"create": [], "update_old": [], "update_new": [], "delete": []}
    for r in changes["create"]:
        out["create"].append(bare(r))
        out["create"] += [t for t in txt(r, {**r["labels"], "owner": cfg["owner"]}) if t["dns_name"] not in txt_names]
    for kind in ("update_old", "update_new", "delete"):
        for r in filter(mine, changes[kind]):
            out[kind] += [bare(r), *txt(r, r["labels"])]
    return out
