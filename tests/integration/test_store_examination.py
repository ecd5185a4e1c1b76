"""The doctor of a hub that keeps tasks asks where they are kept, and says what mends it."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from a2a_hub.diagnosis.report import Outcome, Step
from a2a_hub.identity.principal import Principal
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.firestore import FirestoreTaskStore
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.sqlite import SqliteTaskStore
from functions.hub.store_examination import examine_store
from tests.fakes.emulators import PROJECT
from tests.fakes.hub import Hub, route
from tests.fakes.signatures import signed

NOWHERE = "http://127.0.0.1:9"
KEY = "a-signing-key-of-thirty-two-characters"
ACCOUNT = "a2a-hub@my-hub-project.iam.gserviceaccount.com"
SETTINGS = StoreSettings(project="my-hub-project", database="(default)")
# What Firestore answers, what is seen in it, and what is done about it.
REFUSALS = {
    "no database": (
        grpc.StatusCode.NOT_FOUND,
        "The database (default) does not exist for project my-hub-project",
        "there is no such database",
        "./deploy.sh --only prepare makes it",
    ),
    "no role": (
        grpc.StatusCode.PERMISSION_DENIED,
        "Missing or insufficient permissions.",
        f"{ACCOUNT} lacks roles/datastore.user",
        f"gcloud projects add-iam-policy-binding my-hub-project --member=serviceAccount:{ACCOUNT} --role=roles/datastore.user",
    ),
    "API off": (
        grpc.StatusCode.PERMISSION_DENIED,
        "Cloud Firestore API has not been used in project my-hub-project before or it is disabled.",
        "the API is not enabled",
        "gcloud services enable firestore.googleapis.com --project=my-hub-project",
    ),
    "no index": (
        grpc.StatusCode.FAILED_PRECONDITION,
        "The query requires an index. You can create it here: https://console.example.com",
        "an index is missing",
        "./deploy.sh --only prepare makes it; Firestore takes some minutes to build it",
    ),
    "Datastore mode": (
        grpc.StatusCode.FAILED_PRECONDITION,
        "The Cloud Firestore API is not available for Firestore in Datastore Mode database (default).",
        "the database is in Datastore mode",
        'name another: TASK_STORE = "firestore:NAME" in deploy.toml, which deploy.sh then makes',
    ),
    "quota": (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "Quota exceeded.",
        "a quota is used up",
        "ask again in a minute; the console shows the quotas of Firestore",
    ),
    "outage": (
        grpc.StatusCode.UNAVAILABLE,
        "The service is currently unavailable.",
        "no answer",
        "see that the hub can reach firestore.googleapis.com; status.cloud.google.com tells of disruptions",
    ),
}


@contextmanager
def firestore(status: grpc.StatusCode, text: str) -> Iterator[str]:
    """The address of one that answers every call so."""

    def refuse(_: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        context.abort(status, text)
        yield b""

    answers = grpc.unary_stream_rpc_method_handler(refuse)
    calls = {"RunQuery": answers, "RunAggregationQuery": answers}
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("google.firestore.v1.Firestore", calls),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def examined(address: str, monkeypatch: pytest.MonkeyPatch, *, database: str = "(default)") -> Step:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)
    store = FirestoreTaskStore(
        project=PROJECT, database=database, clock=lambda: 0.0, new_token=random_hex, read_seconds=1.0
    )
    try:
        (step,) = examine_store(store, SETTINGS, account=ACCOUNT)
    finally:
        store.close()
    return step


@pytest.mark.parametrize("why", REFUSALS)
def test_a_firestore_that_refuses_is_told_with_what_mends_it(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, text, seen, mends = REFUSALS[why]
    with firestore(status, text) as address:
        step = examined(address, monkeypatch)
    assert step.outcome is Outcome.ERROR
    assert step.message == f"Firestore (default) of my-hub-project: {seen}"
    assert mends in (step.command, step.fix)
    assert (step.command is not None) is mends.startswith("gcloud ")


def test_a_firestore_that_answers_is_well(firestore_emulator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step = examined(firestore_emulator, monkeypatch, database=f"tests-{random_hex()}")
    # The emulator may be slow on a busy machine, which is told.
    assert step.outcome is not Outcome.ERROR, step


def test_a_full_disk_is_told_although_the_file_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "tasks.db"
    store = SqliteTaskStore(file, clock=time.time, new_token=random_hex)
    (step,) = examine_store(store, StoreSettings(file=file), account=None, min_free_bytes=1 << 60)
    assert (step.outcome, step.message) == (Outcome.ERROR, "tasks.db: its disk is full, so nothing is stored")
    store.close()


def test_the_hub_tells_of_its_store_and_one_without_tasks_of_none(tmp_path: Path) -> None:
    file = tmp_path / "tasks.sqlite3"
    hub = Hub(route("alpha", NOWHERE), settings={"TASK_STORE": f"sqlite:{file}"})
    assert _store(hub) == ("ok", "tasks.sqlite3 answers lists of tasks")
    file.rename(tmp_path / "elsewhere")
    # Somebody's questions go on without the tasks that were in it.
    assert _store(hub) == ("ok", "tasks.sqlite3 answers lists of tasks")
    file.unlink()
    file.mkdir()
    assert _store(hub) == ("error", "tasks.sqlite3: the file cannot be read")
    assert _store(Hub(route("alpha", NOWHERE))) is None


def test_a_hub_of_many_instances_without_a_store_is_told_that_they_share_no_memory() -> None:
    told = _store(Hub(route("alpha", NOWHERE), settings={"MAX_INSTANCES": "10"}))
    assert told == ("warning", "up to 10 instances without a store: each forgets the conversations of the others")


def test_a_client_for_some_routes_is_told_of_these_alone(tmp_path: Path) -> None:
    settings = {"TASK_STORE": f"sqlite:{tmp_path / 'tasks.sqlite3'}"}
    hub = Hub(route("alpha", NOWHERE), settings=settings, behind_gate=True)
    limited = Principal(subject="client:ci", client="ci", operator=True, routes=frozenset({"alpha"}))
    assert _store(hub, limited) is None
    assert _store(hub, Principal(subject="client:ci", client="ci", operator=True)) is not None


def _store(hub: Hub, principal: Principal | None = None) -> tuple[str, str] | None:
    if principal is None:
        answer = hub.request("GET", "/doctor")
    else:
        answer = hub.request("GET", "/doctor", token=None, headers=signed(principal, "GET", "/doctor"))
    assert isinstance(answer.body, bytes)
    parts = {each["subject"]: each["steps"] for each in json.loads(answer.body)["examined"]}
    if "tasks" not in parts:
        return None
    (step,) = parts["tasks"]
    assert step["check"] == "store"
    return step["outcome"], step["message"]
