"""What asking cluster-management services costs a run, where one of them hangs and one is slow.

10 000 hosts of five projects, all with a wrong address, behind five services: `hung` takes requests and never answers, `slow`
answers each after 9 seconds and lets no host through, the others let all through at once. Of one project, which asks neither, five
hosts go in each pass. A pass is an `apply --auto`; the clock goes on by ten minutes from one to the next. Each must end within two
time-outs of a service (20 s) and what a plan without services takes, must reach further hosts at the hung service and at the slow
one, and the last must not need more memory than the second. `--runs` says how many passes there are.
"""

import json
import socketserver
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple

from . import apply, measure, table
from .tools import NOW, built, fail, read, tell, write

HOSTS, PASSES = 10_000, 20
# Twice the longest time that a request may take, how long `slow` takes, and how much the memory may grow from the second pass.
ASKING, SLOW, MEMORY = 20, 9, 1.1
HUNG_FOR = 60
# In which order each project asks is that of the names: the one that hangs is the first, the second, the last, or none.
PROJECTS = {
    "p0": ["crowd", "hung"],
    "p1": ["hung", "slow"],
    "p2": ["slow", "tasks"],
    "p3": ["crowd", "load", "slow"],
    "p4": ["crowd", "load", "tasks", "default"],
}
# How many seconds each service takes for an answer; none for ever.
SERVICES = {"crowd": 0, "hung": None, "load": 0, "slow": SLOW, "tasks": 0}
# What `apply --auto` ends with where something waits.
WAITS = 5


# How many hosts of a project `default` lets go in a pass, and for how many projects the slow service is asked, and the one that hangs.
BUSY, REACHED = 5, 2
# What the log says of the time that asking took.
STAGE = "asking cluster-management services took"


class Pass(NamedTuple):
    """A pass: its figures, the seconds for lists and deletions and for hosts, how many hosts went, how many each service saw so far."""

    figures: measure.Figures
    lists: float
    asking: float
    went: int
    seen: dict


class Service(socketserver.ThreadingTCPServer):
    """A service on loopback, for as long as the `with` block runs. It lets each host through, but `slow` says: not yet."""

    daemon_threads, request_queue_size, allow_reuse_address = True, 256, True

    def __init__(self, name):
        super().__init__(("127.0.0.1", 0), Handler)
        self.name, self.pause, self.url = name, SERVICES[name], f"http://127.0.0.1:{self.server_address[1]}"
        self.lock, self.tasks, self.seen, self.answered = threading.Lock(), {}, set(), set()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """A client that is gone needs no answer."""

    def shown(self, task):
        """A task as answers have it."""
        return {"id": task["id"], "hosts": task["hosts"], "status": "in-process" if self.name == "slow" else "ok"}


class Handler(BaseHTTPRequestHandler):
    """One connection to a service."""

    protocol_version, disable_nagle_algorithm, wbufsize = "HTTP/1.1", True, -1

    def log_message(self, *_):
        """Nothing: there are too many requests."""

    def answer(self, status, content=None):
        """Answers, when it is time."""
        if self.server.pause is None:
            time.sleep(HUNG_FOR)
            self.close_connection = True
            return
        time.sleep(self.server.pause)
        text = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()

    def do_POST(self):
        """Makes a task."""
        service, task = self.server, json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with service.lock:
            service.tasks[task["id"]] = task
            service.seen.update(task["hosts"])
        self.answer(200, service.shown(task))

    def do_GET(self):
        """Says what is said of a task, or lists all."""
        service, wanted = self.server, self.path.removeprefix("/tasks/")
        with service.lock:
            if not wanted:
                listed = [service.shown(task) for task in service.tasks.values()]
                content = {"result": listed}
            else:
                task = service.tasks.get(wanted)
                content = task and service.shown(task)
                service.seen.update(task["hosts"] if task else [])
        self.answer(200 if content else 404, content)

    def do_DELETE(self):
        """Removes a task."""
        with self.server.lock:
            found = self.server.tasks.pop(self.path.removeprefix("/tasks/"), None)
        self.answer(204 if found else 404)


def project(host):
    """The project of a host: they take turns."""
    return list(PROJECTS)[host % len(PROJECTS)]


def domain(name):
    """The domain of a project."""
    return f"{name}.{apply.FORWARD}"


def write_workspace(folder, hosts, services):
    """Writes a workspace in which each host has an address that it is not to have; with services, projects ask them."""
    apply.write_inventory(folder, hosts)
    names = [f"h{host}.{domain(project(host))}" for host in range(hosts)]
    rows = "".join(f"{host + 1},{name},{project(host)},assigned,sas,,,s1,,\n" for host, name in enumerate(names))
    write(f"{folder}/hosts.csv", "inv,name,project,status,location,queue,rack,switch,port,restrictions\n" + rows)
    head = f"$ORIGIN {apply.FORWARD}.\n$TTL 60\n@ SOA ns1 hostmaster 1 3600 600 86400 60\n@ NS ns1\nns1 A 192.0.2.53\n"
    records = "".join(f"{name}. AAAA 2001:db8:0:1::{host + 1:x}\n" for host, name in enumerate(names))
    write(f"{folder}/zones/{apply.FORWARD}.zone", head + records)
    write(f"{folder}/zones/{apply.REVERSE}.zone", read(f"{folder}/reverse.zone"))
    tables = "".join(f'[cms.{service.name}]\nurl = "{service.url}"\nversion = "v1.4"\n' for service in services)
    for name, asked in PROJECTS.items():
        write(f"{folder}/projects/{name}.yaml", f"id: {name}\nvlan_scheme: static\nvlans: {{main: 604}}\nttl: 60\nautomation: true\n")
        tables += f'[project.{name}]\ndns_domain = "{domain(name)}"\nautomation = "allowed"\n'
        tables += f"cms = {json.dumps(asked)}\n" if services else ""
    apply.write_settings(folder, ['type = "zonefile"\ndir = "zones"\n'])
    settings, own = read(f"{folder}/zonewright.toml"), f'[project.p]\ndns_domain = "{apply.FORWARD}"\nautomation = "allowed"\n'
    if own not in settings:
        fail("ci/benchmark/apply.py writes other settings than ci/benchmark/approvals.py knows")
    write(f"{folder}/zonewright.toml", settings.replace('projects = "p.yaml"', 'projects = "projects/*.yaml"').replace(own, tables))


def command(folder, passed, *words):
    """The command that runs zonewright in a workspace, so many passes after the first one."""
    now = datetime.fromisoformat(NOW.replace("Z", "+00:00")) + timedelta(minutes=10 * passed)
    clock = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return [built("zonewright"), "-C", folder, "--now", clock, "--color", "never", *words]


def one_pass(folder, passed, services):
    """Does a pass; gives what it was."""
    output = f"{folder}/output"
    figures, log = measure.run(command(folder, passed, "-vv", "apply", "--auto", "--yes", "--format", "json"), output, expected=WAITS)
    stages = [float(line.split(" took ")[1].split(" s")[0]) for line in log.splitlines() if STAGE in line]
    if len(stages) != 2:
        fail(f"a pass had {len(stages)} stages of asking, not one for lists and one for hosts")
    seen = {service.name: len(service.seen) for service in services}
    return Pass(figures, *stages, json.loads(read(output))["counts"]["applied"], seen)


def check(hosts, passes):
    """Whether passes did what they were to: those who need no slow service went, and no others."""
    may_go = [min(BUSY, max(hosts // len(PROJECTS) - BUSY * passed, 0)) for passed in range(len(passes))]
    if [own.went for own in passes] != may_go:
        fail(f"so many hosts went in the passes: {[own.went for own in passes]}, not {may_go}")


def further(hosts, passes, name):
    """The fewest further hosts that a service saw in a pass, as long as there were any that it had not seen."""
    reach, before, fewest = hosts * REACHED // len(PROJECTS), 0, hosts
    for own in passes:
        if before < reach:
            fewest = min(fewest, own.seen[name] - before)
        before = own.seen[name]
    return fewest


def run(args):
    """Measures; gives the table."""
    hosts, number, targets = args.hosts or HOSTS, args.runs or PASSES, table.Targets()
    tell(f"approvals: {hosts} hosts, {number} passes")
    passes = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        write_workspace(f"{folder}/plain", hosts, [])
        plain, _ = measure.run(command(f"{folder}/plain", 0, "-q", "plan", "--out", f"{folder}/plan"))
        tell(f"  a plan without services: {plain.wall:.2f} s")
        services = [stack.enter_context(Service(name)) for name in SERVICES]
        write_workspace(f"{folder}/asking", hosts, services)
        for passed in range(number):
            own = one_pass(f"{folder}/asking", passed, services)
            passes.append(own)
            tell(f"  pass {passed + 1}: {own.figures.wall:.2f} s, lists {own.lists:.2f} s, hosts {own.asking:.2f} s, {own.figures.memory / 1e6:.0f} MB, {own.seen}")
    check(hosts, passes)
    second, rows = passes[min(1, number - 1)].figures.memory, []
    for which in sorted({1, min(2, number), max(number // 2, 1), number}):
        own = passes[which - 1]
        times = [table.seconds(own.figures.wall), table.seconds(own.lists), table.seconds(own.asking)]
        seen = [table.number(own.seen[name]) for name in ("slow", "hung")]
        rows.append([which, *times, *seen, table.memory(own.figures.memory), table.ratio(own.figures.memory / second)])
    limit = round(ASKING + plain.wall, 2)
    targets.at_most("asking for hosts, two time-outs and a plan", max(own.asking for own in passes), limit, " s")
    targets.at_most("a whole pass, two time-outs and a plan", max(own.figures.wall for own in passes), limit, " s")
    for name in ("slow", "hung"):
        targets.at_least(f"further hosts that `{name}` sees in a pass", further(hosts, passes, name), 1)
    targets.at_most(f"memory of pass {number}, times pass 2", passes[-1].figures.memory / second, MEMORY)
    head = ["pass", "wall", "of it for lists and deletions", "for hosts", "hosts that `slow` has seen", "that `hung` has seen", "peak memory", "times pass 2"]
    what = f"{table.number(hosts)} hosts; a plan of them without services takes {table.seconds(plain.wall)}, and a request at most 10 s:\n\n"
    return what + table.table(head, rows) + "\n" + targets.table()
