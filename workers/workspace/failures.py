"""Failures as the model and the person may read them; the operator's details are in the log."""

from enum import StrEnum


class Unusable(ValueError):
    """Invalid arguments of a tool call; the text is for the model."""


class Cause(StrEnum):
    """The cause of a failed Google API call."""

    SETTING_UP = "setting_up"
    NOT_ALLOWED = "not_allowed"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    INVALID = "invalid"
    BUSY = "busy"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"


class GoogleFailed(Exception):
    """A failed Google API call."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.value)
        self.cause = cause


class ModelCause(StrEnum):
    """The cause of a failed model call."""

    SETTING_UP = "setting_up"
    BUSY = "busy"
    REFUSED = "refused"
    TOO_LONG = "too_long"
    TOO_MANY_TURNS = "too_many_turns"


class ModelFailed(Exception):
    """A failed model call."""

    def __init__(self, cause: ModelCause) -> None:
        super().__init__(cause.value)
        self.cause = cause
