"""Tables in Markdown, the figures in them, and where they are in the documents."""

import glob
import re

from .tools import ROOT, read, tell, write


def number(value):
    """A whole number, with a space after the thousands."""
    return f"{value:,.0f}".replace(",", " ")


def seconds(value):
    """Seconds to three digits."""
    return f"{value:.2f} s" if value >= 0.1 else f"{value:.3f} s"


def memory(size):
    """An amount of memory in MB, a million bytes each."""
    return f"{number(size / 1e6)} MB"


def ratio(value):
    """A value that is so many times another one."""
    return f"{value:.2f}"


def table(head, rows):
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = lambda line: (f" {cell} " if cell != "" else " " for cell in line)
    return "".join(f"|{'|'.join(cells(line))}|\n" for line in lines)


class Targets:
    """The targets, and whether each was met."""

    # Of all tables: how many targets there were, and which were missed.
    number, missed = 0, []

    def __init__(self):
        self.rows = []

    def at_most(self, what, value, limit, unit=""):
        """Something that must not be larger."""
        self._add(what, value, limit, unit, "at most", value <= limit)

    def at_least(self, what, value, limit, unit=""):
        """Something that must not be smaller."""
        self._add(what, value, limit, unit, "at least", value >= limit)

    def _add(self, what, value, limit, unit, word, met):
        digits = 0 if unit == " MB" else 2
        Targets.number += 1
        Targets.missed += [] if met else [what]
        self.rows.append([what, f"{word} {limit:g}{unit}", f"{value:.{digits}f}{unit}", "yes" if met else "**no**"])

    def table(self):
        """The table of all of them."""
        return table(TARGETS, self.rows) if self.rows else ""


TARGETS = ["target", "limit", "measured", "met"]


def without_targets(text):
    """The tables of what was measured: targets are only for the person who measures."""
    head = "|" + "|".join(f" {cell} " for cell in TARGETS) + "|\n"
    return re.sub(rf"\n*{re.escape(head)}(?:\|.*\n)+", "\n", text)


def write_block(name, text):
    """Writes a text into the block of this name, in each document that has one."""
    opening, closing = f"<!-- bench:{name} -->\n", "<!-- /bench -->\n"
    block = re.compile(f"{re.escape(opening)}.*?{re.escape(closing)}", re.DOTALL)
    for path in sorted(glob.glob(f"{ROOT}/docs/*.md")):
        old = read(path)
        new = block.sub(lambda _: f"{opening}\n{text.strip()}\n\n{closing}", old)
        if block.search(old):
            write(path, new)
            tell(f"written into {path}")
