"""The HTML page of a large plan: its size, how soon it is seen, and how long a search takes.

examples/plan.rs makes a plan of N changes, which is saved, and rendered with `zonewright show --format html`. The page is
opened from its file in headless Chromium, each time by a new process with a new profile: first contentful paint and the
load event are those that the browser itself gives, from the start of the navigation. A search is the time from an input
event in the search field until what it found is laid out; the first one is the slowest, as it readies the texts. Without
Chromium only the sizes are measured, with a message.
"""

import fcntl
import gzip
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from .tools import NOW, built, fail, tell

CHANGES, RUNS = 100_000, 5

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
# Found once, found often, found everywhere, found nowhere, two terms, a line of an export.
SEARCHES = ["100042", "2001:db8:0:1", "example", "nothing-has-this", "p01 sas1", "l3-tors.txt:41"]
SEARCH = """(text => {
    const field = document.getElementById("search");
    field.value = text;
    const begin = performance.now();
    field.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    return [performance.now() - begin, document.getElementById("told").textContent];
})(%s)"""
TIMES = """[performance.getEntriesByName("first-contentful-paint")[0].startTime,
    performance.getEntriesByType("navigation")[0].loadEventEnd]"""


class Browser:
    """A headless browser that takes commands over a pipe: messages are JSON, and end with a NUL."""

    def __init__(self, command, profile):
        # The browser reads from 3 and writes to 4; the pipes that it gets must not have one of these numbers before.
        (read, self.write), (self.read, write) = os.pipe(), os.pipe()
        read, write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write))

        def take_pipes():
            os.dup2(read, 3)
            os.dup2(write, 4)

        options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(
            [command, *options, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.number, self.got = 0, b""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def call(self, method, session=None, **params):
        """Calls a method, and gives its result; other messages are ignored."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.got:
                part = os.read(self.read, 1 << 20)
                if not part:
                    fail("the browser ended")
                self.got += part
            one, self.got = self.got.split(b"\0", 1)
            answer = json.loads(one)
            if answer.get("id") == self.number:
                if "error" in answer:
                    fail(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, script):
        """Runs a script in the page, and gives its value."""
        answer = self.call("Runtime.evaluate", self.session, expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            fail(answer["exceptionDetails"])
        return answer["result"].get("value")

    def open(self, path):
        """Opens a file, and waits until it was painted."""
        self.call("Page.navigate", self.session, url=f"file://{path}")
        painted = 'document.readyState === "complete" && performance.getEntriesByName("first-contentful-paint").length'
        while not self.value(painted):
            time.sleep(0.05)

    def close(self):
        """Ends the browser."""
        self.call("Browser.close")
        self.process.wait()


def measure(command, page):
    """Opens a page in a new browser; gives paint and load in milliseconds, and of each search the time and what it found."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(command, profile)
        browser.open(page)
        times = browser.value(TIMES)
        searches = [browser.value(SEARCH % json.dumps(text)) for text in SEARCHES]
        browser.close()
    return times, searches


def sizes(folder, changes):
    """Writes the plan and its page; gives the page's path, and sentences about both."""
    plan, page = f"{folder}/plan.json", f"{folder}/plan.html"
    with open(plan, "wb") as out:
        subprocess.run([built("examples/plan"), str(changes)], stdout=out, check=True)
    begin = time.monotonic()
    with open(page, "wb") as out:
        subprocess.run([built("zonewright"), "-C", folder, "show", plan, "--format", "html", "--now", NOW], stdout=out, check=True)
    took = time.monotonic() - begin
    with open(page, "rb") as file:
        content = file.read()
    text = f"- plan of {changes} changes: {os.path.getsize(plan) / 1e6:.1f} MB as a document\n"
    packed = len(gzip.compress(content, 6)) / 1e6
    return page, text + f"- page: {len(content) / 1e6:.1f} MB, {packed:.1f} MB by gzip, read and rendered in {took:.2f} s\n"


def add_arguments(parser):
    """Adds what only this subcommand knows."""
    parser.add_argument("--changes", type=int, default=CHANGES)
    parser.add_argument("--keep", metavar="FOLDER", help="leave plan.json and plan.html in this folder")


def run(args):
    """Measures; gives sentences."""
    tell("html")
    with tempfile.TemporaryDirectory() as folder:
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
            folder = os.path.abspath(args.keep)
        page, text = sizes(folder, args.changes)
        command = next(filter(shutil.which, BROWSERS), None)
        if command is None:
            tell(f"ci/bench: none of {', '.join(BROWSERS)} is installed: no times were measured")
            return text
        runs = [measure(command, page) for _ in range(args.runs or RUNS)]
    paint, load = (statistics.median(figures) for figures in zip(*(times for times, _ in runs)))
    text += f"- first contentful paint: {paint:.0f} ms; loaded, and the first changes listed: {load:.0f} ms\n"
    for place, search in enumerate(SEARCHES):
        took = statistics.median(searches[place][0] for _, searches in runs)
        text += f"- search for `{search}`: {took:.0f} ms; {runs[0][1][place][1]}\n"
    return text
