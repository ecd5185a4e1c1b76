"""The outcome of a request, as its log line has it."""

from enum import StrEnum


class Outcome(StrEnum):
    """The outcomes that a report counts; the line's `fault` has the cause by its technical name."""

    ANSWERED = "answered"
    """With an answer, a question back, or a task that continues."""
    UNANSWERED = "unanswered"
    """No agent that was asked had an answer; the caller got a text that says so."""
    DECLINED = "declined"
    """By the agent itself: what it was asked for is not its subject, or it does not do it."""
    FAILED = "failed"
    REFUSED = "refused"
    """Not admitted: no permission, a quota, an invalid request."""
    CANCELLED = "cancelled"
    """Its caller left, or canceled it."""
