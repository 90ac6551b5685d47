"""Master files (RFC 1035, section 5; $TTL of RFC 2308)."""

import dataclasses
import ipaddress
import os
import re

import dnsnames


class ZoneError(ValueError):
    """The file does not parse, is cut short, or has no SOA at the apex."""


@dataclasses.dataclass(frozen=True)
class Record:
    name: str
    type: str
    ttl: int
    rdata: str  # canonical text


@dataclasses.dataclass
class _Token:
    text: str  # with its escapes
    quoted: bool


@dataclasses.dataclass
class _State:
    """What one file carries from line to line."""

    origin: str
    owner: str | None = None
    default_ttl: int | None = None  # $TTL
    last_ttl: int | None = None  # the last one stated explicitly


_TTL = re.compile(r"\d+|(\d+[smhdw])+", re.IGNORECASE)
_TTL_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_NAME_TYPES = {"NS", "CNAME", "PTR", "DNAME"}
_OPAQUE_TYPES = {
    "AFSDB", "CAA", "CDNSKEY", "CDS", "CERT", "CSYNC", "DHCID", "DNSKEY", "DS", "HINFO", "HTTPS", "KEY", "LOC",
    "NAPTR", "NSEC", "NSEC3", "NSEC3PARAM", "OPENPGPKEY", "RP", "RRSIG", "SMIMEA", "SPF", "SRV", "SSHFP", "SVCB",
    "TLSA", "URI", "ZONEMD",
}  # fmt: skip


def load(path, apex):
    """The records of the zone `apex`; those outside it are passed over."""
    records = [
        record for record in _file(path, _State(apex), depth=0) if dnsnames.is_at_or_below(record.name, apex)
    ]
    if [record.name for record in records if record.type == "SOA"] != [apex]:
        raise ZoneError(f"{path}: not exactly one SOA, at the apex")
    _refuse_data_beside_cname(records)
    return records


def _refuse_data_beside_cname(records):
    """No server loads a zone with a CNAME beside other data (RFC 1034, 3.6.2; RFC 4035, 2.5)."""
    for alias in records:
        if alias.type != "CNAME":
            continue
        for other in records:
            is_same = (other.type, other.rdata) == (alias.type, alias.rdata)
            if other.name == alias.name and not is_same and other.type not in ("RRSIG", "NSEC", "KEY"):
                raise ZoneError(f"{alias.name}: a CNAME beside other data")


def _file(path, state, depth):
    if depth > 10:
        raise ZoneError("$INCLUDE nested too deep")
    try:
        with open(path, "rb") as stream:
            text = stream.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ZoneError(str(error)) from error
    if not text.endswith("\n"):
        raise ZoneError(f"{path}: cut short")
    records = []
    for starts_blank, tokens in _entries(text):
        try:
            records += _entry(starts_blank, tokens, state, path, depth)
        except ValueError as error:
            raise ZoneError(f"{path}: {error}") from error
    return records


def _entries(text):
    """(begins with a blank, tokens) of each entry; parentheses join lines."""
    entries = []
    tokens = []
    starts_blank = False
    depth = 0
    position = 0
    at_line_start = True
    while position < len(text):
        char = text[position]
        if at_line_start and depth == 0:
            starts_blank = char in " \t"
        at_line_start = char == "\n"
        if char == "\n":
            if depth == 0 and tokens:
                entries.append((starts_blank, tokens))
                tokens = []
            position += 1
        elif char in " \t\r":
            position += 1
        elif char == ";":
            position = text.index("\n", position)
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth not in (0, 1):
                raise ZoneError("parentheses do not match")
            position += 1
        else:
            pattern = r'"((?:[^"\\\n]|\\[^\n])*)"' if char == '"' else r'((?:[^\s"();\\]|\\[^\n])+)'
            match = re.compile(pattern).match(text, position)
            if not match:
                raise ZoneError(f"unexpected {char!r}")
            tokens.append(_Token(match.group(1), char == '"'))
            position = match.end()
    if depth:
        raise ZoneError("parentheses do not match")
    return entries


def _entry(starts_blank, tokens, state, path, depth):
    """The records of one entry; changes `state`."""
    first = tokens[0].text.upper()
    if not starts_blank and not tokens[0].quoted and first.startswith("$"):
        return _directive(first, [token.text for token in tokens[1:]], state, path, depth)
    if starts_blank:
        if state.owner is None:
            raise ZoneError("no owner to repeat")
    else:
        state.owner = dnsnames.master_name(tokens.pop(0).text, state.origin)
    return [_record(tokens, state)]


def _directive(directive, arguments, state, path, depth):
    if directive == "$ORIGIN" and len(arguments) == 1:
        state.origin = dnsnames.master_name(arguments[0], state.origin)
        return []
    if directive == "$TTL" and len(arguments) == 1:
        state.default_ttl = _seconds(arguments[0])
        return []
    if directive == "$INCLUDE" and len(arguments) in (1, 2):
        included = os.path.join(os.path.dirname(path), arguments[0])
        origin = dnsnames.master_name(arguments[1], state.origin) if len(arguments) == 2 else state.origin
        inner = dataclasses.replace(state, origin=origin)
        return _file(included, inner, depth + 1)
    raise ZoneError(f"{directive} is not understood")


def _seconds(text):
    if not _TTL.fullmatch(text):
        raise ZoneError(f"not a TTL: {text!r}")
    if text.isdigit():
        seconds = int(text)
    else:
        parts = re.findall(r"(\d+)([a-z])", text.lower())
        seconds = sum(int(number) * _TTL_UNITS[unit] for number, unit in parts)
    if seconds >= 2**31:
        raise ZoneError(f"TTL too large: {text}")
    return seconds


def _record(tokens, state):
    """[TTL] [class] type rdata, or [class] [TTL] type rdata."""
    ttl = None
    has_class = False
    while tokens and not tokens[0].quoted:
        text = tokens[0].text
        if ttl is None and _TTL.fullmatch(text):
            ttl = _seconds(text)
        elif not has_class and text.upper() == "IN":
            has_class = True
        else:
            break
        tokens = tokens[1:]
    if not tokens or tokens[0].quoted:
        raise ZoneError("no type")
    rtype = tokens[0].text.upper()
    rdata = _rdata(rtype, tokens[1:], state.origin)
    if ttl is not None:
        state.last_ttl = ttl
    elif state.default_ttl is not None:
        ttl = state.default_ttl
    elif state.last_ttl is not None:
        ttl = state.last_ttl
    elif rtype == "SOA":
        ttl = state.last_ttl = int(rdata.split()[-1])
    else:
        raise ZoneError("no TTL")
    return Record(state.owner, rtype, ttl, rdata)


def _rdata(rtype, tokens, origin):
    """The canonical text of record data."""
    texts = [token.text for token in tokens]
    if not texts:
        raise ZoneError(f"{rtype} without data")
    if rtype == "TXT":
        return " ".join(_txt_string(text) for text in texts)
    if rtype in _OPAQUE_TYPES or re.fullmatch(r"TYPE\d+", rtype):
        return " ".join(texts)
    counts = {"A": 1, "AAAA": 1, "MX": 2, "SOA": 7, **dict.fromkeys(_NAME_TYPES, 1)}
    if len(texts) != counts.get(rtype):
        raise ZoneError(f"unknown type or wrong number of fields: {rtype} {texts}")
    if rtype == "A":
        return str(ipaddress.IPv4Address(texts[0]))
    if rtype == "AAAA":
        return str(ipaddress.IPv6Address(texts[0]))
    if rtype == "MX":
        return f"{int(texts[0])} {dnsnames.master_name(texts[1], origin)}"
    if rtype == "SOA":
        names = [dnsnames.master_name(text, origin) for text in texts[:2]]
        numbers = [str(int(texts[2])), *(str(_seconds(text)) for text in texts[3:])]
        return " ".join(names + numbers)
    return dnsnames.master_name(texts[0], origin)


def _txt_string(text):
    data = dnsnames.unescape(text)
    if len(data) > 255:
        raise ZoneError("a TXT string of more than 255 bytes")
    return quoted(data)


def quoted(data):
    """One string of a TXT record in canonical text."""
    special = b'"\\'
    chars = (
        "\\" + chr(byte) if byte in special else chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03d}"
        for byte in data
    )
    return '"' + "".join(chars) + '"'


def txt_content(rdata):
    """What a TXT record in canonical text says, its strings joined."""
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', rdata)
    return b"".join(dnsnames.unescape(text) for text in strings).decode("latin-1")
