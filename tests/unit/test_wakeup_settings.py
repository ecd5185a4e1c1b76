"""How wake-ups travel, and everything that is wrong with that at once."""

from collections.abc import Mapping

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.queue.factory import WakeupSettings, open_wakeups, read
from a2a_hub.queue.local import LocalWakeups
from a2a_hub.queue.pubsub import PubsubWakeups, QueueSettings
from a2a_hub.queue.wakeups import NoWakeups
from a2a_hub.settings.reader import Settings, SettingsError


def _read(environ: Mapping[str, str]) -> WakeupSettings | None:
    settings = Settings(environ)
    found = read(settings)
    settings.check()
    return found


@pytest.mark.parametrize(
    ("value", "expected", "kind"),
    [
        ("", None, NoWakeups),
        ("none", None, NoWakeups),
        (
            "local:http://127.0.0.1:1/wakeups, https://x.example/",
            WakeupSettings(subscribers=("http://127.0.0.1:1/wakeups", "https://x.example/")),
            LocalWakeups,
        ),
        ("pubsub", WakeupSettings(project="p"), PubsubWakeups),
        ("pubsub:dev-", WakeupSettings(project="p", prefix="dev-"), PubsubWakeups),
    ],
)
def test_each_way_is_named_by_its_setting(value: str, expected: WakeupSettings | None, kind: type) -> None:
    found = _read({"WAKEUPS": value, "GOOGLE_CLOUD_PROJECT": "p"})
    assert found == expected
    wakeups = open_wakeups(found, http=HttpClient(), headers=lambda _: {}, failed=print, tokens=None)
    assert isinstance(wakeups, kind)
    wakeups.close()


@pytest.mark.parametrize(
    "environ",
    [
        {"WAKEUPS": "local"},
        {"WAKEUPS": "local:"},
        {"WAKEUPS": "local:127.0.0.1:80"},
        {"WAKEUPS": "local:http://127.0.0.1:80,"},
        {"WAKEUPS": "local:http://[half"},
        {"WAKEUPS": "none:x"},
        {"WAKEUPS": "kafka"},
        {"WAKEUPS": "pubsub:1", "GOOGLE_CLOUD_PROJECT": "p"},
        {"WAKEUPS": "pubsub:goog-", "GOOGLE_CLOUD_PROJECT": "p"},
        {"WAKEUPS": "pubsub:a b", "GOOGLE_CLOUD_PROJECT": "p"},
    ],
)
def test_anything_else_is_refused(environ: Mapping[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"\n  WAKEUPS must "):
        _read(environ)


def test_pubsub_needs_a_project() -> None:
    with pytest.raises(SettingsError, match=r"\n  GOOGLE_CLOUD_PROJECT must name the project of the topics"):
        _read({"WAKEUPS": "pubsub"})


QUEUE = "projects/p/locations/asia-northeast1/queues/a2a-wakeups"


def test_wakeups_with_a_time_go_through_the_queue_that_is_named() -> None:
    environ = {
        "WAKEUPS": "pubsub",
        "GOOGLE_CLOUD_PROJECT": "p",
        "WAKEUP_QUEUE": QUEUE,
        "TASKS_URL": "https://tasks.example/",
        "WAKEUP_ACCOUNTS": "wakeups@p.iam.gserviceaccount.com",
    }
    found = _read(environ)
    assert found is not None
    assert found.queue == QueueSettings(
        name=QUEUE, url="https://tasks.example", account="wakeups@p.iam.gserviceaccount.com"
    )


def test_a_queue_needs_its_whole_name_an_address_and_an_account() -> None:
    with pytest.raises(SettingsError) as refused:
        _read({"WAKEUPS": "pubsub", "GOOGLE_CLOUD_PROJECT": "p", "WAKEUP_QUEUE": "a2a-wakeups"})
    assert "WAKEUP_QUEUE must be projects/PROJECT/locations/REGION/queues/NAME" in str(refused.value)
    assert "WAKEUP_ACCOUNTS must name the account" in str(refused.value)
    assert "TASKS_URL" in str(refused.value)
