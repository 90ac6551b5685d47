"""The transfer of one large zone from BIND and Knot, with zonewright's reader and other clients.

The clients transfer the zone in turn, signed with hmac-sha256: the floor (bytes are counted and not looked at), the
reader (verified, parsed, sorted into a zone in memory), dig and kdig (verified, written to a file as text).
"""

import tempfile
from contextlib import ExitStack

from . import measure, table
from .servers import KINDS, Server
from .tools import fail, read, tell, write_keys

ZONE = "bench.example"
RECORDS, RUNS = 1_000_000, 5
# Records in addition to the AAAA: SOA, NS and the address of the name server.
OTHERS = 3


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--records", type=int, default=RECORDS)


def write_zone(path, records):
    """Writes the master file: a thousand names below each of many racks."""
    with open(path, "w") as file:
        file.write(f"$ORIGIN {ZONE}.\n$TTL 600\n@ SOA ns1 hostmaster 1 3600 600 86400 60\n@ NS ns1\nns1 AAAA ::1\n")
        for number in range(records):
            address = f"2001:db8:{number // 1000:x}::{number % 1000 + 1:x}"
            file.write(f"h{number % 1000}.rack{number // 1000} AAAA {address}\n")


def is_whole(output, is_text, records):
    """Whether the whole zone came: a line for each record and the closing SOA, or the count of records."""
    if is_text:
        with open(output) as file:
            return sum("\tIN\t" in line for line in file) == records + OTHERS + 1
    number, unit, *_ = read(output).split()
    return unit == "bytes" or int(number) == records + OTHERS


def client(server, name, command, folder, records):
    """A client that transfers the zone and checks what came."""

    def transfer(_counts):
        figures, _ = measure.run(command, f"{folder}/output")
        if not is_whole(f"{folder}/output", name.startswith("`"), records):
            fail(f"from {server.kind} to {name} not all of the zone came")
        return figures

    return (server.kind, name), transfer


def run(args):
    """Measures; gives the table."""
    tell("axfr")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        write_keys(folder)
        write_zone(f"{folder}/zone", args.records)
        clients = {}
        for kind in KINDS:
            server = stack.enter_context(Server(kind, f"{folder}/{kind}", {ZONE: f"{folder}/zone"}))
            commands = {
                "floor: bytes counted": server.reader(folder, [ZONE], floor=True),
                "zonewright": server.reader(folder, [ZONE]),
                "`dig`, to a file": server.dig(folder, ZONE),
                "`kdig`, to a file": server.kdig([ZONE]),
            }
            clients.update(client(server, name, command, folder, args.records) for name, command in commands.items())
        measured = measure.in_turn(args.runs or RUNS, clients)
    rows = []
    for (server, name), found in measured.items():
        each = f"{found.cpu / args.records * 1e6:.2f} µs"
        rows.append([server, name, table.seconds(found.wall), table.number(args.records / found.wall), each, table.memory(found.memory)])
    return table.table(["server", "client", "wall", "records/s", "processor time a record", "peak memory"], rows)
