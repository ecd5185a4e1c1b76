"""`server.py SDK DOOR`: runs the commands that come in at the socket DOOR, with the gcloud in SDK, until standard input ends.

Run by gcloud's own Python. A command runs in a process of its own, with the environment, folder and files of whoever asked. The
tree of commands is made before; what a command had to import, this process imports as well before the next one.
"""

import array
import atexit
import contextlib
import gc
import importlib
import json
import marshal
import os
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any


def serve(sdk: Path, door: Path) -> None:
    """Says `ready`, and answers."""
    sys.path.insert(0, str(sdk / "lib"))
    gcloud: Any = importlib.import_module("gcloud")
    sys.path = gcloud.reorder_sys_path(sys.path)
    gcloud._fix_google_module()
    commands: Any = gcloud._import_gcloud_main()
    tree = commands.CreateCLI([])
    commands.CreateCLI = lambda _: tree
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(door))
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while sys.stdin not in (ready := select.select([sys.stdin, listener], [], [])[0]):
            assert ready
            connection, _ = listener.accept()
            with connection:
                learn(door.parent)
                # Otherwise a command's collector would visit, and so copy, everything that is loaded.
                gc.freeze()
                if os.fork() == 0:
                    listener.close()
                    run(gcloud, connection, door.parent)


def learn(folder: Path) -> None:
    """Imports what earlier commands had to import."""
    for file in folder.glob("*.json"):
        for name in json.loads(file.read_text()):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        file.unlink()


def run(gcloud: Any, connection: socket.socket, folder: Path) -> None:
    """Runs one command, tells its status, and ends this process."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        arguments, environment, here = receive(connection)
        known = set(sys.modules)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(here)
        sys.argv = ["gcloud.py", *arguments]
        try:
            gcloud.main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        teach(sorted(set(sys.modules) - known), folder)
    except BaseException:
        traceback.print_exc()
    finally:
        connection.sendall(bytes([status & 255]))
        os._exit(0)


def teach(modules: list[str], folder: Path) -> None:
    """The resident finds these names."""
    unfinished = folder / f"{os.getpid()}.part"
    unfinished.write_text(json.dumps([name for name in modules if not name.startswith("__")]))
    unfinished.rename(unfinished.with_suffix(".json"))


def receive(connection: socket.socket) -> Any:
    """The command; the asker's standard files have become those of this process."""
    files = array.array("i")
    text, ancillary, _, _ = connection.recvmsg(1 << 16, socket.CMSG_LEN(3 * files.itemsize))
    for _, _, data in ancillary:
        files.frombytes(data)
    while more := connection.recv(1 << 16):
        text += more
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    return marshal.loads(text)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]))
