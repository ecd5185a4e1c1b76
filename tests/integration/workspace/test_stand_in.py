"""The Workspace worker over the stand-ins of `make run CLOUD=local`, with the settings that the run writes for it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.cloud.accounts import Accounts
from local.cloud.program import Server, recorded
from local.cloud.wiring import STAND_INS, write_worker_settings
from tests.fakes.local_cloud import call, inject
from tests.fakes.workspace_worker import PROGRAM, ROOT, python

TODAY = datetime.now(UTC).date()


class LocalWorkspace:
    """The worker's program for one text, in a shell that has read the settings."""

    def __init__(self, urls: dict[str, str], settings: Path) -> None:
        self.urls, self._settings = urls, settings

    def outcome(self, text: str, *before: str) -> dict[str, Any]:
        said = [*before, text]
        roles = ["ROLE_USER", "ROLE_AGENT"] * len(said)
        history = [{"role": role, "parts": [{"text": each}]} for role, each in zip(roles, said, strict=False)]
        asked = {"taskId": "t", "text": text, "history": history, "cancelled": False}
        asked |= {"arguments": ["--may-write", "mail", "--time-zone", "Asia/Tokyo"]}
        program = "import json, os, sys; print(json.dumps(json.load(sys.stdin) | {'environ': dict(os.environ)}))"
        script = f'. "$1"; "$2" -c "{program}" | "$2" "$3"'
        done = subprocess.run(
            ["sh", "-c", script, "sh", str(self._settings), str(python()), str(PROGRAM)],
            input=json.dumps(asked),
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        outcome: dict[str, Any] = json.loads(done.stdout)
        return outcome


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalWorkspace]:
    """Both stand-ins, as the table has them."""
    accounts, folder = Accounts(), tmp_path_factory.mktemp("run")
    with ExitStack() as stack:
        rows = {one.name: one for one in STAND_INS if one.name in ("workspace", "vertex-ai")}
        urls = {
            name: stack.enter_context(Server(recorded(one.handler({}, accounts)))).url for name, one in rows.items()
        }
        settings = write_worker_settings(folder, urls, tasks_url="http://127.0.0.1:9", token="t")
        yield LocalWorkspace(urls, settings)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('find_files {"words": "Minutes"}', "Minutes of the release meeting"),
        ('find_files {"words": "研修"}', "予算メモ"),
        ('read_file {"file_id": "minutes"}', "version 2 is released on 1 December"),
        ('search_mail {"query": "Minutes"}', "Aki <aki@example.com>"),
        (f'list_events {{"start": "{TODAY}T00:00", "end": "{TODAY + timedelta(days=3)}T00:00"}}', "Design review"),
    ],
)
def test_its_tools_find_what_the_sample_holds(local: LocalWorkspace, text: str, found: str) -> None:
    assert found in local.outcome(text)["answer"]


def test_a_mail_is_sent_after_a_yes_and_not_before(local: LocalWorkspace) -> None:
    def sent() -> int:
        received = call(f"{local.urls['workspace']}/__received")
        return len([each for each in received if each["target"].endswith("/drafts/send")])

    text = 'send_mail {"to": ["aki@example.com"], "subject": "Minutes", "body": "Here."}'
    question = local.outcome(text)["question"]
    assert (question.startswith("Send this mail?"), sent()) == (True, 0)
    assert "✓ Sent to aki@example.com" in local.outcome("yes", text, question)["answer"]
    assert sent() == 1


def test_an_api_that_is_off_is_a_sentence(local: LocalWorkspace) -> None:
    inject(local.urls["workspace"], "disable-api", api="drive")
    answer = local.outcome('find_files {"words": "Minutes"}')["answer"]
    call(f"{local.urls['workspace']}/__faults", "DELETE")
    assert "Minutes of" not in answer
    assert "error" in answer
