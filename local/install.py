"""Make a virtual environment that holds exactly what a hash-pinned requirements file names.

Runs under any Python, before anything is installed: standard library only.
"""

import contextlib
import fcntl
import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

STAMP = "installed.json"
_ROOT = Path(__file__).resolve().parents[1]
_MAIN = _ROOT / ".venv"
_PIP = _ROOT / "requirements" / "pip.txt"
_INSTALL = ("--no-deps", "--require-hashes", "--disable-pip-version-check")
_NOT_INSTALLED = (
    "pip could not install this; its messages are above. When it found no versions, it did not reach its package index: "
    "see `pip config list`, PIP_INDEX_URL and HTTPS_PROXY. The same command tries again."
)
_NOT_MADE = (
    "Python could not make an environment; its message is above. It needs its module venv (Debian, Ubuntu: apt install"
    " python3-venv) and about 700 MB, and this disk has {} MB left. The same command tries again."
)


def main(arguments: list[str]) -> int:
    """Make VENV hold REQUIREMENTS; return 0, at once if it did before."""
    if sys.version_info < (3, 11):  # noqa: UP036 (it is run by whatever Python there is)
        print(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}. Try: make PYTHON=python3.12 …")
        return 1
    # Reached by a link, it is the one at the link's other end, and is not made anew.
    venv, requirements = Path(arguments[0]).resolve(), Path(arguments[1])
    pins = requirements.read_text()
    name, content = requirements.name, hashlib.sha256(pins.encode()).hexdigest()
    if installed(venv).get(name) == content:
        return 0
    with alone(venv):
        before = installed(venv)
        if before.get(name) == content:
            return 0
        packages = len(re.findall(r"^\w", pins, re.MULTILINE))
        print(f"installing {packages} packages of {requirements} into {venv.name}", flush=True)
        (venv / STAMP).unlink(missing_ok=True)
        if not before or not pip_of(venv):
            make(venv)
        # The file names every package, so pip has nothing to resolve; pip 23.2 refuses a pin that another package wants with
        # an extra as soon as that package has a newer release.
        status = show_progress([*pip_of(venv), "install", *_INSTALL, "-r", str(requirements)], packages)
        if status:
            print(_NOT_INSTALLED, file=sys.stderr)
            return status
        # All files pin the same versions: what the others installed still holds, unless this file's pins have changed.
        now = {**maker(venv), **({} if name in before else before), name: content}
        (venv / STAMP).write_text(json.dumps(now))
    return 0


def make(venv: Path) -> None:
    """Make an empty environment at `venv`, which has no pip of its own when .venv lends it one."""
    lent = venv != _MAIN and installed(_MAIN)
    command = [sys.executable, "-m", "venv", "--clear", *(["--without-pip"] if lent else []), str(venv)]
    subprocess.run(command, check=True)
    if not lent:
        # The pip of Python 3.11 takes twice as long to find packages. Where no other can be had, it does.
        newer = [*pip_of(venv), "install", *_INSTALL, "--quiet", "--retries=0", "-r", str(_PIP)]
        subprocess.run(newer, check=False, stderr=subprocess.DEVNULL)


def pip_of(venv: Path) -> list[str]:
    """Return the command of the pip that installs into `venv`, its own or that of .venv; nothing if there is neither."""
    if any(venv.glob("lib/python*/site-packages/pip")):
        return [str(venv / "bin" / "python"), "-m", "pip"]
    if installed(_MAIN):
        return [str(_MAIN / "bin" / "python"), "-m", "pip", "--python", str(venv / "bin" / "python")]
    return []


def show_progress(pip: list[str], packages: int) -> int:
    """Run `pip`, show on a terminal which of `packages` it downloads or that it unpacks them, and return its exit status."""
    started, count = time.monotonic(), 0
    clear = "\r\033[K" if sys.stdout.isatty() else ""
    with subprocess.Popen(pip, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            if line.startswith("Collecting "):
                count += 1
                step = f"{count} of {packages}: {line.split()[1]}"
            elif line.startswith("Installing collected packages"):
                step = "unpacking"
            else:
                continue
            if clear:
                print(f"{clear}  {step}", end="", flush=True)
    print(f"{clear}  {'failed' if process.returncode else 'done'} after {time.monotonic() - started:.0f} s", flush=True)
    return process.returncode


def installed(venv: Path) -> dict[str, str]:
    """Return the requirements files that `venv` holds, each with its hash; empty when it has to be made anew."""
    try:
        stamp: dict[str, str] = json.loads((venv / STAMP).read_text())
    except (OSError, ValueError):
        return {}
    usable = (venv / "bin" / "python").exists() and stamp.items() >= maker(venv).items()
    return stamp if usable else {}


def maker(venv: Path) -> dict[str, str]:
    """Return the Python that made `venv`, and its place: scripts in it name both."""
    return {"python": sys.version, "place": str(venv)}


@contextlib.contextmanager
def alone(venv: Path) -> Iterator[None]:
    """Hold the lock of `venv`, so that two commands started at once do not install over each other."""
    venv.parent.mkdir(parents=True, exist_ok=True)
    with venv.with_name(venv.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError:
        sys.exit(_NOT_MADE.format(shutil.disk_usage(_ROOT).free >> 20))
    except OSError as refusal:
        sys.exit(f"{refusal}\nYou need the right to write here: clone the project into a folder of your own.")
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command begins the installation again")
