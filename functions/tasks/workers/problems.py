"""What can be wrong with a worker's request, beside what can be wrong with any: each a problem with its own word."""

from __future__ import annotations

from a2a_hub.a2a.errors import A2AError, ErrorKind

LEASE_LOST = ErrorKind(
    "LEASE_LOST", -32600, 409, "FAILED_PRECONDITION", "The lease is no longer the task's", a2a=False
)
TASK_ENDED = ErrorKind("TASK_ENDED", -32600, 409, "FAILED_PRECONDITION", "The task has ended", a2a=False)
WRONG_VERSION = ErrorKind(
    "WRONG_VERSION", -32600, 409, "ABORTED", "The task has another version by now", a2a=False
)
TASK_TOO_LARGE = ErrorKind(
    "TASK_TOO_LARGE", -32600, 413, "FAILED_PRECONDITION", "The task would grow too large", a2a=False
)


def lease_lost() -> A2AError:
    """The lease in the request is not the one that the task has."""
    return A2AError(
        LEASE_LOST,
        "This lease ran out, was given back, or ended with the task's turn: drop this work, another worker may have it. "
        "Renew before leaseSeconds have passed",
        fields=(("lease", "is not the task's lease"),),
    )


def task_ended() -> A2AError:
    """Nothing can be added any more."""
    return A2AError(TASK_ENDED, "The task has ended, or was cancelled: drop this work")


def wrong_version() -> A2AError:
    """The request was written for another version."""
    return A2AError(
        WRONG_VERSION,
        "The task has grown since this version: where the same request was sent before, it was taken then",
        fields=(("version", "is not the task's version"),),
    )


def too_large() -> A2AError:
    """What a task may hold is bounded."""
    return A2AError(
        TASK_TOO_LARGE,
        "The task would grow larger than a task may be: send less, or put the result elsewhere and send its URL",
    )
