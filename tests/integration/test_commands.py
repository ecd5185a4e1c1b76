"""What people type where there is nothing to click: /tasks and the others, in English and Japanese."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from a2a_hub.a2a.model import Part, TaskState
from a2a_hub.a2a.reply import agent_message, status_update
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, message, task, text
from tests.fakes.hub import OTHER_TOKEN, Hub, route, settle, streamed_text, text_of
from tests.fakes.task_client import TaskClient
from tests.integration.tasks.life import until


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub with one agent, which asks back when it is to paint, and else repeats what it was told."""

    def say(said: ReceivedMessage) -> list[Json]:
        if said.text.startswith("Paint") and not said.task_id:
            return [task("input-required", says="Which colour?")]
        return [message(text(f"You said {said.text}"))]

    with AgentServer(say) as agent:
        keeping = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"}
        closed = route("closed", agent.url, allow_emails=("somebody@else.example",))
        yield Hub(closed, route("alpha", agent.url), settings=keeping)
        settle()


def kept(hub: Hub, words: str) -> None:
    """Leaves an ended task behind."""
    TaskClient(hub, "1.0 JSONRPC").stream(words)
    settle()


@pytest.mark.parametrize("typed", ["/tasks", "/TASKS", " /tasks ", "/ tasks"])
def test_tasks_are_listed_with_their_numbers_the_latest_first(hub: Hub, typed: str) -> None:
    kept(hub, "one")
    kept(hub, "two")
    assert text_of(hub.send(typed)) == "Your latest tasks:\n2: completed: two\n1: completed: one"


@pytest.mark.parametrize("typed", ["/タスク一覧", "／タスク一覧", "/ﾀｽｸ一覧"])
def test_tasks_are_listed_in_japanese(hub: Hub, typed: str) -> None:
    kept(hub, "一つ目")
    assert text_of(hub.send(typed)) == "最近のタスク：\n1：完了：一つ目"


def test_a_failure_that_a_person_read_as_an_answer_is_a_failed_task(hub: Hub, tmp_path: Path) -> None:
    keeping = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"}
    with AgentServer(serve_message=lambda exchange: exchange.answer(500)) as failing:
        events = Hub(route("alpha", failing.url), settings=keeping).stream("hello")
    settle()
    read = streamed_text(events)
    assert "Agent alpha" in read
    assert events[-1]["status"]["state"] == "completed"
    assert text_of(hub.send("/tasks")) == "Your latest tasks:\n1: failed: hello"
    assert text_of(hub.send("/task 1")) == f"Task 1 is failed: hello\n\n{read}"


@pytest.mark.parametrize("typed", ["/task 1", "/task1", "/task #1", "/task#1", "/タスク 1", "／タスク１", "/タスク#1"])
def test_a_task_is_shown_with_its_answer_in_the_language_of_its_question(hub: Hub, typed: str) -> None:
    kept(hub, "こんにちは")
    kept(hub, "hello")
    assert text_of(hub.send(typed)) == "タスク1は完了です：こんにちは\n\nYou said こんにちは"


@pytest.mark.parametrize(
    ("typed", "answer"), [("/タスク 1", "タスク1は完了です"), ("/キャンセル 1", "タスク1は完了のため")]
)
def test_a_japanese_command_is_answered_in_japanese_whatever_the_task_is(hub: Hub, typed: str, answer: str) -> None:
    kept(hub, "hello")
    assert text_of(hub.send(typed)).startswith(answer)


def test_a_task_that_ends_while_it_is_cancelled_is_told_of_as_it_is_then(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    store = SqliteTaskStore(path, clock=time.time, new_token=random_hex)
    hub = Hub(route("team", "", role="developer"), settings={"TASK_STORE": f"sqlite:{path}"})
    task_id = TaskClient(hub, "1.0 JSONRPC").send("hello team", at_once=True).task_id
    lease = store.lease("worker", seconds=60, roles=["developer"])
    assert lease
    with ThreadPoolExecutor() as threads:
        told = threads.submit(lambda: text_of(hub.send("/cancel 1")))
        until(lambda: (kept := store.get(task_id, owner=None)) and kept.cancel_requested)
        ends = status_update(lease.stored.task, TaskState.COMPLETED, at="2026-01-01T00:00:00.000Z")
        store.append(task_id, [ends], lease=lease.token)
        assert told.result(20) == "Task 1 cannot be stopped any more: it is completed: hello team"
    store.close()


@pytest.fixture
def team(tmp_path: Path) -> Hub:
    """A hub whose only route belongs to workers, of whom none comes."""
    return Hub(route("team", "", role="developer"), settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("How far is it?", "Task 1 is waiting for a worker: Paint it"),
        ("ok, any news?", "Task 1 is waiting for a worker: Paint it"),
        ("/task", "Task 1 is waiting for a worker: Paint it"),
        ("Are you done with it?", "Task 1 is waiting for a worker: Paint it"),
        ("タスクはどういう状況でしょうか", "タスク1はワーカー待ちです：Paint it"),
        ("so is the task finished already?", "Task 1 is waiting for a worker: Paint it"),
        ("進み具合は？", "タスク1はワーカー待ちです：Paint it"),
        ("なるほど。もう完了しましたか？", "タスク1はワーカー待ちです：Paint it"),
        ("please abort this now", "Task 1 is canceled: Paint it"),
        ("すみません、やはりストップしてほしいです", "タスク1を中止しました：Paint it"),
        ("Thanks. Cancel it, please.", "Task 1 is canceled: Paint it"),
        ("/cancel", "Task 1 is canceled: Paint it"),
        ("やっぱりキャンセルでお願いします", "タスク1を中止しました：Paint it"),
        ("もういいです、中止して", "タスク1を中止しました：Paint it"),
    ],
)
@pytest.mark.parametrize("way", ["0.3 JSONRPC", "1.0 JSONRPC"])
def test_a_conversation_whose_task_runs_is_about_that_task_without_its_number(
    team: Hub, way: str, said: str, answer: str
) -> None:
    client = TaskClient(team, way)
    running = client.send("Paint it", at_once=True, context_id="c")
    assert running.state == "submitted"
    assert "".join(event.text for event in client.stream(said, context_id="c")) == answer
    assert TaskClient(team, "1.0 JSONRPC").list()["totalSize"] == 1


@pytest.mark.parametrize("said", ["cancel", "How far is it?", "/cancel the shed", "Stop painting it"])
def test_a_text_about_another_task_or_none_leaves_a_running_task_alone(team: Hub, said: str) -> None:
    client = TaskClient(team, "1.0 JSONRPC")
    task_id = client.send("Paint it", at_once=True, context_id="c").task_id
    client.send(said, at_once=True, context_id="another" if said in ("cancel", "How far is it?") else "c")
    assert client.get(task_id).state == "submitted"


def test_a_question_that_waits_in_the_conversation_gets_the_cancel_before_a_running_task(hub: Hub) -> None:
    asked = hub.send("Paint it")
    assert text_of(hub.send("cancel", context_id=asked["contextId"])) == "You said cancel"


@pytest.mark.parametrize(("said", "begins"), [("Thanks!", "All right."), ("こんにちは", "承知しました。")])
def test_a_persons_small_talk_is_no_task_for_a_worker(team: Hub, said: str, begins: str) -> None:
    assert text_of(team.send(said)).startswith(begins)
    assert text_of(team.send("/tasks")).startswith("You have no tasks.")
    program = TaskClient(team, "1.0 JSONRPC").send(said, at_once=True)
    assert program.state == "submitted"


def test_a_short_answer_to_a_workers_question_reaches_the_worker(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    store = SqliteTaskStore(path, clock=time.time, new_token=random_hex)
    keeping = {"TASK_STORE": f"sqlite:{path}", "TASK_UI_SECONDS": "0.1"}
    hub = Hub(route("team", "", role="developer"), settings=keeping)
    task = TaskClient(hub, "1.0 JSONRPC").send("Paint it", at_once=True, context_id="c")
    lease = store.lease("worker", seconds=60, roles=["developer"])
    assert lease
    assert text_of(hub.send("/task", context_id="c")) == "Task 1 is in progress: Paint it"
    question = agent_message(Part(text="Blue?"), context_id="c")
    asks = status_update(lease.stored.task, TaskState.INPUT_REQUIRED, question, at="2026-01-01T00:00:00.000Z")
    store.append(task.task_id, [asks], lease=lease.token)
    assert "your task 1" in text_of(hub.send("ok", context_id="c"))
    store.close()


def test_what_is_worked_on_is_listed_before_all_else(team: Hub) -> None:
    client = TaskClient(team, "1.0 JSONRPC")
    for words in ("one", "two"):
        client.send(words, at_once=True)
    team.send("/cancel 2")
    assert text_of(team.send("/tasks")) == "Your latest tasks:\n1: waiting for a worker: one\n2: canceled: two"


def test_a_waiting_task_is_cancelled_by_its_number(hub: Hub) -> None:
    asked = hub.send("Paint it")
    assert text_of(asked) == "Which colour?"
    assert text_of(hub.send("/cancel 1")) == "Task 1 is canceled: Paint it"
    assert "cannot be stopped any more" in text_of(hub.send("/cancel 1"))


def test_a_command_leaves_the_task_that_waits_in_its_conversation_alone(hub: Hub) -> None:
    asked = hub.send("Paint it")
    listed = text_of(hub.send("/tasks", context_id=asked["contextId"]))
    assert "1: waiting for your answer: Paint it" in listed
    assert text_of(hub.send("blue", context_id=asked["contextId"])) == "You said blue"


def test_somebody_elses_number_is_nobodys(hub: Hub) -> None:
    kept(hub, "secret")
    for typed in ("/task 1", "/cancel 1"):
        assert text_of(hub.send(typed, token=OTHER_TOKEN)).startswith("You have no task 1.")
    assert text_of(hub.send("/tasks", token=OTHER_TOKEN)).startswith("You have no tasks.")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/cancel", "Which task? Add its number, as in “/cancel 3”."),
        ("/cancel abc", "Which task? Add its number, as in “/cancel 3”."),
        ("/cancel the one that paints the shed behind the house", "Which task?"),
        ("/task -1", "Which task? Add its number, as in “/task 3”."),
        ("/task-1", "Which task?"),
        ("/task 1.5", "Which task?"),
        ("/task 1" + " " * 40 + "2", "Which task?"),
        ("/task 999999999999999999999", "Which task?"),
        ("/タスク", "タスク番号を付けてください（例：「/タスク 3」）。"),
        ("/タスク三", "タスク番号を付けてください"),
        ("/キャンセル　あれ", "タスク番号を付けてください（例：「/キャンセル 3」）。"),
        ("/task 一", "タスク番号を付けてください"),
    ],
)
def test_a_number_that_is_missing_or_none_is_asked_for(hub: Hub, typed: str, answer: str) -> None:
    kept(hub, "one")
    assert text_of(hub.send(typed)).startswith(answer)


@pytest.mark.parametrize(
    "typed", ["/help?", "/help!", "/HELP.", "\u202e/help", "\u200b/help", "\u2066/help\u2069", "/he\u200blp"]
)
def test_a_command_is_the_same_with_an_end_of_sentence_or_invisible_characters(hub: Hub, typed: str) -> None:
    assert text_of(hub.send(typed)) == text_of(hub.send("/help"))
    assert text_of(hub.send("/ヘルプ！")) == text_of(hub.send("/ヘルプ"))


@pytest.mark.parametrize("typed", ["/task 1!", "/task 1?", "/task １。", "\u202e/task 1"])
def test_a_number_ends_as_a_sentence_may(hub: Hub, typed: str) -> None:
    kept(hub, "one")
    assert text_of(hub.send(typed)).startswith("タスク1は完了です" if "。" in typed else "Task 1 is completed")


def test_routes_are_those_that_the_caller_may_use(hub: Hub) -> None:
    assert text_of(hub.send("/routes")).endswith("\n- Agent alpha: For tests.")
    assert text_of(hub.send("/ルート")).endswith("\n- 担当alpha：テスト用。")
    assert "closed" not in text_of(hub.send("/routes"))


@pytest.mark.parametrize(("typed", "begins"), [("/help", "You can ask"), ("/ヘルプ", "ふだんの言葉で")])
def test_help_tells_all_commands(hub: Hub, typed: str, begins: str) -> None:
    answer = text_of(hub.send(typed))
    assert answer.startswith(begins)
    assert all(
        f"\n/{name}" in answer
        for name in (("tasks", "task", "cancel", "routes") if begins[0] == "Y" else ("タスク一覧", "キャンセル"))
    )


@pytest.mark.parametrize(
    ("typed", "begins"), [("/cancle 3", "There is no such command."), ("/タスク一欄", "そのようなコマンドは")]
)
def test_a_slip_in_a_command_is_told_which_there_are(hub: Hub, typed: str, begins: str) -> None:
    answer = text_of(hub.send(typed))
    assert answer.startswith(begins)
    assert "\n/tasks" in answer or "\n/タスク一覧" in answer


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/hlep", "There is no such command. Did you mean “/help”?"),
        ("/rotues", "There is no such command. Did you mean “/routes”?"),
        ("/ルト", "そのようなコマンドはありません。「/ルート」のことでしょうか。"),
        ("/xyzzy", "There is no such command."),
    ],
)
def test_a_slip_in_a_command_is_told_the_one_that_is_spelled_most_like_it(hub: Hub, typed: str, meant: str) -> None:
    assert text_of(hub.send(typed)).partition("\n")[0] == meant


def test_an_agents_own_command_reaches_it_where_its_route_takes_it(tmp_path: Path) -> None:
    with AgentServer(lambda said: [message(text(f"You said {said.text}"))]) as agent:
        painter = route("painter", agent.url, patterns=("^/(?:paint|help)$",))
        hub = Hub(painter, route("alpha", agent.url))
        assert text_of(hub.send("/paint")) == "You said /paint"
        assert text_of(hub.send("/help")).startswith("You can ask")
        assert text_of(hub.send("/pain")).startswith("There is no such command.")


@pytest.mark.parametrize(
    "typed",
    [
        "/etc/hosts",
        "/task/list",
        "/tasks/1",
        "/cancel_order",
        "/task-list",
        "/task.md",
        "/tasks are what I need to plan",
        "//help",
        "and/or",
        "1/2",
    ],
)
def test_other_texts_with_a_slash_are_questions(hub: Hub, typed: str) -> None:
    assert text_of(hub.send(typed)) == f"You said {typed}"


def test_a_command_is_answered_over_a_stream_too(hub: Hub) -> None:
    events = TaskClient(hub, "0.3 JSONRPC", text_only=True).stream("/help")
    assert events[-1].state == "completed"
    assert "".join(event.text for event in events).startswith("You can ask")


@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        ("What can you do?", "You can ask"),
        ("what can you do", "You can ask"),
        ("何ができますか？", "ふだんの言葉で"),
        ("Show me my tasks", "You have no tasks."),
        ("私のタスクを見せて", "タスクはありません。"),
    ],
)
@pytest.mark.parametrize("way", ["0.3 JSONRPC", "1.0 JSONRPC"])
def test_questions_on_the_hub_itself_are_answered_by_it(hub: Hub, way: str, asked: str, begins: str) -> None:
    client = TaskClient(hub, way)
    assert client.send(asked).text.startswith(begins)
    assert "".join(event.text for event in client.stream(asked)).startswith(begins)


@pytest.mark.parametrize("asked", ["What can you do about a lost receipt?", "何ができますか、出張の前に"])
def test_questions_that_only_begin_like_that_go_to_an_agent(hub: Hub, asked: str) -> None:
    assert text_of(hub.send(asked)) == f"You said {asked}"


def test_a_caller_who_names_a_skill_asks_its_agent(hub: Hub) -> None:
    answer = hub.send("What can you do?", metadata={"skill": "alpha"})
    assert text_of(answer) == "You said What can you do?"


def test_help_has_an_example_of_each_agent_that_the_caller_may_use() -> None:
    examples = ("How high is it?", "高さは？")
    with AgentServer(lambda _: []) as agent:
        closed = route("closed", agent.url, allow_emails=("a@example.com",), examples=("Secret?",))
        hub = Hub(closed, route("alpha", agent.url, examples=examples))
        assert "- Agent alpha: For tests. For example: “How high is it?”\n" in text_of(hub.send("What can you do?"))
        assert "- 担当alpha：テスト用。例：「高さは？」\n" in text_of(hub.send("何ができますか？"))
        assert "Secret" not in text_of(hub.send("/help"))


@pytest.mark.parametrize("way", ["0.3 JSONRPC", "1.0 JSONRPC"])
def test_what_is_typed_to_the_hub_itself_is_no_work_and_so_not_listed(hub: Hub, way: str) -> None:
    client = TaskClient(hub, way)
    for typed in ("/help", "/tasks", "/routes", "What can you do?"):
        client.send(typed)
        client.stream(typed)
    settle()
    assert text_of(hub.send("/tasks")).startswith("You have no tasks.")


def test_without_a_store_or_a_name_there_are_no_tasks_to_look_after() -> None:
    with AgentServer(lambda _: [message(text("Hi"))]) as agent:
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("/tasks")).startswith("There are no tasks here")
        assert text_of(hub.send("/タスク一覧")).startswith("確認できるタスクはありません")
