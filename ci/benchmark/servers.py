"""BIND, Knot, PowerDNS and doubles on loopback, each on a free port with its files in a folder of its own; everything is signed.

A double is `zonewright serve`: its zones are in memory, and it starts and answers at once.
"""

import os
import socket
import subprocess
import time

from .tools import KEY, SECRET, built, fail, program, read, write

# How long a server may take to load its zones, in seconds.
START = 600
KINDS = ("BIND", "Knot")
DOUBLE, PDNS = "a double", "PowerDNS"
# The tables of PowerDNS's database.
SCHEMA = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"


def free_port():
    """A port that was free a moment ago, for UDP and TCP."""
    while True:
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            try:
                udp.bind(tcp.getsockname())
            except OSError:
                continue
            return tcp.getsockname()[1]


class Server:
    """A server that runs for as long as the `with` block does. `zones` gives the master file of each zone."""

    def __init__(self, kind, folder, zones, updates=False, api=False):
        self.kind, self.folder, self.zones, self.updates = kind, os.path.abspath(folder), zones, updates
        self.port = free_port()
        # The port of PowerDNS's API, whose key is the secret of the TSIG key.
        self.api = free_port() if api else None
        os.makedirs(f"{self.folder}/zones")
        # Links, since a server may write a zone again: it replaces the file, and the file that was given stays.
        for zone, file in zones.items():
            os.link(file, self.file(zone))

    def cpu(self):
        """The processor time that the server has taken so far, in seconds."""
        # After the name in parentheses, which may have any character, the fields count from the third.
        fields = read(f"/proc/{self.process.pid}/stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def file(self, zone):
        """The master file of a zone as the server has it."""
        return f"{self.folder}/zones/{zone}.zone"

    def bind_command(self):
        """Writes the settings of BIND; gives the command that runs it."""
        update = f'allow-update {{ key "{KEY}"; }}; ' if self.updates else ""
        each = "".join(
            f'zone "{zone}" {{ type primary; file "{self.file(zone)}"; allow-transfer {{ key "{KEY}"; }}; {update}}};\n'
            for zone in self.zones
        )
        write(
            f"{self.folder}/named.conf",
            f"""key "{KEY}" {{ algorithm hmac-sha256; secret "{SECRET}"; }};
controls {{ }};
options {{ directory "{self.folder}"; listen-on port {self.port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  pid-file none; session-keyfile none; recursion no; notify no; dnssec-validation no; check-names primary ignore; }};
{each}""",
        )
        return [program("named"), "-g", "-c", f"{self.folder}/named.conf"]

    def knot_command(self):
        """Writes the settings of Knot; gives the command that runs it."""
        each = "".join(f"  - domain: {zone}\n    file: {self.file(zone)}\n    acl: {KEY}\n" for zone in self.zones)
        journal = "changes" if self.updates else "none"
        write(
            f"{self.folder}/knot.conf",
            f"""server:
    rundir: {self.folder}
    listen: 127.0.0.1@{self.port}
database:
    storage: {self.folder}/db
    journal-db-max-size: 1G
key:
  - id: {KEY}
    algorithm: hmac-sha256
    secret: {SECRET}
acl:
  - id: {KEY}
    key: {KEY}
    action: [ transfer, update ]
template:
  - id: default
    journal-content: {journal}
    zonefile-sync: -1
    zonefile-load: whole
zone:
{each}""",
        )
        os.makedirs(f"{self.folder}/db")
        return [program("knotd"), "-c", f"{self.folder}/knot.conf"]

    def double_command(self):
        """The command that runs a double."""
        write(f"{self.folder}/secret", SECRET, 0o600)
        key = ["--key", f"{self.folder}/secret", "--key-name", KEY]
        return [built("zonewright"), "serve", f"{self.folder}/zones", "--listen", f"127.0.0.1:{self.port}", *key]

    def pdns_command(self):
        """Writes the settings and the database of PowerDNS; gives the command that runs it."""
        write(
            f"{self.folder}/pdns.conf",
            f"""launch=gsqlite3
gsqlite3-database={self.folder}/zones.db
gsqlite3-dnssec=yes
gsqlite3-pragma-synchronous=0
local-address=127.0.0.1
local-port={self.port}
socket-dir={self.folder}
allow-axfr-ips=
allow-dnsupdate-from=
dnsupdate=yes
security-poll-suffix=
{self.api_settings()}""",
        )
        self.sql(f"PRAGMA journal_mode=WAL;\n.read {SCHEMA}\n")
        for zone in self.zones:
            load = [program("pdnsutil"), f"--config-dir={self.folder}", "load-zone", zone, self.file(zone)]
            subprocess.run(load, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        key = f"INSERT INTO tsigkeys (name, algorithm, secret) VALUES ('{KEY}', 'hmac-sha256', '{SECRET}');\n"
        allowed = {"ALLOW-DNSUPDATE-FROM": "127.0.0.0/8", "TSIG-ALLOW-AXFR": KEY, "TSIG-ALLOW-DNSUPDATE": KEY}
        self.sql(key + "".join(
            f"INSERT INTO domainmetadata (domain_id, kind, content) SELECT id, '{kind}', '{content}' FROM domains;\n"
            for kind, content in allowed.items()
        ))
        return [program("pdns_server"), f"--config-dir={self.folder}", "--guardian=no", "--daemon=no"]

    def api_settings(self):
        """The settings of PowerDNS's API, where it is to have one."""
        if self.api is None:
            return ""
        return f"webserver=yes\napi=yes\napi-key={SECRET}\nwebserver-address=127.0.0.1\nwebserver-port={self.api}\nwebserver-allow-from=127.0.0.1\n"

    def sql(self, statements):
        """Runs statements on PowerDNS's database."""
        command = [program("sqlite3"), "-bail", f"{self.folder}/zones.db"]
        subprocess.run(command, input=statements.encode(), check=True, stdout=subprocess.DEVNULL)

    def answers(self, zone):
        """Whether the server answers for a zone's SOA."""
        labels = b"".join(bytes([len(label)]) + label.encode() for label in zone.split(".")) + b"\0"
        question = b"\0\1\0\0\0\1\0\0\0\0\0\0" + labels + b"\0\6\0\1"
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as stream:
                stream.sendall(len(question).to_bytes(2, "big") + question)
                head = stream.recv(14, socket.MSG_WAITALL)
                return len(head) == 14 and head[5] & 15 == 0
        except OSError:
            return False

    def __enter__(self):
        """Starts the server, and waits until it has all zones."""
        commands = {"BIND": self.bind_command, "Knot": self.knot_command, DOUBLE: self.double_command, PDNS: self.pdns_command}
        command = commands[self.kind]()
        log = f"{self.folder}/log"
        with open(log, "wb") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file, cwd=self.folder)
        deadline = time.monotonic() + START
        for zone in self.zones:
            while not self.answers(zone):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    fail(f"{self.kind} does not serve {zone}: {read(log)[-2000:]}")
                time.sleep(0.1)
        return self

    def __exit__(self, *_):
        """Ends the server."""
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def target(self, folder, more="", port=None):
        """The lines of zonewright.toml that name this server; the key's secret is in a folder. `port` is another way to it."""
        key = f'{{ name = "{KEY}", algorithm = "hmac-sha256", secret_file = "{folder}/secret" }}'
        return f'type = "rfc2136"\nserver = "127.0.0.1:{port or self.port}"\ntimeout = "120s"\ntsig_key = {key}\n{more}'

    def reader(self, folder, zones, floor=False):
        """The command by which examples/axfr reads zones, or counts their bytes."""
        key = ["--key-name", KEY, "--key-file", f"{folder}/secret"]
        return [built("examples/axfr"), "--server", f"127.0.0.1:{self.port}", *key, *["--floor"] * floor, *zones]

    def kdig(self, zones):
        """The command by which kdig prints zones."""
        # Every user of the machine can see the key as an argument; this key opens nothing.
        signed = ["-p", str(self.port), "-y", f"hmac-sha256:{KEY}:{SECRET}", "+tcp", "+time=600", "+noall", "+answer"]
        return [program("kdig"), "@127.0.0.1", *signed, *[word for zone in zones for word in (zone, "AXFR")]]

    def dig(self, folder, zone):
        """The command by which dig prints a zone."""
        signed = ["-p", str(self.port), "-k", f"{folder}/key", "+tcp", "+noall", "+answer"]
        return [program("dig"), "@127.0.0.1", *signed, zone, "AXFR"]
