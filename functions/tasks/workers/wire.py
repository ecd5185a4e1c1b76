"""What workers send and read, as JSON in camelCase; tasks, messages, artifacts and parts are those of A2A 1.0."""

from __future__ import annotations

from a2a_hub.a2a.model import Artifact, Message, Part, Wire


class LeaseRequest(Wire, frozen=True, kw_only=True):
    """Asks for work. Without `roles`, it is for all that the worker has; `task_id` asks for one task, which a wake-up named."""

    roles: tuple[str, ...] = ()
    task_id: str | None = None
    wait_seconds: int = 0
    lease_seconds: int = 60


class LeasedTask(Wire, frozen=True, kw_only=True):
    """A task that the worker has until the lease runs out. `text` is what the user said last, of `history`."""

    task_id: str
    context_id: str
    role: str
    status: str
    attempt: int
    lease: str
    lease_seconds: int
    version: int
    text: str
    history: tuple[Message, ...]
    artifacts: tuple[Artifact, ...] = ()


class Answer(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """What comes of a write. `cancel_requested`: the user wants no more of it; the task has ended as `cancelled` with this."""

    task_id: str
    status: str
    version: int
    cancel_requested: bool


class Held(Wire, frozen=True, kw_only=True):
    """What every write has: the lease, and optionally the task's version as the worker knows it, so that what is sent again
    after a lost answer is not written twice.
    """

    lease: str
    version: int | None = None


class Renew(Held, frozen=True, kw_only=True):
    """The lease is to last `lease_seconds` from now on."""

    lease_seconds: int = 60


class Update(Wire, frozen=True, kw_only=True):
    """Either an artifact, or how far the work is: a word of `statuses`, a text, or both."""

    status: str | None = None
    text: str | None = None
    artifact: Artifact | None = None
    append: bool = False
    last_chunk: bool = False


class Progress(Held, frozen=True, kw_only=True):
    """Updates in their order; all of them are taken, or none."""

    updates: tuple[Update, ...]


class Complete(Held, frozen=True, kw_only=True):
    """The result: a text, artifacts, or both."""

    text: str | None = None
    artifacts: tuple[Artifact, ...] = ()


class Fail(Held, frozen=True, kw_only=True):
    """`reason` is read by the user."""

    reason: str


class RequireInput(Held, frozen=True, kw_only=True):
    """`text` is put to the user; with `auth` it is a credential that is missing. The task comes back with the answer."""

    text: str
    auth: bool = False


def text_artifact(id_: str, text: str) -> Artifact:
    """The answer's text as an artifact."""
    return Artifact(artifact_id=id_, name="answer", parts=(Part(text=text),))
