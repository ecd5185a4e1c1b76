"""Failures of a model: their causes, the texts for people, and the remedies for operators."""

from dataclasses import dataclass, field
from enum import StrEnum

from a2a_hub.gemini.settings import GeminiSettings
from a2a_hub.text.language import Language

ROLE = "roles/aiplatform.user"
API = "aiplatform.googleapis.com"
_UNKNOWN_ACCOUNT = "SERVICE_ACCOUNT_EMAIL"


class Cause(StrEnum):
    """A kind of failure, as far as people or operators act differently on it."""

    NO_CREDENTIALS = "no_credentials"
    DENIED = "denied"
    API_DISABLED = "api_disabled"
    NOT_FOUND = "not_found"
    REJECTED = "rejected"
    QUOTA = "quota"
    USED_UP = "used_up"
    OVERLOADED = "overloaded"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    CUT = "cut"
    CUT_PROMPT = "cut_prompt"
    BROKEN = "broken"
    EMPTY = "empty"
    QUESTION_BLOCKED = "question_blocked"
    ANSWER_BLOCKED = "answer_blocked"
    RECITATION = "recitation"
    CANCELLED = "cancelled"


TRANSIENT = frozenset({Cause.QUOTA, Cause.OVERLOADED, Cause.UNREACHABLE, Cause.CUT})
"""Causes that may be over in a moment: the request is sent again, as long as no part of the answer was passed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The tokens that one request was charged for (`usageMetadata`)."""

    prompt: int = 0
    answer: int = 0
    thoughts: int = 0
    total: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        """Return what both requests were charged for."""
        return Tokens(
            prompt=self.prompt + other.prompt,
            answer=self.answer + other.answer,
            thoughts=self.thoughts + other.thoughts,
            total=self.total + other.total,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure. `detail` is for the operator and holds no foreign text; `finish` is the API's finish or block reason."""

    cause: Cause
    detail: str = ""
    finish: str = ""
    retry_after_seconds: float | None = None
    tokens: Tokens = field(default_factory=Tokens)


class ModelFailed(Exception):
    """The exception of a Failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.cause} {failure.detail}")
        self.failure = failure


_NOT_SET_UP = ("The language model is not set up for me as it should be.", "言語モデルの設定に問題があります。")
_AWAY = ("The language model cannot be reached at the moment.", "現在、言語モデルに接続できません。")
_SLOW = (
    "The language model did not finish its answer in time.",
    "言語モデルの回答が時間内に完了しませんでした。",
)
_UNUSABLE = ("The language model gave no usable answer.", "言語モデルから有効な回答が得られませんでした。")
_BLOCKED = (
    "The language model's safety rules did not let this question or its answer through.",
    "言語モデルの安全基準により、この質問には回答できません。",
)
_REASONS = {
    **dict.fromkeys((Cause.NO_CREDENTIALS, Cause.DENIED, Cause.API_DISABLED, Cause.NOT_FOUND), _NOT_SET_UP),
    **dict.fromkeys((Cause.OVERLOADED, Cause.UNREACHABLE, Cause.CUT), _AWAY),
    **dict.fromkeys((Cause.TIMEOUT, Cause.STALLED), _SLOW),
    **dict.fromkeys((Cause.REJECTED, Cause.CUT_PROMPT, Cause.BROKEN, Cause.EMPTY), _UNUSABLE),
    **dict.fromkeys((Cause.QUESTION_BLOCKED, Cause.ANSWER_BLOCKED, Cause.RECITATION), _BLOCKED),
    Cause.QUOTA: (
        "The language model has reached its limit of requests for the moment.",
        "言語モデルが現在、利用上限に達しています。",
    ),
    Cause.USED_UP: (
        "Today's limit of calls to the language model is reached.",
        "本日の言語モデルの利用上限に達しました。",
    ),
    Cause.CANCELLED: ("The question was withdrawn.", "質問が取り消されました。"),
}
_REPHRASE = ("Please put the question in other words.", "別の言葉でご質問ください。")
_SHORTEN = ("Please ask a shorter question.", "質問を短くしてお試しください。")
_LATER = ("Please try again in a few minutes.", "数分後にもう一度お試しください。")
_ADMINISTRATOR = ("Your administrator can fix this.", "管理者による対応が必要です。")
_ADVICE = {
    **dict.fromkeys((Cause.NO_CREDENTIALS, Cause.DENIED, Cause.API_DISABLED, Cause.NOT_FOUND), _ADMINISTRATOR),
    **dict.fromkeys((Cause.EMPTY, Cause.QUESTION_BLOCKED, Cause.ANSWER_BLOCKED, Cause.RECITATION), _REPHRASE),
    Cause.REJECTED: _SHORTEN,
}
_NO_ANSWER = ("I could not answer this question.", "この質問に回答できませんでした。")
_INCOMPLETE = ("The answer above is not complete.", "上の回答は途中までです。")
_CUT_SHORT = (
    "(The answer was cut off here, at the longest length that is allowed. Ask for the rest, or for a shorter answer.)",
    "（回答が長さの上限に達したため、ここで打ち切られました。続きを尋ねるか、短い回答をお求めください。）",
)
_RETRYING = ("The language model is busy; trying again", "言語モデルが混み合っているため、再試行しています")


def failure_text(cause: Cause, language: Language, *, is_begun: bool) -> str:
    """Return what happened and what to do. `is_begun`: a part of the answer stands above."""
    what = _INCOMPLETE if is_begun else _NO_ANSWER
    sentences = (what, _REASONS[cause], _ADVICE.get(cause, _LATER))
    if language is Language.JA:
        return "".join(japanese for _, japanese in sentences)
    return " ".join(english for english, _ in sentences)


def cut_short_text(language: Language) -> str:
    """Return the note under an answer that reached the maximum length."""
    return _CUT_SHORT[language is Language.JA]


def retrying_text(language: Language) -> str:
    """Return the progress line while the model is asked again."""
    return _RETRYING[language is Language.JA]


def hint(step: str, failure: Failure, settings: GeminiSettings, *, account: str | None) -> dict[str, str]:
    """Return the report of a failed step, for operators only: the remedy may name the project and the account."""
    return {
        "step": step,
        "cause": failure.cause.value,
        "resource": settings.model,
        "detail": failure.detail,
        "remedy": remedy(failure.cause, settings, account=account),
    }


def remedy(cause: Cause, settings: GeminiSettings, *, account: str | None) -> str:
    """Return the command, or the sentence, that fixes the cause. `account` is the rejected service account, if known."""
    project = settings.project
    match cause:
        case Cause.NO_CREDENTIALS:
            return (
                "gcloud auth application-default login (on your own machine; on Cloud Run, deploy the function with "
                "--service-account, and see that this account exists and is enabled)"
            )
        case Cause.DENIED:
            member = f"serviceAccount:{account or _UNKNOWN_ACCOUNT}"
            return f"gcloud projects add-iam-policy-binding {project} --member={member} --role={ROLE}"
        case Cause.API_DISABLED:
            return f"gcloud services enable {API} --project={project}"
        case Cause.NOT_FOUND:
            return (
                f"set {settings.variable} and GOOGLE_CLOUD_LOCATION to a model and a location that has it: "
                f"{settings.model} is not in {settings.location}"
            )
        case Cause.QUOTA:
            return (
                "ask again in a minute: Gemini's newer models have no quota to raise, but capacity that all projects share; "
                f"where it comes again, {_more_capacity(settings)}"
            )
        case Cause.USED_UP:
            return "raise MODEL_CALLS_PER_DAY, the limit of each instance, if it is too small"
        case Cause.UNREACHABLE | Cause.CUT:
            return f"see that the function can reach {API} (VPC egress, DNS), then ask again"
        case Cause.TIMEOUT:
            return "raise MODEL_TIMEOUT_SECONDS and the route's timeout_seconds, or choose a faster model"
        case Cause.STALLED:
            return "raise MODEL_IDLE_SECONDS if the model thinks for longer, or choose a faster model"
        case Cause.EMPTY:
            return "raise MODEL_MAX_OUTPUT_TOKENS: what the model thinks counts, too"
        case Cause.QUESTION_BLOCKED | Cause.ANSWER_BLOCKED | Cause.RECITATION:
            return "nothing is broken: the model's content filters decided so"
        case _:
            return "see the function's log by the request's id; status.cloud.google.com tells of disruptions"


def _more_capacity(settings: GeminiSettings) -> str:
    reserved = "reserve capacity (Provisioned Throughput)"
    if settings.location == "global":
        return reserved
    return f"set GOOGLE_CLOUD_LOCATION=global, which draws on every region's capacity, or {reserved}"
