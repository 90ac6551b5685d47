"""What every benchmark needs: where the project is, programs, files, and how to give up."""

import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(ROOT, "target/release")
# The clock that workspaces are made for.
NOW = "2026-11-20T02:00:00Z"
# The TSIG key of all servers: its secret opens nothing.
KEY, SECRET = "bench", "bm8gc2VjcmV0IGF0IGFsbCwgZm9yIGEgYmVuY2htYXJr"


def fail(message):
    """Ends the program: a benchmark that went wrong has no figures."""
    sys.exit(f"ci/bench: {message}")


def tell(message):
    """Prints the progress on standard error."""
    print(message, file=sys.stderr, flush=True)


def find(name):
    """The path of a program, which may be one for administrators, or None."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")


def program(name):
    """The path of a program that must be there."""
    return find(name) or fail(f"{name} is not installed")


def built(name):
    """The path of a program of this project, such as `zonewright` or `examples/fleet`."""
    path = os.path.join(RELEASE, name)
    if not os.path.exists(path):
        fail(f"{path} is missing: first run `cargo build --locked --release --bins --examples`")
    return path


def write(path, text, mode=0o644):
    """Writes a file, and the folder that it is in."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)


def read(path):
    """The text of a file."""
    with open(path, errors="replace") as file:
        return file.read()


def write_keys(folder):
    """Writes the key's secret for zonewright (`secret`), and the key as BIND's tools read it (`key`)."""
    write(f"{folder}/secret", SECRET, 0o600)
    write(f"{folder}/key", f'key "{KEY}" {{ algorithm hmac-sha256; secret "{SECRET}"; }};\n', 0o600)
