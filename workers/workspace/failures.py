"""Why something did not work, as the model and the person may read it; what the operator needs stands in the log."""

from enum import StrEnum


class Unusable(ValueError):
    """What the model gave a tool cannot be used; the text says why."""


class Cause(StrEnum):
    """Why Google did not do what it was asked."""

    SETTING_UP = "setting_up"
    NOT_ALLOWED = "not_allowed"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    INVALID = "invalid"
    BUSY = "busy"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"


class GoogleFailed(Exception):
    """Google did not do it."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.value)
        self.cause = cause


class ModelCause(StrEnum):
    """Why the model did not answer."""

    SETTING_UP = "setting_up"
    BUSY = "busy"
    REFUSED = "refused"
    TOO_LONG = "too_long"
    TOO_MANY_TURNS = "too_many_turns"


class ModelFailed(Exception):
    """The model did not answer."""

    def __init__(self, cause: ModelCause) -> None:
        super().__init__(cause.value)
        self.cause = cause
