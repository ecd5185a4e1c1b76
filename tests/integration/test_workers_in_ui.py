"""What people read of the work of pull workers, who may write text, data and files: text alone, in a user interface."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from a2a_hub.a2a.model import Artifact, Message, Part, Role, TaskArtifactUpdateEvent, TaskState
from a2a_hub.a2a.reply import status_update
from a2a_hub.identity.principal import digest
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import Lease, TaskQuery
from tests.fakes.hub import Hub, route, streamed_text, text_of
from tests.fakes.task_client import WAYS, TaskClient

Working = Callable[[list[tuple[str, Part, bool]]], None]
_WRITTEN = "2026-01-01T00:00:00.000Z"
_TEXT = Part(text="Three pages")
_DATA = Part(data={"pages": 3}, media_type="application/json")
_FILE = Part(raw="AAEC", filename="plan.pdf", media_type="application/pdf")
_LINK = Part(url="https://files.example.com/plan", filename="plan")
_ATTACHED = [
    {"kind": "file", "file": {"bytes": "AAEC", "name": "draft.pdf", "mimeType": "application/pdf"}},
    {"kind": "data", "data": {"urgent": True}},
    {"kind": "text", "text": "Plan it"},
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    with closing(SqliteTaskStore(tmp_path / "tasks.db", clock=time.time, new_token=random_hex)) as store:
        yield store


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "TASK_CANCEL_POLL_SECONDS": "0.05"}
    return Hub(route("team", "", role="developer"), settings=settings)


@pytest.fixture
def working(store: SqliteTaskStore) -> Iterator[Working]:
    """Has one task done by a worker that writes these parts: into which artifact, which, and whether appended."""
    threads: list[threading.Thread] = []

    def work(parts: list[tuple[str, Part, bool]]) -> None:
        thread = threading.Thread(target=_work, args=(store, parts))
        threads.append(thread)
        thread.start()

    yield work
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("parts", "read"),
    [
        ([_TEXT, _DATA], "Three pages"),
        ([_DATA, _TEXT], "Three pages"),
        ([_TEXT, _FILE], "Three pages\n\n[plan.pdf]"),
        ([_LINK], "plan: https://files.example.com/plan"),
        ([_DATA], '{\n  "pages": 3\n}'),
        ([], "The work has ended without an answer."),
        ([Part(text="\n")], "The work has ended without an answer."),
    ],
    ids=["data", "data first", "a file", "a link alone", "data alone", "nothing", "blank text"],
)
def test_a_user_interface_reads_one_text_whatever_a_worker_writes(
    hub: Hub, working: Working, parts: list[Part], read: str
) -> None:
    working([(str(number), part, False) for number, part in enumerate(parts)])
    assert text_of(hub.send("Plan it")) == read


@pytest.mark.parametrize(
    ("parts", "read"),
    [
        ([_TEXT, _DATA], "Three pages"),
        ([_DATA, _TEXT], "Three pages"),
        ([_TEXT, _FILE], "Three pages\n\n[plan.pdf]"),
        ([_DATA], '{\n  "pages": 3\n}'),
        ([], "The work has ended without an answer."),
    ],
    ids=["data", "data first", "a file", "data alone", "nothing"],
)
def test_so_is_a_stream_text_alone(hub: Hub, working: Working, parts: list[Part], read: str) -> None:
    working([("answer", part, number > 0) for number, part in enumerate(parts)])
    events = hub.stream("Plan it")
    assert streamed_text(events) == read
    assert (events[-1]["status"]["state"], events[-1]["final"]) == ("completed", True)


_IMAGE = "![a](https://evil.example/x) and [b](https://evil.example/y)\u202e"
_SHOWN = "a and b (`https://evil.example/y`)"


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("part", "read"),
    [
        (Part(text=_IMAGE), _SHOWN),
        (Part(data={"said": "![a](https://evil.example/x)"}), '{\n  "said": "a"\n}'),
    ],
    ids=["text", "data alone"],
)
def test_what_a_worker_writes_leads_a_user_interface_nowhere(
    hub: Hub, working: Working, part: Part, read: str, streaming: bool
) -> None:
    working([("answer", part, False)])
    assert (streamed_text(hub.stream("Plan it")) if streaming else text_of(hub.send("Plan it"))) == read


@pytest.mark.parametrize("streaming", [False, True])
def test_a_question_of_a_worker_shows_the_addresses_that_a_person_decides_on(
    hub: Hub, store: SqliteTaskStore, streaming: bool
) -> None:
    def ask() -> None:
        lease = _leased(store)
        asked = Message(message_id="q", role=Role.AGENT, parts=(Part(text="Send ![a](https://evil.example/x)?"),))
        waits = status_update(lease.stored.task, TaskState.INPUT_REQUIRED, at=_WRITTEN)
        waits = replace(waits, status=replace(waits.status, message=asked))
        store.append(lease.stored.task.id, [waits], expected_version=lease.stored.version, lease=lease.token)

    with ThreadPoolExecutor() as threads:
        threads.submit(ask)
        shown = streamed_text(hub.stream("Plan it")) if streaming else text_of(hub.send("Plan it"))
    assert shown == "Send ![a] (https://evil.example/x)?"


@pytest.mark.parametrize(
    ("first", "second", "read"),
    [
        ("![a]", "(https://evil.example/x)", "![a] (https://evil.example/x)"),
        ("<scr", "ipt src=x>", "&lt;script src=x>"),
        ("<", "img src=x>", "< img src=x>"),
        ("a <b", "c", "a &lt;bc"),
        ("See [1]", " and [2].", "See [1] and [2]."),
    ],
)
def test_no_link_and_no_tag_begins_where_two_chunks_of_a_worker_meet(
    hub: Hub, working: Working, first: str, second: str, read: str
) -> None:
    working([("answer", Part(text=first), False), ("answer", Part(text=second), True)])
    assert streamed_text(hub.stream("Plan it")) == read


def test_a_program_reads_what_a_worker_wrote_and_a_person_who_looks_it_up_no_link(hub: Hub, working: Working) -> None:
    working([("answer", Part(text=_IMAGE), False)])
    sent = {"message": {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Plan it"}]}}
    _, answer = hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": sent})
    assert answer["result"]["task"]["artifacts"][0]["parts"] == [{"text": _IMAGE}]
    assert text_of(hub.send("/task 1")) == f"Task 1 is completed: Plan it\n\n{_SHOWN}"


@pytest.mark.parametrize("contract", ["ui", "program"])
@pytest.mark.parametrize("way", WAYS)
def test_a_user_interface_that_asks_for_a_task_reads_it_as_in_a_stream(
    tmp_path: Path, store: SqliteTaskStore, working: Working, way: str, contract: str
) -> None:
    clients = tmp_path / "clients.toml"
    clients.write_text(f'[[clients]]\nname = "one"\ntoken_sha256 = "{digest("t" * 32)}"\ncontract = "{contract}"\n')
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "CLIENTS_FILE": str(clients)}
    client = TaskClient(Hub(route("team", "", role="developer"), settings=settings), way, token="t" * 32)
    shown = _SHOWN if contract == "ui" else _IMAGE
    client.send("Plan it", at_once=True)
    task_id = store.list("client:one", TaskQuery(), size=1, after=None).tasks[0].task.id
    events = client.subscribe(task_id)
    assert next(events).kind == "task"
    working([("answer", Part(text=_IMAGE), False)])
    assert [event.text for event in events if event.text] == [shown]
    assert client.get(task_id).text == shown
    if client.version == "1.0":
        listed = client.call("ListTasks", {"includeArtifacts": True})["tasks"]
        assert [each["artifacts"][0]["parts"][0]["text"] for each in listed] == [shown]


@pytest.mark.parametrize("streaming", [False, True])
def test_whoever_waits_for_work_that_is_cancelled_reads_so(hub: Hub, store: SqliteTaskStore, streaming: bool) -> None:
    def cancel() -> str:
        lease = _leased(store)
        store.release(lease.stored.task.id, lease=lease.token)
        return text_of(hub.send("/cancel 1"))

    with ThreadPoolExecutor() as threads:
        told = threads.submit(cancel)
        if streaming:
            events = hub.stream("計画を立てて")
            assert streamed_text(events) == "このタスクは完了前に中止されました。"
            assert events[-1]["status"]["state"] == "completed"
        else:
            assert text_of(hub.send("Plan it")) == "This task was canceled before it was done."
        assert "1" in told.result(20)


@pytest.mark.parametrize(
    ("asked", "waits", "works"),
    [
        ("Plan it", "No worker has taken this yet; it is waiting for one.", "the work continues"),
        ("計画を立てて", "この依頼はワーカー待ちで、まだ処理は始まっていません。", "処理は続いています"),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
def test_work_that_no_worker_has_taken_is_not_said_to_go_on(
    tmp_path: Path, store: SqliteTaskStore, asked: str, waits: str, works: str, streaming: bool
) -> None:
    def answer(seconds: str) -> str:
        settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "TASK_UI_SECONDS": seconds}
        hub = Hub(route("team", "", role="developer"), settings=settings)
        return streamed_text(hub.stream(asked)) if streaming else text_of(hub.send(asked))

    assert waits in answer("0.1")
    _leased(store)
    with ThreadPoolExecutor() as threads:
        taken = threads.submit(_leased, store)
        assert works in answer("3")
        taken.result(20)


def test_what_follows_something_that_is_not_shown_is_not_appended_to_nothing(hub: Hub, working: Working) -> None:
    working([("answer", _DATA, False), ("answer", _TEXT, True), ("answer", _FILE, True)])
    updates = [event for event in hub.stream("Plan it") if event["kind"] == "artifact-update"]
    assert [event["append"] for event in updates] == [False, True]


def test_a_stream_does_not_send_back_what_its_user_attached(hub: Hub, working: Working) -> None:
    working([("answer", _TEXT, False)])
    first = hub.stream("Plan it", parts=_ATTACHED)[0]
    (message,) = first["history"]
    assert message["parts"] == [{"kind": "text", "text": "[draft.pdf]"}, {"kind": "text", "text": "Plan it"}]


@pytest.mark.parametrize("streaming", [False, True])
def test_whoever_names_json_gets_the_data_as_well(hub: Hub, working: Working, streaming: bool) -> None:
    working([("text", _TEXT, False), ("data", _DATA, False), ("file", _FILE, False)])
    data = {"kind": "data", "data": {"pages": 3}, "metadata": {"mimeType": "application/json"}}
    modes = ["application/json"]
    if not streaming:
        text, *others = hub.send("Plan it", modes=modes)["parts"]
        assert text == {"kind": "text", "text": "Three pages\n\n[plan.pdf]"}
        assert [each["data"] for each in others] == [data["data"]]
        return
    events = hub.stream("Plan it", modes=modes)
    parts = [event["artifact"]["parts"][0] for event in events if event["kind"] == "artifact-update"]
    assert [part["kind"] for part in parts] == ["text", "data", "text"]


@pytest.mark.parametrize(("asked", "read"), [("Plan it", "cannot be kept as one"), ("計画を立てて", "保存できません")])
def test_where_no_task_is_kept_that_is_what_people_read_and_not_that_they_may_not(
    hub: Hub, asked: str, read: str
) -> None:
    told = hub.query(asked)
    assert read in told["answer"]
    assert (told["error"]["kind"], told["error"]["fault"]) == ("untasked", "no_stored_task")
    assert read in text_of(Hub(route("team", "", role="developer")).send(asked))


def _work(store: SqliteTaskStore, parts: list[tuple[str, Part, bool]]) -> None:
    lease = _leased(store)
    task = lease.stored.task

    def update(id_: str, part: Part, append: bool) -> Any:
        artifact = Artifact(artifact_id=id_, parts=(part,))
        return TaskArtifactUpdateEvent(
            task_id=task.id, context_id=task.context_id or "", artifact=artifact, append=append
        )

    events = [update(*each) for each in parts]
    store.append(task.id, [*events, status_update(task, TaskState.COMPLETED, at=_WRITTEN)], lease=lease.token)


def _leased(store: SqliteTaskStore) -> Lease:
    deadline = time.monotonic() + 20
    while (lease := store.lease("worker", seconds=60, roles=["developer"])) is None:
        assert time.monotonic() < deadline, "nothing became due"
        time.sleep(0.01)
    return lease
