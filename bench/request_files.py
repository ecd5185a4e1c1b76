"""Count the source files that a warm hub runs through for one request: `python -m bench.request_files [--list]`."""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

from werkzeug.test import Client

from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.ids import new_id
from a2a_hub.telemetry.log import Log
from bench.servers import SUBJECTS, Settings, function, serving
from functions.hub import app, config
from local.functions import ROOT
from local.ports import LOOPBACK

_COUNTED = (str(ROOT / "shared"), str(ROOT / "functions"))
_HEADERS = {"content-type": "application/json", "authorization": "Bearer token-of-this-count"}
_QUESTION = "What is the expense reimbursement submission deadline?"


def main() -> int:
    """Print the number of files for each request and, with `--list`, their names."""
    parser = argparse.ArgumentParser(prog="python -m bench.request_files", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the files' names as well")
    listed = parser.parse_args().list
    agent = function("agent", SUBJECTS / "constant_agent.py", target="agent")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        settings = Settings(rounds=1, seconds=0.0, folder=Path(folder))
        stack.enter_context(serving([agent], settings))
        recorder = _Recorder()
        plain, storing = _hub(agent.url), _hub(agent.url, TASK_STORE=f"sqlite:{folder}/tasks.sqlite3")
        task_id = _call(storing, "message/stream", _message())["id"]
        requests: dict[str, Callable[[], object]] = {
            "0.3 message/send": lambda: _call(plain, "message/send", _message()),
            "0.3 message/stream": lambda: _call(plain, "message/stream", _message()),
            "0.3 tasks/get": lambda: _call(storing, "tasks/get", {"id": task_id}),
        }
        for name, request in requests.items():
            request()
            files = recorder.files_of(request)
            print(f"{name:20} {len(files):3} files")
            if listed:
                print("".join(f"    {file}\n" for file in files), end="")
    return 0


class _Recorder:
    """The project's files in which a function runs, on this thread and all that start after it."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        threading.setprofile(self._record)
        sys.setprofile(self._record)

    def files_of(self, request: Callable[[], object]) -> list[str]:
        """Return the files that `request` runs through."""
        self._files.clear()
        request()
        return sorted(str(Path(file).relative_to(ROOT)) for file in self._files.copy() if file.startswith(_COUNTED))

    def _record(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._files.add(frame.f_code.co_filename)


def _hub(agent_url: str, **more: str) -> Client:
    environment = {
        "HUB_DEV_TOKEN": "token-of-this-count",
        "HUB_PUBLIC_URL": f"http://{LOOPBACK}",
        "EXPENSE_URL": agent_url,
        "IAM_CREDENTIALS": "none",
        "ROUTES_FILE": str(ROOT / "routes.toml"),
    }
    log = Log(lambda _: None, clock=time.monotonic, new_id=new_id, function="hub")
    return Client(entry_point(app.build(config.read(environment | more), log=log))(None))  # type: ignore[arg-type]


def _call(hub: Client, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result; of a stream, that of its first event."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    text = hub.post("/", data=body, headers=_HEADERS).get_data(as_text=True)
    line = next((line[6:] for line in text.splitlines() if line.startswith("data: ")), text)
    result: dict[str, Any] = json.loads(line)["result"]
    return result


def _message() -> dict[str, Any]:
    message_id = os.urandom(8).hex()
    parts = [{"kind": "text", "text": _QUESTION}]
    return {"message": {"kind": "message", "messageId": message_id, "role": "user", "parts": parts}}


if __name__ == "__main__":
    sys.exit(main())
