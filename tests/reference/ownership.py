"""Own RRsets (section 4, end): how the registry tells which RRsets zonewright created."""

import dnsnames
import masterfile


class Registry:
    def __init__(self, kind, owner, live):
        self.kind = kind
        self.owner = owner
        self.live = live

    def is_own(self, name, rtype):
        """Whether a live RRset is own. Under `journal` nothing is: there is no state."""
        if self.kind == "noop":
            return True
        if self.kind == "journal":
            return False
        marks = self.marks(name, rtype)
        return bool(marks) and all(self._names_us(mark) for mark in marks)

    def has_foreign_mark(self, name, rtype):
        """Whether a heritage TXT of somebody else stands beside the RRset."""
        return not all(self._names_us(mark) for mark in self.marks(name, rtype))

    def mark_name(self, name, rtype):
        """The name of the registry TXT, or None: there is none, or it would not lie in the RRset's zone."""
        if self.kind != "txt":
            return None
        labels = dnsnames.labels_of(name)
        mark_name = ".".join([f"{rtype.lower()}-{labels[0]}", *labels[1:]]) + "."
        same_zone = self.live.zone_of(mark_name) == self.live.zone_of(name)
        return mark_name if same_zone and not self.live.is_delegated(mark_name) else None

    def mark(self):
        """The registry TXT record that zonewright writes."""
        content = f"heritage=external-dns,external-dns/owner={self.owner}"
        return masterfile.quoted(content.encode("utf-8"))

    def marks(self, name, rtype):
        """The heritage TXT records beside an RRset."""
        mark_name = self.mark_name(name, rtype)
        if mark_name is None:
            return set()
        texts = self.live.rdata(mark_name, "TXT")
        return {text for text in texts if _is_heritage(text)}

    def _names_us(self, mark):
        return _labels(mark).get("external-dns/owner") == self.owner


def _parts(rdata):
    """The key=value parts of a TXT, as external-dns reads them: a part with another number of `=` is none."""
    parts = [part.split("=") for part in masterfile.txt_content(rdata).strip('"').split(",")]
    return [(part[0], part[1]) for part in parts if len(part) == 2]


def _is_heritage(rdata):
    """Whether a TXT is external-dns's: it has `heritage=external-dns`, and no other heritage."""
    return {value for key, value in _parts(rdata) if key == "heritage"} == {"external-dns"}


def _labels(rdata):
    """The labels of a heritage TXT; of several values of one, the last counts."""
    return dict(_parts(rdata))
