"""How wake-ups travel, and everything that is wrong with that at once."""

from collections.abc import Mapping

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.queue.factory import WakeupSettings, open_wakeups, read
from a2a_hub.queue.local import LocalWakeups
from a2a_hub.queue.pubsub import PubsubWakeups
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
    wakeups = open_wakeups(found, http=HttpClient(), headers=dict, failed=print)
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
