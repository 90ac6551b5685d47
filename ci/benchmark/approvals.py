"""What asking cluster-management services costs a run, where one of them hangs and one is slow.

10 000 hosts of five projects, all of which move, behind five services: `hung` takes requests and never answers, `slow` answers each
after 9 seconds, the others answer at once. `default` lets five hosts of one project go in each pass. A pass is an `apply --auto`;
the clock goes on by ten minutes from one to the next. Each pass must end within two time-outs of a service (20 s) besides what a
plan without services takes, must reach further hosts at the hung service and at the slow one, and must not need more memory than
the second one.
"""

import json
import socketserver
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler

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
    """Does a pass; gives its figures, how many hosts went, and how many each service has seen."""
    output = f"{folder}/output"
    figures, log = measure.run(command(folder, passed, "-vv", "apply", "--auto", "--yes", "--format", "json"), output, expected=WAITS)
    applied = json.loads(read(output))["counts"]["applied"]
    stage = [float(line.split(" took ")[1].split(" s")[0]) for line in log.splitlines() if "services took" in line]
    return figures, applied, sum(stage), {service.name: len(service.seen) for service in services}


def run(args):
    """Measures; gives the table."""
    hosts, passes, targets = args.hosts or HOSTS, args.runs or PASSES, table.Targets()
    tell(f"approvals: {hosts} hosts, {passes} passes")
    rows, done = [], []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        write_workspace(f"{folder}/plain", hosts, [])
        plain, _ = measure.run(command(f"{folder}/plain", 0, "-q", "plan", "--out", f"{folder}/plan"))
        services = [stack.enter_context(Service(name)) for name in SERVICES]
        write_workspace(f"{folder}/asking", hosts, services)
        for passed in range(passes):
            found = one_pass(f"{folder}/asking", passed, services)
            figures, applied, asking, seen = found
            tell(f"  pass {passed + 1}: {figures.wall:.2f} s, {asking:.2f} s asking, {figures.memory / 1e6:.0f} MB, {applied} went, seen {seen}")
            done.append(found)
    for number, (figures, applied, asking, seen) in enumerate(done, 1):
        if number in (1, 2, passes // 2, passes):
            beyond = figures.wall - plain.wall
            shown = [table.number(seen["slow"]), table.number(seen["hung"]), applied]
            times = table.ratio(figures.memory / done[1][0].memory)
            rows.append([number, table.seconds(figures.wall), table.seconds(beyond), *shown, table.memory(figures.memory), times])
    walls = [figures.wall - plain.wall for figures, *_ in done]
    targets.at_most("the longest pass, besides a plan without services", max(walls), ASKING, " s")
    for name in ("slow", "hung"):
        counts = [seen[name] for *_, seen in done]
        grows = min(after - before for before, after in zip([0, *counts], counts))
        left = hosts - counts[-1]
        targets.at_least(f"further hosts that `{name}` sees in a pass", grows if left else 1, 1)
    targets.at_most("memory of the last pass, times the second", done[-1][0].memory / done[1][0].memory, MEMORY)
    head = ["pass", "wall", "besides a plan", "hosts that `slow` has seen", "that `hung` has seen", "hosts that went", "peak memory", "times pass 2"]
    what = f"{table.number(hosts)} hosts; a plan of them without services takes {table.seconds(plain.wall)}:\n\n"
    return what + table.table(head, rows) + "\n" + targets.table()
