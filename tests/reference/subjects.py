"""Subjects, as texts: `host:100105`, `released:100105`, `orphan:main/old.example.net.`; and their order."""

KINDS = ["host", "released", "orphan"]


def of_host(inv):
    return f"host:{inv}"


def of_released(inv):
    return f"released:{inv}"


def of_orphan(pool, name):
    return f"orphan:{pool}/{name}"


def host(subject):
    """The number of the host, also where it is about names that it had; None for an orphan."""
    kind, _, rest = subject.partition(":")
    return int(rest) if kind in ("host", "released") else None


def orphan_name(subject):
    """The name of an orphan."""
    return subject.partition("/")[2]


def hosts(change):
    """The hosts that share a change."""
    numbers = {host(subject) for subject in [change["subject"], *change.get("also", [])]}
    return numbers - {None}


def key(subject):
    """Kinds in their order, numbers by value, all else as text."""
    kind, _, rest = subject.partition(":")
    return (KINDS.index(kind), 0, rest) if kind == "orphan" else (KINDS.index(kind), int(rest), "")
