"""The machine, the versions, and whether the machine does other work."""

import os
import platform
import re
import subprocess
import time

from .tools import fail, find, read, tell

# The command that prints a program's version, and the pattern that finds it in the answer.
VERSIONS = {
    "rustc": (["rustc", "--version"], r"rustc (\S+)"),
    "BIND": (["named", "-V"], r"BIND (\d[\w.]*)"),
    "Knot": (["knotd", "--version"], r"version (\S+)"),
    "dnsperf": (["dnsperf", "-H"], r"[Vv]ersion (\S+)"),
    "kdig": (["kdig", "--version"], r"(\d[\w.]+)"),
    "nsupdate": (["nsupdate", "-V"], r"nsupdate (\d[\w.]*)"),
}
# From which share of the processors on other work disturbs the figures, and from which it spoils them.
DISTURBED, SPOILED = 0.05, 0.25


def processor():
    """The name of the processor."""
    found = re.search(r"^model name\s*:\s*(.+)$", read("/proc/cpuinfo"), re.MULTILINE)
    return found[1] if found else platform.processor()


def versions():
    """The versions of all programs that take part, as far as they are installed."""
    for name, (command, pattern) in VERSIONS.items():
        path = find(command[0])
        if path:
            done = subprocess.run([path, *command[1:]], capture_output=True, text=True)
            found = re.search(pattern, done.stdout + done.stderr)
            yield f"{name} {found[1] if found else '(no version found)'}"


def ticks():
    """What the processors did since they started: all ticks, busy ones, those that the hypervisor took."""
    user, nice, system, idle, wait, irq, softirq, steal = map(int, read("/proc/stat").split()[1:9])
    work = user + nice + system + irq + softirq
    return work + idle + wait + steal, work, steal


def look(busy_is_fine):
    """Looks for a second at what else the machine does; gives the sentence about the machine.

    Refuses a machine that is busy, unless `busy_is_fine`.
    """
    load = os.getloadavg()[0]
    before = ticks()
    time.sleep(1)
    total, work, steal = (after - before for after, before in zip(ticks(), before))
    share = (work + steal) / max(total, 1)
    if share > SPOILED and not busy_is_fine:
        fail(f"other work uses {share:.0%} of the processors; wait, or give --busy for figures without value")
    if share > DISTURBED:
        tell(f"ci/bench: other work uses {share:.0%} of the processors: use only ratios and processor time")
    busy = f", other work on {share:.0%} of the processors" if share > DISTURBED else ""
    return (
        f"{os.cpu_count()} processors ({processor()}), {memory_size()} GB, Linux {platform.release().split('-')[0]}; "
        f"{', '.join(versions())}; load {load:.2f} at the start{busy}."
    )


def memory_size():
    """The memory of the machine in GB."""
    kib = int(re.search(r"MemTotal:\s+(\d+)", read("/proc/meminfo"))[1])
    return round(kib * 1024 / 1e9)
