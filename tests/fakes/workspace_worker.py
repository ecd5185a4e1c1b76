"""The Workspace worker in its own environment, beside a small Workspace and a model that calls functions."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.function_calling_model import FunctionCallingModel, ModelRequest, Part, call
from tests.fakes.workspace import OWNER, Workspace

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "integration" / "workspace" / "program.py"
_OF_GOOGLE = ("GOOGLE_", "GEMINI_", "WORKSPACE_", "CLOUDSDK_")


def python() -> Path:
    """The interpreter of the environment that the worker's requirements pin; made when it is not there as pinned."""
    venv = ROOT / ".run" / "e2e" / "workspace"
    requirements = ROOT / "workers" / "workspace" / "requirements.txt"
    subprocess.run([sys.executable, str(ROOT / "local" / "install.py"), str(venv), str(requirements)], check=True)
    return venv / "bin" / "python"


def environment(workspace: Workspace, model: FunctionCallingModel, folder: Path) -> dict[str, str]:
    """Return what the worker is started with: nothing of this machine's own Google accounts."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OF_GOOGLE)}
    return inherited | {
        "PYTHONPATH": str(ROOT),
        "GOOGLE_APPLICATION_CREDENTIALS": str(workspace.key_file(folder)),
        "GOOGLE_CLOUD_PROJECT": "my-hub-project",
        "GOOGLE_CLOUD_LOCATION": "asia-northeast1",
        "VERTEX_AI_ENDPOINT": model.server.url,
        "WORKSPACE_ENDPOINT": workspace.server.url,
        "WORKSPACE_MODEL": "gemini-2.5-flash",
        "WORKSPACE_USER": OWNER,
    }


@dataclass
class Task:
    """A task whose turns are taken one after the other; `history` is what was said, as the hub keeps it."""

    program: "WorkspaceProgram"
    task_id: str
    history: list[dict[str, Any]] = field(default_factory=list)

    def say(self, text: str, *arguments: str, cancelled: bool = False) -> dict[str, Any]:
        """The outcome of a turn."""
        self.history.append({"role": "ROLE_USER", "parts": [{"text": text}]})
        return self.again(*arguments, cancelled=cancelled)

    def again(self, *arguments: str, cancelled: bool = False) -> dict[str, Any]:
        """The outcome of the same turn, which somebody else has begun."""
        said = [each["parts"][0]["text"] for each in self.history if each["role"] == "ROLE_USER"]
        outcome = self.program.turn(self.task_id, said[-1], self.history, arguments, cancelled=cancelled)
        # What was told last is the task's status until something else is.
        told = [*outcome["told"], outcome.get("question")] if "question" in outcome else outcome["told"][:-1]
        self.history += [{"role": "ROLE_AGENT", "parts": [{"text": text}]} for text in told]
        return outcome


class WorkspaceProgram:
    """The program. Each turn makes its worker anew, with the settings that it is given."""

    def __init__(self, workspace: Workspace, model: FunctionCallingModel, folder: Path) -> None:
        self.workspace, self.model = workspace, model
        self._log, self._logged = folder / "worker.log", 0
        self._environ = environment(workspace, model, folder)
        self._errors = self._log.open("w")
        self._popen = subprocess.Popen(
            [str(python()), str(PROGRAM)],
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._tasks = 0

    def reset(self) -> None:
        """The Workspace holds one file, the model says nothing, and neither has heard anything."""
        self.workspace.empty()
        self.workspace.add_file("f-1", "Figures", "Revenue: 12")
        self.model.says, self.model.broken, self.model.finish = _nothing, 0, "STOP"
        self.model.heard.clear()
        self._logged = self._log.stat().st_size

    def logged(self) -> str:
        """Return what it wrote for the operator since then."""
        return self._log.read_text()[self._logged :]

    def task(self) -> Task:
        """A new one."""
        self._tasks += 1
        return Task(self, f"task-{self._tasks}")

    def turn(
        self,
        task_id: str,
        text: str,
        history: list[dict[str, Any]],
        arguments: Sequence[str],
        *,
        cancelled: bool,
    ) -> dict[str, Any]:
        """Return what a turn came to: an `answer`, a `question` or why it `failed`; and what was `told` on the way."""
        asked = {"taskId": task_id, "text": text, "history": history, "cancelled": cancelled}
        asked |= {"arguments": list(arguments), "environ": self._environ}
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.write(json.dumps(asked) + "\n")
        self._popen.stdin.flush()
        outcome: dict[str, Any] = json.loads(self._popen.stdout.readline())
        return outcome

    def close(self) -> None:
        """It has ended."""
        self._popen.kill()
        self._popen.communicate()
        self._errors.close()


@contextlib.contextmanager
def workspace_program(folder: Path) -> Iterator[WorkspaceProgram]:
    """The worker's program, and its surroundings."""
    workspace, model = Workspace(), FunctionCallingModel(_nothing)
    with workspace.server, model.server:
        program = WorkspaceProgram(workspace, model, folder)
        try:
            yield program
        finally:
            program.close()


def _nothing(_: ModelRequest) -> str:
    return "Nothing."


def mails_the_figures(heard: ModelRequest) -> Part | str:
    """Finds the file, reads it, and sends it."""
    if "find_files" in heard.results:
        return call("read_file", file_id=heard.results["find_files"]["files"][0]["file_id"])
    if "read_file" in heard.results:
        text = heard.results["read_file"]["text"]
        return call("send_mail", to=["aki@example.com"], subject="Figures", body=text)
    if "It was done" in heard.text:
        return "The figures are on their way."
    if "no yes" in heard.text:
        return call("send_mail", to=["ken@example.com"], subject="Figures", body="12")
    if "said no" in heard.text:
        return "Nothing was sent."
    return call("find_files", words="Figures")
