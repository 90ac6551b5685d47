"""Questions about single names to BIND and Knot: zonewright compared with dnsperf.

Both clients ask over one TCP connection what a plan asks that reads name by name: SOA, AAAA and A of each name of a zone, and
for each tenth name a neighbour that is not there. dnsperf has as many questions in flight as --window says. The clients take turns;
the ratio is the median of those of the rounds.
"""

import os
import re
import statistics
import tempfile
from contextlib import ExitStack

from . import measure, table
from .servers import KINDS, Server
from .tools import built, fail, program, read, tell, write

ZONE = "bench.example"
NAMES, RUNS, WINDOW = 100_000, 5, 100
# The share of dnsperf's rate that is the target.
SHARE = 0.8
OURS, PEER = "zonewright", "`dnsperf -m tcp`"


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--window", type=int, default=WINDOW, help="the questions in flight, of both clients")


def write_zone(folder, names):
    """Writes the master file, and the questions as dnsperf reads them; gives how many there are."""
    lines, questions = [f"$ORIGIN {ZONE}.\n$TTL 600\n@ SOA ns1 hostmaster 1 3600 600 86400 60\n@ NS ns1\nns1 AAAA ::1\n"], []
    for number in range(names):
        rack = f"rack{number // 1000}"
        lines.append(f"h{number % 1000}.{rack} AAAA 2001:db8:{number // 1000:x}::{number % 1000 + 1:x}\n")
        questions += [f"h{number % 1000}.{rack}.{ZONE} {rtype}\n" for rtype in ("SOA", "AAAA", "A")]
        if number % 10 == 0:
            questions.append(f"_zonewright-probe.{rack}.{ZONE} AAAA\n")
    write(f"{folder}/zone", "".join(lines))
    write(f"{folder}/questions", "".join(questions))
    return len(questions)


def server_time(server):
    """The processor time that a server took so far, in seconds."""
    fields = read(f"/proc/{server.process.pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def clients(server, folder, window):
    """The clients: for each name the command, and the patterns that find questions and seconds in its output."""
    ours = ["--server", f"127.0.0.1:{server.port}", "--zone", ZONE, "--window", str(window), f"{folder}/questions"]
    peer = ["-m", "tcp", "-s", "127.0.0.1", "-p", str(server.port), "-d", f"{folder}/questions"]
    return {
        OURS: ([built("examples/queries"), *ours], r"(\d+) answers", r"([\d.]+) seconds"),
        PEER: (
            [program("dnsperf"), *peer, "-n", "1", "-c", "1", "-T", "1", "-q", str(window)],
            r"Queries completed: +(\d+)",
            r"Run time \(s\): +([\d.]+)",
        ),
    }


def ask(server, client, folder, asked):
    """Runs a client; gives questions a second, and the processor time of client and server a question."""
    command, count, seconds = client
    before = server_time(server)
    figures, _ = measure.run(command, f"{folder}/output")
    found = [re.search(pattern, read(f"{folder}/output")) for pattern in (count, seconds)]
    if None in found or int(found[0][1]) != asked:
        fail(f"{server.kind} did not answer {asked} questions: {read(f'{folder}/output')[-2000:]}")
    return asked / float(found[1][1]), figures.cpu / asked, (server_time(server) - before) / asked


def run(args):
    """Measures; gives the tables."""
    measured = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        asked = write_zone(folder, args.hosts or NAMES)
        tell(f"queries: {asked} questions")
        servers = [stack.enter_context(Server(kind, f"{folder}/{kind}", {ZONE: f"{folder}/zone"})) for kind in KINDS]
        for number in range((args.runs or RUNS) + 1):
            tell(f"  run {number} of {args.runs or RUNS}" if number else "  to warm up")
            for server in servers:
                for name, client in clients(server, folder, args.window).items():
                    figures = ask(server, client, folder, asked)
                    if number:
                        measured.setdefault((server.kind, name), []).append(figures)
    medians = {key: [statistics.median(column) for column in zip(*rows)] for key, rows in measured.items()}
    rows, targets = [], table.Targets()
    for (kind, name), (rate, own, server) in medians.items():
        share = statistics.median(ours[0] / peer[0] for ours, peer in zip(measured[kind, name], measured[kind, PEER]))
        rows.append([kind, name, table.number(rate), f"{share:.2f}", f"{own * 1e6:.1f} µs", f"{server * 1e6:.1f} µs"])
        if name == OURS:
            targets.at_least(f"{kind}: questions/s, times {PEER}", share, SHARE)
    head = ["server", "client", "questions/s", f"times {PEER}", "processor time a question", "server's"]
    what = f"{table.number(asked)} questions, {args.window} in flight:\n\n"
    return what + table.table(head, rows) + "\n" + targets.table()
