"""Wake-ups over the Hedera Consensus Service: what is written for everybody to read, who is woken, and what an outage costs."""

import hashlib
import hmac
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from a2a_hub.a2a import protojson
from a2a_hub.http.client import HttpClient, HttpFailure
from a2a_hub.queue import hcs
from a2a_hub.queue.factory import open_wakeups
from a2a_hub.queue.factory import read as read_wakeups
from a2a_hub.queue.hcs import HcsSettings, MirrorTopics
from a2a_hub.queue.wakeups import TaskEvent, Wakeups
from a2a_hub.settings.reader import Settings, SettingsError
from local.cloud.hedera import KEY
from tests.fakes.hedera import OTHER, HederaNetwork, hedera, until
from tests.fakes.hub import Hub, route
from tests.fakes.tasks_function import Tasks

ROOT = Path(__file__).resolve().parents[2]
ROLE = "tasks-developer"
SECRET_TEXT = "The password of the login page is wrong"


@pytest.fixture
def network() -> Iterator[HederaNetwork]:
    with hedera() as network:
        yield network


@pytest.fixture
def failures() -> list[str]:
    return []


@pytest.fixture
def wakeups(network: HederaNetwork, failures: list[str]) -> Wakeups:
    return opened(failures, **network.settings)


@pytest.fixture
def tasks(network: HederaNetwork, tmp_path: Path) -> Iterator[Tasks]:
    tasks = Tasks(tmp_path, **network.settings)
    yield tasks
    tasks.close()


def opened(failures: list[str], **environ: str) -> Wakeups:
    settings = Settings(environ)
    chosen = read_wakeups(settings)
    settings.check()
    return open_wakeups(chosen, http=HttpClient(), headers=lambda _: {}, failed=failures.append, tokens=None)


def hcs_settings(network: HederaNetwork) -> HcsSettings:
    return hcs.read(Settings(network.settings))


def test_a_task_is_announced_with_its_id_alone(wakeups: Wakeups, network: HederaNetwork) -> None:
    wakeups.publish(ROLE, "task-1")
    assert network.until(1) == [{"type": "task.available", "taskId": "task-1"}]


def test_tasks_of_the_hub_and_of_roles_without_a_topic_and_times_stay_private(
    wakeups: Wakeups, network: HederaNetwork
) -> None:
    wakeups.publish("tasks", "of-the-hub")
    wakeups.publish("tasks-qa", "without-a-topic")
    wakeups.publish(ROLE, "later", due_at=2e9)
    wakeups.publish(ROLE, "now")
    assert [each["taskId"] for each in network.until(1)] == ["now"]
    assert network.messages(OTHER) == []


def test_the_life_of_a_task_is_recorded_with_a_hash_and_without_a_text(tasks: Tasks, network: HederaNetwork) -> None:
    stored = tasks.add(SECRET_TEXT)
    leased = tasks.lease()
    network.until(1)
    measured = {"artifactId": "a", "parts": [{"data": {"least": 1e-7, "most": 1e21, "日本": 1.0}}]}
    assert tasks.write(leased, "complete", text="It is 1234", artifacts=[measured])[0] == 200
    assigned, completed = network.until(2)
    assert assigned == {"type": "task.assigned", "taskId": stored.task.id}
    assert completed.keys() == {"type", "taskId", "hash"}
    assert (completed["type"], completed["taskId"]) == ("task.completed", stored.task.id)
    # As docs/hedera.md says it is checked.
    salt = hmac.digest(KEY.encode(), stored.task.id.encode(), "sha256")
    answered = json.loads(protojson.encode(tasks.task(leased)))
    task = json.dumps(answered, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    assert b"It is 1234" in task
    assert completed["hash"] == hashlib.sha256(salt + task).hexdigest()


def test_the_hub_announces_a_task_and_records_its_cancellation(network: HederaNetwork, tmp_path: Path) -> None:
    settings = {**network.settings, "TASK_STORE": f"sqlite:{tmp_path}/tasks.db"}
    hub = Hub(route("team", "", role="developer"), settings=settings)
    version = {"a2a-version": "1.0"}
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": SECRET_TEXT}]}
    sent = {"message": message, "configuration": {"returnImmediately": True}}
    status, answer = hub.post("/v1/message:send", sent, headers=version)
    assert status == 200
    task_id = answer["task"]["id"]
    assert network.until(1) == [{"type": "task.available", "taskId": task_id}]
    assert hub.post(f"/v1/tasks/{task_id}:cancel", {}, headers=version)[0] == 200
    cancelled = network.until(2)[1]
    assert (cancelled["type"], cancelled["taskId"]) == ("task.cancelled", task_id)


@pytest.mark.parametrize(("verb", "event"), [("fail", "task.failed"), ("progress", "task.cancelled")])
def test_other_ends_are_recorded_as_what_they_are(tasks: Tasks, network: HederaNetwork, verb: str, event: str) -> None:
    tasks.add()
    leased = tasks.lease()
    network.until(1)
    if event == "task.cancelled":
        tasks.store.request_cancel(leased["taskId"])
    fields: dict[str, object] = {"reason": "No"} if verb == "fail" else {"updates": []}
    assert tasks.write(leased, verb, **fields)[0] == 200
    assert [each["type"] for each in network.until(2)] == ["task.assigned", event]


def test_a_worker_that_waits_at_another_instance_is_woken_by_the_mirror_node(
    tasks: Tasks, wakeups: Wakeups, network: HederaNetwork
) -> None:
    found: list[str] = []
    waiting = threading.Thread(target=lambda: found.append(tasks.lease(waitSeconds=30)["taskId"]))
    waiting.start()
    # Its first reading passes over what was there before; a message is repeated until it is a later one.
    stored = tasks.add()

    def woken() -> bool:
        wakeups.publish(ROLE, stored.task.id)
        waiting.join(0.5)
        return not waiting.is_alive()

    until(woken)
    assert found == [stored.task.id]


@pytest.mark.parametrize("fault", ["node-away", "mirror-away"])
def test_a_network_that_is_away_fails_no_task(tasks: Tasks, network: HederaNetwork, fault: str) -> None:
    network.break_it(fault)
    tasks.add()
    assert tasks.write(tasks.lease(), "complete", text="Done")[0] == 200


def test_a_network_that_does_not_answer_delays_no_task(tasks: Tasks, network: HederaNetwork) -> None:
    network.break_it("latency", seconds=30)
    tasks.add()
    assert tasks.write(tasks.lease(), "complete", text="Done")[0] == 200
    network.mend()
    assert [each["type"] for each in network.until(2)] == ["task.assigned", "task.completed"]
    assert not [line for line in tasks.log_lines if b"not submitted" in line]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"HCS_TOPICS": "developer=0.0.9"}, "ReceiptStatusError"),
        ({"HCS_OPERATOR_KEY": KEY[:-2] + "01"}, "PrecheckError"),
        ({"HCS_OPERATOR_KEY": "30" + "00" * 40}, "ValueError"),
    ],
    ids=["wrong topic", "wrong key", "no key"],
)
def test_what_the_network_refuses_is_logged_without_the_key(
    network: HederaNetwork, failures: list[str], changes: dict[str, str], reason: str
) -> None:
    settings = {**network.settings, **changes}
    opened(failures, **settings).publish(ROLE, "task-1")
    topic = settings["HCS_TOPICS"].split("=")[1].split(",")[0]
    assert until(lambda: failures) == [f"task.available was not submitted to the topic {topic}: {reason}"]
    assert network.messages() == []


def test_an_outage_of_the_node_is_logged_and_over_when_the_node_is_back(
    network: HederaNetwork, wakeups: Wakeups, failures: list[str]
) -> None:
    network.break_it("node-away")
    wakeups.record(TaskEvent.ASSIGNED, ROLE, "task-1")
    (failure,) = until(lambda: failures)
    assert failure.startswith("task.assigned was not submitted to the topic 0.0.1001: ")
    network.mend()
    wakeups.publish(ROLE, "task-2")
    assert [each["taskId"] for each in network.until(1)] == ["task-2"]


class Woken:
    """The topics that were woken by the mirror node."""

    def __init__(self, network: HederaNetwork) -> None:
        self.topics: list[str] = []
        self._mirror = MirrorTopics(hcs_settings(network), http=HttpClient(), notify=self.topics.append)
        self._mirror.poll()

    def poll(self) -> list[str]:
        self.topics.clear()
        self._mirror.poll()
        return list(self.topics)


@pytest.mark.parametrize("fault", ["", "duplicates", "out-of-order"])
def test_a_topic_is_woken_once_for_what_is_new(wakeups: Wakeups, network: HederaNetwork, fault: str) -> None:
    wakeups.publish(ROLE, "before")
    network.until(1)
    woken = Woken(network)
    if fault:
        network.break_it(fault)
    assert woken.poll() == []
    wakeups.publish(ROLE, "task-1")
    wakeups.publish(ROLE, "task-2")
    network.until(5 if fault == "duplicates" else 3)
    assert woken.poll() == [ROLE]
    assert woken.poll() == []


def test_only_what_asks_for_work_wakes_and_a_strangers_message_does_no_harm(
    wakeups: Wakeups, network: HederaNetwork
) -> None:
    woken = Woken(network)
    wakeups.record(TaskEvent.ASSIGNED, ROLE, "task-1")
    wakeups.record(TaskEvent.COMPLETED, ROLE, "task-1", lambda: b"content")
    network.until(2)
    assert woken.poll() == []
    for strange in (b"", b"no JSON", b"[]", b"[" * 5000, b'{"type": 7}', b"\xff"):
        network.add(strange)
    assert woken.poll() == []
    network.add(b'{"type": "task.available", "taskId": "of-nobody"}')
    assert woken.poll() == [ROLE]


def test_a_mirror_node_that_is_away_is_said_and_read_again_where_it_was_left(
    wakeups: Wakeups, network: HederaNetwork
) -> None:
    woken = Woken(network)
    network.break_it("mirror-away")
    wakeups.publish(ROLE, "task-1")
    with pytest.raises(ValueError, match="the mirror node answered 503"):
        woken.poll()
    network.mend()
    network.until(1)
    assert woken.poll() == [ROLE]


def test_an_address_without_a_mirror_node_is_a_failure_that_is_known(network: HederaNetwork) -> None:
    settings = msgspec.structs.replace(hcs_settings(network), mirror_url="http://127.0.0.1:9")
    with pytest.raises(HttpFailure):
        MirrorTopics(settings, http=HttpClient(), notify=lambda _: None).poll()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"HCS_TOPICS": ""}, "HCS_TOPICS must be a list of ROLE=0.0.1234"),
        ({"HCS_TOPICS": "developer=1234"}, "HCS_TOPICS must be a list"),
        ({"HCS_OPERATOR": "me"}, "HCS_OPERATOR must be the account that pays"),
        ({"HCS_OPERATOR_KEY": "0xsecret"}, "HCS_OPERATOR_KEY must be its private key"),
        ({"HCS_NETWORK": "devnet"}, "HCS_NETWORK must be mainnet, testnet, previewnet, or a list of HOST:PORT=0.0.3"),
        ({"WAKEUPS": "hcs,kafka"}, "WAKEUPS must be none, local:URL"),
    ],
)
def test_a_wrong_setting_is_told_without_its_value(changes: dict[str, str], told: str, network: HederaNetwork) -> None:
    with pytest.raises(SettingsError) as caught:
        opened([], **{**network.settings, **changes})
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_settings_show_no_key(network: HederaNetwork) -> None:
    assert KEY not in repr(hcs_settings(network))


def test_public_networks_have_their_mirror_nodes(network: HederaNetwork) -> None:
    settings = {**network.settings, "HCS_NETWORK": "mainnet", "HCS_MIRROR_URL": ""}
    read = hcs.read(Settings(settings))
    assert (read.mirror_url, read.nodes) == ("https://mainnet-public.mirrornode.hedera.com", {})


@pytest.mark.parametrize("chosen", ["none", "hcs"])
def test_nothing_of_the_sdk_is_imported_before_its_first_use(network: HederaNetwork, chosen: str) -> None:
    program = (
        "import sys\n"
        "from a2a_hub.queue.factory import open_wakeups, read\n"
        "from a2a_hub.settings.reader import Settings\n"
        f"chosen = read(Settings({ {**network.settings, 'WAKEUPS': chosen}!r}))\n"
        "open_wakeups(chosen, http=None, headers=None, failed=print, tokens=None)\n"
        "sys.stderr.write(','.join(name for name in sys.modules if name.startswith(('hiero', 'grpc'))))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
