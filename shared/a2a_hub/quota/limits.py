"""The kinds of quota, the limits of one caller, and the sentences of their refusals."""

import math
from enum import StrEnum

import msgspec
from msgspec import Struct

from a2a_hub.a2a.errors import ErrorKind
from a2a_hub.a2a.refusal import TemporaryRefusal
from a2a_hub.settings.reader import Settings
from a2a_hub.text.language import Language

RATE_LIMITED = ErrorKind("RATE_LIMITED", -32603, 429, "RESOURCE_EXHAUSTED", "Too many requests; wait and try again")
_EN, _JA = Language.EN, Language.JA
_MAX_LIMIT = 1_000_000


class Quota(StrEnum):
    """The kinds of quota, by which counters and the log's field `quota` are named."""

    REQUESTS = "requests"
    STREAMS = "streams"
    TURNS = "turns"
    MODEL_CALLS = "model_calls"
    RUNNING_TASKS = "running_tasks"
    STORED_TASKS = "stored_tasks"
    STORED_BYTES = "stored_bytes"


_TEXTS = {
    Quota.REQUESTS: {_EN: "Too many requests.", _JA: "リクエストが多すぎます。"},
    Quota.STREAMS: {_EN: "Too many answers at the same time.", _JA: "同時に受信している回答が多すぎます。"},
    Quota.TURNS: {_EN: "The agent has too many requests.", _JA: "エージェントへの依頼が多すぎます。"},
    Quota.MODEL_CALLS: {_EN: "Today's limit of AI answers is reached.", _JA: "本日のAIの利用上限に達しました。"},
    Quota.RUNNING_TASKS: {_EN: "Too many of your tasks are at work.", _JA: "処理中のタスクが多すぎます。"},
    Quota.STORED_TASKS: {_EN: "You have too many stored tasks.", _JA: "保存されているタスクが多すぎます。"},
    Quota.STORED_BYTES: {_EN: "Your stored tasks are too large.", _JA: "保存されているタスクの容量が大きすぎます。"},
}
_RETRY = {_EN: "{} Please try again in {}.", _JA: "{}{}ほどしてからもう一度お試しください。"}
# Rows: from how many seconds on, the unit in seconds, and its text.
_UNITS = (
    (7200, 3600, {_EN: "{} hours", _JA: "{}時間"}),
    (120, 60, {_EN: "{} minutes", _JA: "{}分"}),
    (0, 1, {_EN: "{} seconds", _JA: "{}秒"}),
)


def wait_text(seconds: float, language: Language) -> str:
    """Return a time for people, such as "20 seconds"; never less than two."""
    _, unit, texts = next(row for row in _UNITS if seconds >= row[0])
    return texts[language].format(max(2, math.ceil(seconds / unit)))


class QuotaExceeded(TemporaryRefusal):
    """A refusal (429) by this quota; the request may be repeated after `seconds`."""

    def __init__(self, quota: Quota, seconds: float) -> None:
        texts = {
            language: _RETRY[language].format(text, wait_text(seconds, language))
            for language, text in _TEXTS[quota].items()
        }
        super().__init__(RATE_LIMITED, texts, seconds=seconds, metadata={"quota": quota})
        self.quota = quota
        self.seconds = seconds


class CallerLimits(Struct, frozen=True, kw_only=True):
    """The limits of one caller; 0 is no limit. All anonymous callers together are one, with a request rate of their own."""

    requests_per_minute: int = 120
    anonymous_per_minute: int = 30
    streams: int = 200
    model_calls_per_day: int = 1000
    running_tasks: int = 100
    stored_tasks: int = 20_000
    stored_megabytes: int = 2000


def read(settings: Settings, *, only_requests: bool = False) -> CallerLimits:
    """Read the limits, `QUOTA_…`; `only_requests` for a function that only admits and forwards them."""
    defaults = msgspec.structs.asdict(CallerLimits())
    del defaults["requests_per_minute"]
    read_here = ("anonymous_per_minute",) if only_requests else defaults
    numbers = {
        name: settings.number(f"QUOTA_{name.upper()}", defaults[name], minimum=0, maximum=_MAX_LIMIT)
        for name in read_here
    }
    numbers["requests_per_minute"] = settings.number("RATE_LIMIT_PER_MINUTE", 120, minimum=0, maximum=_MAX_LIMIT)
    return CallerLimits(**{name: int(number) for name, number in numbers.items()})
