"""Clients made with the official SDKs go through whole lives of tasks, in both versions and over both bindings."""

import itertools
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.paced_agent import FIRST, SECOND
from tests.e2e.routed_hub import RoutedHub, route_of
from tests.e2e.sdk_environments import SdkClient, client

# The states of a task that works, waits, has completed, was canceled; what an artifact's update is called.
_NAMES = {
    "0.3": ("working", "input-required", "completed", "canceled", "artifact-update"),
    "1.x": (
        "TASK_STATE_WORKING",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_COMPLETED",
        "TASK_STATE_CANCELED",
        "artifact_update",
    ),
}
_BINDINGS = ("JSONRPC", "HTTP+JSON")
_WAYS = (*itertools.product(("0.3", "1.x"), _BINDINGS), ("1.x, 0.3 card", "JSONRPC"))


@dataclass(frozen=True, kw_only=True)
class TaskClient:
    """One SDK, speaking over one binding."""

    sdk: str
    binding: str
    program: SdkClient

    @property
    def names(self) -> tuple[str, str, str, str, str]:
        """Return how this SDK calls things; see `_NAMES`."""
        return _NAMES[self.sdk.partition(",")[0]]

    def begin(self, do: str, **asked: object) -> None:
        """Asks, and waits for nothing."""
        card = {"cardVersion": "0.3"} if "0.3 card" in self.sdk else {}
        self.program.write(do=do, binding=self.binding, **card, **asked)

    def does(self, do: str, **asked: object) -> dict[str, Any]:
        """Return what came of it."""
        self.begin(do, **asked)
        told = self.program.read()
        assert "error" not in told, told["error"]
        return told

    def is_refused(self, do: str, **asked: object) -> str:
        """Return what the SDK makes of the hub's refusal."""
        self.begin(do, **asked)
        error: str = self.program.read()["error"]
        return error

    def started(self, message_id: str) -> dict[str, Any]:
        """A task that nobody waits for, and that does not end before the test lets it."""
        return self.does("send", text="paced", messageId=message_id, waits=False)

    def seen(self, task_id: str, text: str) -> dict[str, Any]:
        """The task as soon as it shows this text, asked for again and again."""
        for _ in range(500):
            if (told := self.does("get", taskId=task_id))["text"] == text:
                return told
        raise AssertionError(told)


@pytest.fixture(scope="module")
def programs(routed: RoutedHub) -> Iterator[dict[str, SdkClient]]:
    """Both programs, with the token of one caller."""
    with ExitStack() as stack:
        folders = {"0.3": "sdk_0_3", "1.x": "sdk_1_x"}
        yield {sdk: stack.enter_context(client(folder, routed.hub)) for sdk, folder in folders.items()}


@pytest.fixture(params=_WAYS, ids="-".join)
def tasks(request: pytest.FixtureRequest, programs: dict[str, SdkClient]) -> TaskClient:
    """Every SDK over every binding."""
    sdk, binding = request.param
    return TaskClient(sdk=sdk, binding=binding, program=programs[sdk.partition(",")[0]])


@pytest.fixture
def message_id(routed: RoutedHub) -> Iterator[str]:
    """The id of a message whose task ends with the test at the latest."""
    new = uuid.uuid4().hex
    yield new
    routed.paced.let_go_on(new)


def test_a_task_that_nobody_waits_for_is_asked_for_until_it_has_completed(
    routed: RoutedHub, tasks: TaskClient, message_id: str
) -> None:
    working, _, completed, *_ = tasks.names
    task = tasks.started(message_id)
    assert tasks.seen(task["taskId"], FIRST)["state"] == working
    routed.paced.let_go_on(message_id)
    assert tasks.seen(task["taskId"], FIRST + SECOND)["contextId"] == task["contextId"]
    while (told := tasks.does("get", taskId=task["taskId"]))["state"] == working:
        pass
    assert (told["state"], told["text"]) == (completed, FIRST + SECOND)


def test_a_stream_that_was_cut_goes_on_with_a_subscription(
    routed: RoutedHub, tasks: TaskClient, message_id: str
) -> None:
    *_, completed, _, artifact_update = tasks.names
    cut = tasks.does("send", text="paced", messageId=message_id, until=artifact_update)
    assert cut["text"] == FIRST
    tasks.begin("subscribe", taskId=cut["taskId"])
    assert tasks.program.read() == {"begun": True}
    routed.paced.let_go_on(message_id)
    told = tasks.program.read()
    assert (told["state"], told["text"]) == (completed, FIRST + SECOND)
    assert told["taskId"] == cut["taskId"]


def test_a_task_is_canceled_once(tasks: TaskClient, message_id: str) -> None:
    *_, canceled, _ = tasks.names
    task = tasks.started(message_id)
    assert tasks.does("cancel", taskId=task["taskId"])["state"] == canceled
    assert tasks.does("get", taskId=task["taskId"])["state"] == canceled
    assert tasks.is_refused("cancel", taskId=task["taskId"])


def test_a_task_that_there_is_not_is_refused(tasks: TaskClient) -> None:
    assert tasks.is_refused("get", taskId="no-such-task")
    assert tasks.is_refused("subscribe", taskId="no-such-task")


def test_push_notification_configs_are_kept(tasks: TaskClient, message_id: str) -> None:
    url = "http://127.0.0.1:9/notified"
    told = tasks.does("configs", taskId=tasks.started(message_id)["taskId"], url=url)
    assert told.pop("got") == ["mine", url, "receipt"]
    # The SDK of 0.3 has no more operations than these.
    assert told == ({} if tasks.sdk == "0.3" else {"listed": ["mine"], "left": []})


@pytest.mark.parametrize("names_the_task", [True, False], ids=["by its id", "by its context"])
def test_an_agents_question_is_answered(tasks: TaskClient, names_the_task: bool) -> None:
    _, waiting, completed, *_ = tasks.names
    skill = route_of("1.x", "asking")
    asked = tasks.does("send", text="どこですか", messageId=uuid.uuid4().hex, skill=skill, waits=False)
    while (told := tasks.does("get", taskId=asked["taskId"]))["state"] != waiting:
        assert told["state"] not in (completed, tasks.names[3])
    assert told["question"] == "Which city? どの都市ですか"
    answer = {"text": "Osaka", "messageId": uuid.uuid4().hex, "contextId": asked["contextId"], "waits": False}
    tasks.does("send", **answer, **({"taskId": asked["taskId"]} if names_the_task else {}))
    assert tasks.seen(asked["taskId"], "The city is Osaka.")["contextId"] == asked["contextId"]


@pytest.mark.parametrize("binding", _BINDINGS)
def test_the_tasks_of_a_context_are_listed(programs: dict[str, SdkClient], binding: str, message_id: str) -> None:
    # Listing came with 1.0.
    tasks = TaskClient(sdk="1.x", binding=binding, program=programs["1.x"])
    task = tasks.started(message_id)
    listed = tasks.does("list", contextId=task["contextId"])["tasks"]
    assert [each["taskId"] for each in listed] == [task["taskId"]]
