"""Small values that several files of a workspace share: times, durations, shares, networks."""

import datetime
import fractions
import ipaddress
import re

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def rfc3339(text):
    """An aware datetime; ValueError where the text is no RFC 3339 time."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    return datetime.datetime.fromisoformat(text.upper())


def duration(text):
    """A timedelta from text such as 6h, 7d or 1h30m."""
    if not isinstance(text, str) or not re.fullmatch(r"(\d+[smhdw])+", text):
        raise ValueError(f"not a duration: {text!r}")
    parts = re.findall(r"(\d+)([smhdw])", text)
    return datetime.timedelta(seconds=sum(int(number) * _UNITS[unit] for number, unit in parts))


def share(text):
    """A fraction from text such as 10% or 0.5%."""
    if not isinstance(text, str) or not re.fullmatch(r"\d+(\.\d+)?%", text):
        raise ValueError(f"not a share: {text!r}")
    return fractions.Fraction(text[:-1]) / 100


def vlan_number(text):
    if not re.fullmatch(r"\d+", text) or not 1 <= int(text) <= 4094:
        raise ValueError(f"not a VLAN: {text!r}")
    return int(text)


def inventory_number(text):
    if not re.fullmatch(r"[0-9]+", text) or int(text) >= 2**64:
        raise ValueError(f"not an inventory number: {text!r}")
    return int(text)


def ipv6_64(text):
    """An IPv6 /64; ValueError where the text is anything else."""
    network = ipaddress.IPv6Network(text)
    if "/" not in text or network.prefixlen != 64:
        raise ValueError(f"not a /64: {text!r}")
    return network
