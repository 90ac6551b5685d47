"""The table of mischiefs: which there are, when they happen, and how they are run.

A mischief is one function that does one damage. Each draws from a random generator of its own, seeded by the fleet's
seed and its name, so that leaving one out (`--without`) changes little else.
"""

import random
from dataclasses import dataclass
from typing import Callable

from fleet_model import NothingToDamage

STAGES = ("inventory", "live", "moves", "files")
TABLE = []


@dataclass
class Mischief:
    """One damage: its stage, its share of fleets, whether it repeats, and whether it makes a fleet untidy."""

    name: str
    stage: str
    rate: float
    many: bool
    untidy: bool
    run: Callable


def mischief(stage, rate, many=False, untidy=False):
    """Enter a function into the table.

    Stages: `inventory` before the live zones are filled, `live` afterwards, `moves` where the inventory changes and
    DNS does not follow, `files` on the text that was written. A rate of an untidy mischief (one that gives rules 8
    and 9 cause to rest) counts among untidy fleets only.
    """
    def enter(function):
        TABLE.append(Mischief(function.__name__, stage, rate, many, untidy, function))
        return function
    return enter


def run_stage(w, stage, seed, without):
    """Do this fleet's mischiefs of one stage; returns the names of those that did something."""
    done = []
    for entry in TABLE:
        r = random.Random(f"{seed}/{entry.name}")
        if entry.stage != stage or entry.name in without or r.random() >= entry.rate or (entry.untidy and w.tidy):
            continue
        for _ in range(r.randint(1, 1 + len(w.hosts) // 8) if entry.many else 1):
            try:
                entry.run(w, r)
            except NothingToDamage:
                break
            done.append(entry.name)
    return done
