"""How a session with the development agent begins, with the extension and without, and its commands."""

from pathlib import Path

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.devtool import WAYS, Client, Devtool, Refused, kinds, waiting, workspace_in


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace_in(tmp_path)


@pytest.fixture
def devtool(tmp_path: Path, root: Path) -> Devtool:
    return Devtool(tmp_path)


@pytest.fixture
def ide(devtool: Devtool, root: Path) -> Client:
    return devtool.client(workspace=root)


@pytest.mark.parametrize("path", ["/", "/etc", "/etc/..", "work", "", "/nowhere", "{root}/../..", "{root}\0"])
def test_a_workspace_outside_of_what_is_open_is_refused_without_a_word_on_what_there_is(
    ide: Client, root: Path, path: str
) -> None:
    with pytest.raises(Refused) as refused:
        ide.stream("list files", settings={"workspace_path": path.format(root=root)})
    assert "workspace_path names no folder that may be worked in" in refused.value.message


def test_an_empty_path_leaves_the_workspace_to_the_agent(tmp_path: Path, root: Path) -> None:
    client = Devtool(tmp_path, settings={"DEVTOOL_DEFAULT_WORKSPACE": str(root)}).client()
    events = client.stream("list files", settings={"workspace_path": ""}, extensions=[URI])
    assert "notes.txt" in events[-2].text
    assert str(root) not in str(events)


def test_a_link_to_the_outside_is_no_workspace(ide: Client, root: Path) -> None:
    (root / "out").symlink_to("/etc")
    with pytest.raises(Refused, match="workspace_path"):
        ide.stream("list files", settings={"workspace_path": str(root / "out")})


def test_a_first_message_without_settings_is_refused_with_the_field_named(devtool: Devtool) -> None:
    with pytest.raises(Refused) as refused:
        devtool.client().stream("list files")
    assert f"message.metadata.{URI}" in refused.value.message


def test_a_message_of_the_extension_names_its_workspace_even_where_there_is_a_default(
    tmp_path: Path, root: Path
) -> None:
    client = Devtool(tmp_path, settings={"DEVTOOL_DEFAULT_WORKSPACE": str(root)}).client()
    with pytest.raises(Refused, match="AgentSettings"):
        client.stream("list files", extensions=[URI])
    assert client.stream("list files")[-1].state == "completed"


def test_settings_hold_for_the_conversation_and_are_not_needed_again(ide: Client) -> None:
    context_id = ide.stream("list files")[-1].context_id
    assert "foo bar" in ide.stream("read notes.txt", context_id=context_id, settings=None)[-2].text


def test_a_plain_client_decides_with_words(tmp_path: Path, root: Path) -> None:
    plain = Devtool(tmp_path, settings={"DEVTOOL_DEFAULT_WORKSPACE": str(root)}).client(extension=False)
    asked = plain.stream("notes.txt の「foo」を「bar」に置き換えて")
    assert asked[-1].state == "input-required"
    assert asked[-1].data is None
    assert "+bar bar" in asked[-1].text
    assert "「開発ツール」" in asked[-1].text
    assert "番号でお答えください" in asked[-1].text
    assert str(root) not in asked[-1].text
    unclear = plain.stream("うーん", context_id=asked[-1].context_id)
    assert unclear[-1].state == "input-required"
    assert unclear[-1].text.startswith("確認待ちの操作があります")
    assert (root / "notes.txt").read_text() == "hello\nfoo bar\n"
    done = plain.stream("はい", context_id=asked[-1].context_id)
    assert [event.text for event in done if not event.is_task and event.text] == [
        "replace を使用中：notes.txt",
        "「notes.txt」を変更しました。",
    ]
    assert done[-1].state == "completed"
    assert (root / "notes.txt").read_text() == "hello\nbar bar\n"
    said = plain.send("run echo hi")
    assert "echo hi" in said.text
    assert "folder" not in said.text


def test_a_plain_client_without_any_workspace_is_told_that_none_is_set_up(devtool: Devtool) -> None:
    said = devtool.client(extension=False).send("ファイルの一覧を見せて")
    assert "ワークスペースが設定されていません" in said.text


@pytest.mark.parametrize("way", WAYS)
def test_a_completed_task_goes_on_by_its_id_with_what_was_said_before(devtool: Devtool, root: Path, way: str) -> None:
    ide = devtool.client(way, workspace=root)
    task_id, call = waiting(ide.stream("run echo one"))
    assert ide.decide(task_id, call["tool_call_id"], "proceed_always")[-1].state == "completed"
    again = ide.stream("run echo one", task_id=task_id, settings=None)
    assert {event.task_id for event in again} == {task_id}
    assert kinds(again)[-3:] == ["TOOL_CALL_UPDATE SUCCEEDED", "TEXT_CONTENT working", "STATE_CHANGE completed"]
    task_id, call = waiting(ide.stream("notes.txt の「foo」を「bar」に置き換えて", task_id=task_id))
    assert ide.decide(task_id, call["tool_call_id"], "cancel")[-2].text == "キャンセルしました。何も実行していません。"
    with pytest.raises(Refused, match="was decided on before"):
        ide.decide(task_id, call["tool_call_id"], "proceed_once")
    assert len([each for each in ide.get(task_id).history if "user" in each["role"].lower()]) == 5


def test_a_completed_task_of_a_client_without_the_extension_and_a_canceled_one_have_ended(
    tmp_path: Path, root: Path
) -> None:
    devtool = Devtool(tmp_path, settings={"DEVTOOL_DEFAULT_WORKSPACE": str(root)})
    plain, ide = devtool.client(extension=False), devtool.client(workspace=root)
    completed = plain.stream("list files")[-1].task_id
    canceled = ide.cancel(waiting(ide.stream("run echo one"))[0]).task_id
    for client, task_id in ((plain, completed), (ide, canceled)):
        with pytest.raises(Refused, match="The task has ended"):
            client.stream("list files", task_id=task_id, settings=None)


def test_the_commands_are_a_tree_with_arguments(ide: Client) -> None:
    commands = ide.method("commands/get", {})["commands"]
    by_name = {command["name"]: command for command in commands}
    assert by_name["write"]["arguments"][0] == {
        "name": "path",
        "description": by_name["read"]["arguments"][0]["description"],
        "is_required": True,
    }
    assert [each["name"] for each in by_name["memory"]["sub_commands"]] == ["show", "add"]


def test_a_command_is_executed_as_a_task_that_is_followed_and_decided_on(ide: Client, root: Path) -> None:
    params = {
        "command_path": ["memory", "add"],
        "args": "use tabs",
        "metadata": {URI: {"workspace_path": str(root)}},
    }
    started = ide.method("command/execute", params)
    assert started["status"] == "AWAITING_ACTION_CONFIRMATION"
    task_id, call = waiting([ide.settled(started["execution_id"])])
    ide.decide(task_id, call["tool_call_id"], "proceed_once")
    assert (root / "AGENTS.md").read_text() == "- use tabs\n"


@pytest.mark.parametrize(
    ("path", "arguments", "status"),
    [
        (["run"], "echo hi", "AWAITING_SHELL_CONFIRMATION"),
        (["write"], "new.txt hello", "AWAITING_ACTION_CONFIRMATION"),
        (["help"], "", "STARTED"),
        (["read"], "notes.txt", "STARTED"),
        (["run"], "unknown-program", "STARTED"),
        (["replace"], "notes.txt gone new", "STARTED"),
    ],
)
def test_the_status_of_a_command_says_whether_it_waits_for_a_confirmation(
    ide: Client, root: Path, path: list[str], arguments: str, status: str
) -> None:
    settings = {URI: {"workspace_path": str(root)}}
    started = ide.method("command/execute", {"command_path": path, "args": arguments, "metadata": settings})
    assert started["status"] == status
    waits = ide.settled(started["execution_id"]).state == "input-required"
    assert waits is status.startswith("AWAITING")


def test_events_name_the_tier_of_the_users_where_one_is_set(tmp_path: Path, root: Path) -> None:
    for settings, tier in (({}, {}), ({"DEVTOOL_USER_TIER": "standard"}, {"user_tier": "standard"})):
        client = Devtool(tmp_path, settings=settings).client(workspace=root)
        assert client.stream("list files")[-1].event == {"kind": "STATE_CHANGE", "model": ""} | tier


@pytest.mark.parametrize(
    ("path", "arguments", "told"),
    [
        (["nothing"], "", "/files [path]"),
        (["memory"], "", "/memory add <text>"),
        (["memory", "forget"], "", "/memory add <text>"),
        (["replace"], "notes.txt only-two", "/replace <path> <old> <new>"),
        (["read"], "", "/read <path>"),
        (["search"], "  ", "/search <text>"),
        (["write"], "new.txt", "/write <path> <content>"),
        (["run"], "", "/run <command>"),
        (["files"], "", "DEVTOOL_DEFAULT_WORKSPACE"),
    ],
)
def test_a_command_that_cannot_be_executed_does_not_start_and_says_why(
    ide: Client, path: list[str], arguments: str, told: str
) -> None:
    answer = ide.method("command/execute", {"command_path": path, "args": arguments})
    assert answer["status"] == "FAILED_TO_START"
    assert told in answer["message"]
    assert answer["execution_id"] == ""


def test_a_command_of_another_agents_workspace_is_refused_before_anything_starts(ide: Client) -> None:
    params = {"command_path": ["files"], "metadata": {URI: {"workspace_path": "/etc"}}}
    with pytest.raises(Refused, match="workspace_path"):
        ide.method("command/execute", params)
