"""Somebody else's task does not exist, whatever is guessed; and bad input is refused for what it is (A2A 1.0.1 §13)."""

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from urllib.parse import quote

import pytest

from a2a_hub.identity.principal import digest
from a2a_hub.task_store.store import Position
from a2a_hub.tasks.operations import write_token
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, task
from tests.fakes.hub import OTHER_TOKEN, TOKEN, Hub, route, settle
from tests.fakes.task_client import WAYS, Refused, TaskClient
from tests.fakes.two_owners import ASKING, INVALID, LIMITED, NOT_FOUND, World, two_owners


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with two_owners(tmp_path_factory.mktemp("isolation")) as made:
        yield made


FOREIGN: dict[str, tuple[str, Json]] = {
    "get": ("GetTask", {"id": "{task}"}),
    "get with history": ("GetTask", {"id": "{task}", "historyLength": 1}),
    "cancel": ("CancelTask", {"id": "{task}"}),
    "subscribe": ("SubscribeToTask", {"id": "{task}"}),
    "register a webhook": (
        "CreateTaskPushNotificationConfig",
        {"taskId": "{task}", "url": "https://receiver.example/"},
    ),
    "read a webhook": ("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "{config}"}),
    "list webhooks": ("ListTaskPushNotificationConfigs", {"taskId": "{task}"}),
    "delete a webhook": ("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "{config}"}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", FOREIGN)
def test_somebody_elses_task_is_refused_like_one_that_is_not_there(world: World, what: str, way: str) -> None:
    operation, form = FOREIGN[what]
    client = world.client(way)

    def refusal(task_id: str) -> tuple[int, str]:
        values = {"{task}": task_id, "{config}": world.config_id}
        params = {name: values.get(value, value) for name, value in form.items()}
        with pytest.raises(Refused) as refused:
            client.call(operation, params)
        return refused.value.code, refused.value.message

    foreign = refusal(world.task_id)
    assert foreign[0] == NOT_FOUND[client.binding]
    assert foreign == refusal("00000000-0000-4000-8000-000000000000")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("streaming", [False, True], ids=["send", "stream"])
def test_nobody_answers_in_somebody_elses_task(world: World, streaming: bool, way: str) -> None:
    client = world.client(way)
    send = client.stream if streaming else client.send
    with pytest.raises(Refused) as refused:
        send("blue", task_id=world.task_id)
    assert refused.value.code == NOT_FOUND[client.binding]
    # The context alone leads nowhere either.
    send("blue", context_id=world.context_id)
    mine = world.client("1.0 JSONRPC", TOKEN).get(world.task_id)
    assert (mine.state, mine.history) == ("input-required", ["Paint it"])


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_list_by_somebody_elses_context_is_empty(world: World, way: str) -> None:
    other = world.client(way).list(contextId=world.context_id)
    assert world.task_id not in [each["id"] for each in other["tasks"]]


GUESSED: dict[str, Callable[[str], str]] = {
    "a path upwards": lambda mine: f"../tasks/{mine}",
    "dots": lambda _: "..",
    "a slash": lambda mine: f"{mine}/x",
    "an encoded slash": lambda mine: f"x%2f..%2f{mine}",
    "a NUL": lambda mine: f"{mine}\x00",
    "a newline": lambda mine: f"{mine}\n",
    "a blank behind": lambda mine: f"{mine} ",
    "a blank before": lambda mine: f" {mine}",
    "capitals": lambda mine: mine.upper(),
    "all but one digit": lambda mine: mine[:-1],
    "no hyphens": lambda mine: mine.replace("-", ""),
    "full-width digits": lambda mine: mine.translate({ord("0") + i: 0xFF10 + i for i in range(10)}),
    "Japanese": lambda _: "タスク",
    "an emoji": lambda _: "\U0001f916",
    "10 kB": lambda _: "x" * 10_000,
    "10 kB of Japanese": lambda _: "長" * 3_400,
    "SQL": lambda _: "' OR '1'='1",
    "a wildcard": lambda _: "%",
    "a number": lambda _: "1",
    "a reserved name": lambda _: "__all__",
    "a template": lambda _: "{id}",
}


@pytest.mark.parametrize(("guess", "way"), list(zip(GUESSED, cycle(WAYS), strict=False)))
def test_a_guessed_id_finds_nothing_not_even_its_guessers_own(world: World, guess: str, way: str) -> None:
    client = world.client(way, TOKEN)
    task_id = GUESSED[guess](world.task_id)
    for operation, params in (
        ("GetTask", {"id": task_id}),
        ("CancelTask", {"id": task_id}),
        ("SubscribeToTask", {"id": task_id}),
        ("ListTaskPushNotificationConfigs", {"taskId": task_id}),
    ):
        with pytest.raises(Refused) as refused:
            client.call(operation, params)
        assert refused.value.code == NOT_FOUND[client.binding], operation
        assert len(refused.value.message) < 300
    with pytest.raises(Refused) as refused:
        client.send("blue", task_id=task_id)
    assert refused.value.code == NOT_FOUND[client.binding]


PAGES: dict[str, Json] = {
    "none at all": {"pageSize": 0},
    "fewer than none": {"pageSize": -1},
    "one too many": {"pageSize": 101},
    "a billion": {"pageSize": 10**9},
    "more than 32 bits": {"pageSize": 2**31},
    "more than 64 bits": {"pageSize": 2**64},
    "no number": {"pageSize": "ten"},
    "half a task": {"pageSize": 1.5},
    "a state that is none": {"status": "TASK_STATE_DANCING"},
    "the unspecified state": {"status": "TASK_STATE_UNSPECIFIED"},
    "less than no history": {"historyLength": -1},
    "a time in words": {"statusTimestampAfter": "yesterday"},
    "a time without a zone": {"statusTimestampAfter": "2026-01-01T00:00:00"},
    "a time that never was": {"statusTimestampAfter": "2026-02-30T00:00:00Z"},
    "an invented token": {"pageToken": "forged"},
    "a token of 10 kB": {"pageToken": "A" * 10_000},
    "a token in Japanese": {"pageToken": "次のページ"},
    "a token with a NUL": {"pageToken": "AAAA\x00"},
    "a number as a token": {"pageToken": "1"},
    "an offset as a token": {"pageToken": "eyJvZmZzZXQiOjF9"},
}


@pytest.mark.parametrize("way", WAYS[:2])
@pytest.mark.parametrize("bad", PAGES)
def test_a_page_that_cannot_be_is_refused_by_the_name_of_its_field(world: World, bad: str, way: str) -> None:
    client = world.client(way, TOKEN)
    with pytest.raises(Refused, match=next(iter(PAGES[bad]))) as refused:
        client.list(**PAGES[bad])
    assert refused.value.code == INVALID[client.binding]


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_page_token_is_good_for_its_own_list_alone(world: World, way: str) -> None:
    mine, other = world.client(way, TOKEN), world.client(way)
    assert len(mine.list(pageSize=1, pageToken=world.page_token)["tasks"]) == 1
    middle = len(world.page_token) // 2
    changed = "A" if world.page_token[middle] != "A" else "B"
    for client, fields in (
        (other, {"pageToken": world.page_token}),
        (mine, {"pageToken": world.page_token, "contextId": world.context_id}),
        (mine, {"pageToken": world.page_token, "status": "TASK_STATE_WORKING"}),
        (mine, {"pageToken": world.page_token[:-2]}),
        (mine, {"pageToken": world.page_token[:middle] + changed + world.page_token[middle + 1 :]}),
    ):
        with pytest.raises(Refused, match="pageToken"):
            client.list(**fields)


@pytest.mark.parametrize("task_id", ["", "a/b", "..", "x" * 300, "タスク", "\x00"])
@pytest.mark.parametrize("updated_at", [-1.0, 0.0, 1e308])
def test_a_page_token_made_with_the_knowledge_of_how_leads_to_own_tasks_alone(
    world: World, updated_at: float, task_id: str
) -> None:
    subject = f"client:dev-{digest(OTHER_TOKEN)[:12]}"
    token = write_token(Position(updated_at, task_id), list_key=(subject, None, (), None))
    page = world.client("1.0 JSONRPC").list(pageToken=token)
    assert world.task_id not in [each["id"] for each in page["tasks"]]


@pytest.mark.parametrize("path", ["/internal/tasks:run", "/internal/tasks:run/", "/internal/tasks%3Arun"])
@pytest.mark.parametrize("method", ["POST", "GET", "PUT"])
@pytest.mark.parametrize("token", [TOKEN, OTHER_TOKEN, LIMITED])
def test_for_ordinary_callers_there_is_no_door_to_run_tasks(world: World, method: str, path: str, token: str) -> None:
    body = json.dumps({"taskId": world.task_id}).encode() if method != "GET" else b""
    headers = {"x-hub-principal": "e30.e30", "x-forwarded-for": "127.0.0.1"}
    answer = world.hub.request(method, path, body, token=token, headers=headers)
    unknown = world.hub.request(method, f"/nowhere{quote(path)}", body, token=token, headers=headers)
    assert (answer.status, answer.body) == (404, unknown.body)


@pytest.mark.parametrize(
    "command", ["/task 1", "/task 2", "/cancel 1", "/タスク 1", "/キャンセル 2", "/task 999999999"]
)
def test_the_numbers_of_somebody_elses_tasks_say_nothing(world: World, command: str) -> None:
    for token in (OTHER_TOKEN, LIMITED):
        assert "Paint it" not in world.client("1.0 JSONRPC", token).send(command).text
    assert world.client("1.0 JSONRPC", TOKEN).get(world.task_id).state == "input-required"


LIMITS: dict[str, tuple[str, Json]] = FOREIGN | {"list": ("ListTasks", {})}


@pytest.mark.parametrize("way", WAYS[:2])
@pytest.mark.parametrize("what", LIMITS)
def test_a_client_that_may_only_ask_may_do_nothing_else(world: World, what: str, way: str) -> None:
    operation, params = LIMITS[what]
    client = world.client(way, ASKING)
    with pytest.raises(Refused, match=f"does not cover {operation}"):
        client.call(operation, params)


def test_a_client_that_may_only_ask_has_no_other_way_to_the_same(world: World) -> None:
    client = world.client("1.0 JSONRPC", ASKING)
    for command in ("/tasks", "/task 1", "/cancel 1"):
        assert "credential" in client.send(command).text
    assert "認証情報" in client.send("/タスク一覧").text
    with pytest.raises(Refused, match="does not cover CreateTaskPushNotificationConfig"):
        client.send("hello", webhook="https://receiver.example/")
    assert "no task 1" in world.client("1.0 JSONRPC", LIMITED).send("/cancel 1").text


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    folder = tmp_path_factory.mktemp("tenants")
    settings = {"TASK_STORE": f"sqlite:{folder}/tasks.db", "TENANTS": "acme,beta"}
    with AgentServer(lambda _: [task("input-required", says="Which?")]) as agent:
        yield Hub(route("alpha", agent.url), settings=settings)
        settle()


@pytest.mark.parametrize("way", ["1.0 JSONRPC", "1.0 HTTP+JSON"])
def test_a_task_of_one_tenant_does_not_exist_at_another(tenants: Hub, way: str) -> None:
    client = TaskClient(tenants, way)
    message = {"messageId": f"m-{way}", "role": "ROLE_USER", "parts": [{"text": "Paint it"}]}
    made = client.call("SendMessage", {"message": message, "tenant": "acme"})["task"]["id"]
    assert client.call("GetTask", {"id": made, "tenant": "acme"})["id"] == made
    for elsewhere in ({"tenant": "beta"}, {}):
        with pytest.raises(Refused) as refused:
            client.call("GetTask", {"id": made, **elsewhere})
        assert refused.value.code == NOT_FOUND[client.binding]
        assert made not in json.dumps(client.call("ListTasks", elsewhere))


@pytest.mark.parametrize("way", ["1.0 JSONRPC", "1.0 HTTP+JSON"])
def test_an_unknown_tenant_is_refused_by_name(tenants: Hub, way: str) -> None:
    client = TaskClient(tenants, way)
    with pytest.raises(Refused, match="tenant is not one of this agent's") as refused:
        client.call("ListTasks", {"tenant": "gamma"})
    assert refused.value.code == INVALID[client.binding]
