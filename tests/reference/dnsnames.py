"""Domain names and reverse names, in one canonical text form: lower case, absolute, with the final dot."""

import functools
import ipaddress
import re

_HOST_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
_PLAIN_BYTES = frozenset(range(0x21, 0x7F)) - frozenset(b'."();@$\\')


def host_name(text):
    """The canonical form of an FQDN of the inventory; ValueError where it is none."""
    bare = text[:-1] if text.endswith(".") else text
    labels = bare.split(".")
    if len(bare) > 253 or not all(_HOST_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"not a host name: {text!r}")
    return bare.lower() + "."


def unescape(text):
    """The bytes that master file text (\\X and \\DDD escapes) stands for."""
    out = bytearray()
    position = 0
    while position < len(text):
        char = text[position]
        if char != "\\":
            out += char.encode("utf-8")
            position += 1
        elif re.fullmatch(r"[0-9]{3}", text[position + 1 : position + 4]):
            number = int(text[position + 1 : position + 4])
            if number > 255:
                raise ValueError(f"bad escape in {text!r}")
            out.append(number)
            position += 4
        elif position + 1 < len(text) and not text[position + 1].isdigit():
            out += text[position + 1].encode("utf-8")
            position += 2
        else:
            raise ValueError(f"bad escape in {text!r}")
    return bytes(out)


def _canonical_label(raw_label):
    data = unescape(raw_label).lower()
    if not 1 <= len(data) <= 63:
        raise ValueError(f"bad label length: {raw_label!r}")
    return "".join(chr(byte) if byte in _PLAIN_BYTES else f"\\{byte:03d}" for byte in data)


@functools.cache
def _labels_of(name):
    return tuple(re.findall(r"(?:\\.|[^.\\])+", name))


def labels_of(name):
    """The labels of a canonical (or escaped) name, split at the dots that are not escaped."""
    return list(_labels_of(name))


def master_name(text, origin):
    """The canonical form of a name in a master file, relative to `origin` (RFC 1035, 5.1)."""
    if text == "@":
        return origin
    if text == ".":
        return "."
    if not text or text.startswith(".") or re.search(r"(?<!\\)(?:\\\\)*\.\.", text):
        raise ValueError(f"empty label in {text!r}")
    labels = [_canonical_label(label) for label in labels_of(text)]
    ends_with_dot = re.search(r"(?<!\\)(?:\\\\)*\.$", text) is not None
    if not ends_with_dot:
        labels += labels_of(origin)
    name = ".".join(labels) + "."
    if sum(len(unescape(label)) + 1 for label in labels) > 254:
        raise ValueError(f"name too long: {text!r}")
    return name


@functools.cache
def _ancestors_and_self(name):
    labels = labels_of(name)
    return (*(".".join(labels[start:]) + "." for start in range(len(labels))), ".")


def ancestors_and_self(name):
    """The name, its parent, and so on up to and including the root."""
    return iter(_ancestors_and_self(name))


def parent(name):
    """The name without its first label."""
    return ".".join(labels_of(name)[1:]) + "."


def is_at_or_below(name, ancestor):
    return ancestor in ancestors_and_self(name)


def is_directly_below(name, domain):
    return name != "." and parent(name) == domain


def longest_suffix(name, candidates):
    """The candidate that is the longest suffix of the name (itself included), or None."""
    for suffix in ancestors_and_self(name):
        if suffix in candidates:
            return suffix
    return None


@functools.cache
def reverse_name(address):
    return address.reverse_pointer + "."


def reverse_zone_name(network):
    """The reverse zone of a network that ends on a nibble (IPv6) or an octet (IPv4)."""
    step = 4 if network.version == 6 else 8
    if network.prefixlen % step:
        raise ValueError(f"{network} does not end on a nibble or octet")
    pointer = labels_of(network.network_address.reverse_pointer)
    return ".".join(pointer[len(pointer) - 2 - network.prefixlen // step :]) + "."


def address_of_reverse(name):
    """The address whose whole reverse name (32 nibbles or 4 octets) this is, or None."""
    labels = labels_of(name)
    if labels[-2:] == ["ip6", "arpa"] and len(labels) == 34:
        nibbles = "".join(reversed(labels[:32]))
        if re.fullmatch(r"[0-9a-f]{32}", nibbles):
            return ipaddress.IPv6Address(int(nibbles, 16))
    if labels[-2:] == ["in-addr", "arpa"] and len(labels) == 6:
        try:
            return ipaddress.IPv4Address(".".join(reversed(labels[:4])))
        except ValueError:
            return None
    return None
