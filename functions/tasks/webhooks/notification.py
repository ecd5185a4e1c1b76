"""Build, sign (JWT, RFC 7519) and send the notification of one entry of a task's log (A2A 1.0.1 §4.3); after a failure, choose
when it is sent again, or give it up.
"""

import hashlib
from collections.abc import Callable, Iterator
from enum import Enum, auto

import msgspec
from joserfc import jws
from joserfc.jwk import ECKey
from msgspec import Struct

from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Message, Task
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.http.messages import Cancellation, delay_of
from a2a_hub.identity.public_keys import PublicKey
from a2a_hub.task_store.store import Delivery, PushConfig, TaskStore
from a2a_hub.tasks.webhook_address import AddressRefused, WebhookAddresses

_LIFETIME_SECONDS = 300
_TOKEN_HEADER = "x-a2a-notification-token"  # noqa: S105 - a header's name
_PAGE = 200
_MAX_ANSWER_BYTES = 64_000
_LONGEST_PAUSE_SECONDS = 3600.0
_MAX_DOUBLINGS = 12
_GONE = 410
# Client errors that may pass until the next attempt: Request Timeout, Too Early, Too Many Requests.
_PASSING = frozenset({408, 425, 429})


class RetryProspect(Enum):
    """The chance that another attempt succeeds."""

    GOOD = auto()
    POOR = auto()
    NONE = auto()


class Failure(Struct, frozen=True, kw_only=True):
    """A failed attempt; `reason` is a sentence for the operator. `not_before_seconds` is the receiver's Retry-After."""

    reason: str
    prospect: RetryProspect = RetryProspect.GOOD
    not_before_seconds: float = 0.0


class RetryLimits(Struct, frozen=True, kw_only=True):
    """The consecutive failures that are tolerated: `max_failures`, or `max_refusals` if the receiver rejects the content.

    At an average pause of half an hour, 150 take about three days; 10 take a quarter of an hour.
    """

    max_failures: int = 150
    max_refusals: int = 10


def failure_of_status(status: int, retry_after: str | None, *, now: float) -> Failure | None:
    """Return the failure that an HTTP status means; None if the receiver accepted."""
    if 200 <= status < 300:
        return None
    reason = f"the receiver answered with status {status}"
    if status == _GONE:
        return Failure(reason=reason, prospect=RetryProspect.NONE)
    if status >= 500 or status in _PASSING:
        not_before_seconds = min(delay_of(retry_after, now=now) or 0.0, _LONGEST_PAUSE_SECONDS)
        return Failure(reason=reason, not_before_seconds=not_before_seconds)
    return Failure(reason=reason, prospect=RetryProspect.POOR)


def failure_of_fault(failure: HttpFailure) -> Failure:
    """Return the failure of an attempt without an answer."""
    poor = isinstance(failure, AddressRefused)
    return Failure(reason=failure.detail, prospect=RetryProspect.POOR if poor else RetryProspect.GOOD)


def after_failure(
    delivery: Delivery, failure: Failure, *, limits: RetryLimits, now: float, random: Callable[[], float]
) -> Delivery:
    """Return the delivery with its next attempt, after a pause that doubles up to an hour with full jitter; or dead.

    `random` returns numbers from 0 to 1.
    """
    failures = delivery.failures + 1
    refusals = min(limits.max_failures, limits.max_refusals)
    tolerated = {RetryProspect.GOOD: limits.max_failures, RetryProspect.POOR: refusals, RetryProspect.NONE: 1}
    if failures >= tolerated[failure.prospect]:
        dead = f"{failure.reason} ({failures} failed in a row)" if failures > 1 else failure.reason
        return msgspec.structs.replace(delivery, failures=failures, dead=dead)
    pause = random() * min(_LONGEST_PAUSE_SECONDS, 2.0 ** min(failures, _MAX_DOUBLINGS))
    pause = max(pause, failure.not_before_seconds)
    return msgspec.structs.replace(delivery, failures=failures, next_attempt_at=now + pause)


class Signer:
    """The key that signs as `issuer`. `now` is the time of day in seconds since the epoch."""

    def __init__(self, pem: str, *, issuer: str, now: Callable[[], float]) -> None:
        self._key = ECKey.import_key(pem)
        self._issuer = issuer
        self._now = now
        self._header = {"alg": "ES256", "typ": "JWT", "kid": self._key.thumbprint()}

    def sign(self, body: bytes, *, audience: str, id_: str, task_id: str) -> str:
        """Return the token for one attempt to send `body`. All attempts at one event share its `id_`."""
        now = int(self._now())
        claims = {
            "iss": self._issuer,
            "aud": audience,
            "iat": now,
            "exp": now + _LIFETIME_SECONDS,
            "jti": id_,
            "taskId": task_id,
            "request_body_sha256": hashlib.sha256(body).hexdigest(),
        }
        return jws.serialize_compact(self._header, msgspec.json.encode(claims), self._key, algorithms=["ES256"])


def public_key_of(pem: str) -> PublicKey:
    """Return the public half of a private key."""
    public = ECKey.import_key(pem).as_dict(private=False)
    return PublicKey(str(public["x"]), str(public["y"]))


class Notification(Struct, frozen=True, kw_only=True):
    """The notification of one entry; `body` is None for a message, which is not sent: it changes no state."""

    sequence: int
    body: bytes | None


def notifications(store: TaskStore, push: PushConfig, *, after: int) -> Iterator[Notification]:
    """Yield a notification per entry after `after`: a StreamResponse for 1.0 (§4.3.3), a snapshot of the task for 0.3."""
    codec = CODECS[push.version]
    sends_snapshots = codec.notifies_with_tasks
    position = 0 if sends_snapshots else after
    accumulator: TaskAccumulator | None = None
    while page := store.entries(push.config.task_id or "", after=position, limit=_PAGE):
        for entry in page:
            position, event = entry.sequence, entry.event
            if accumulator is not None:
                accumulator.add(event)
            elif sends_snapshots:
                assert isinstance(event, Task), "a log begins with its task"
                accumulator = TaskAccumulator(event)
            if position <= after:
                continue
            state = event if accumulator is None else accumulator.task
            body = None if isinstance(event, Message) else codec.write_notification(state)
            yield Notification(sequence=position, body=body)


def notification_headers(push: PushConfig, notification: Notification, *, signer: Signer | None) -> dict[str, str]:
    """Return the headers of a notification: the receiver's authentication and token, and the signature if there is a key.

    If the receiver set no authentication, Authorization carries the signature too: A2A's samples read it there.
    """
    config = push.config
    id_ = f"{config.task_id}/{config.id}/{notification.sequence}"
    headers = {
        "content-type": CODECS[push.version].media_type,
        "a2a-version": push.version.value,
        "x-a2a-notification-id": id_,
    }
    if config.token:
        headers[_TOKEN_HEADER] = config.token
    if signer is not None:
        token = signer.sign(notification.body or b"", audience=config.url, id_=id_, task_id=config.task_id or "")
        headers |= {"x-a2a-notification-signature": token, "authorization": f"Bearer {token}"}
    if config.authentication is not None:
        scheme, credentials = config.authentication.scheme, config.authentication.credentials
        headers["authorization"] = f"{scheme} {credentials}" if credentials else scheme
    return headers


class NotificationSender(Struct, frozen=True):
    """The client that posts notifications to `addresses`. Without a `signer`, they are unsigned."""

    http: HttpClient
    addresses: WebhookAddresses
    signer: Signer | None
    timeout_seconds: float
    now: Callable[[], float]
    """The time of day, for dates in a receiver's Retry-After."""

    def send(self, push: PushConfig, notification: Notification, cancellation: Cancellation) -> Failure | None:
        """Send a notification once. Return the failure, or None if the receiver accepted it. A cancelled attempt is not a
        failure.
        """
        reason = self.addresses.refusal(push.config.url)
        if reason is not None:
            return Failure(reason=f"the URL {reason}", prospect=RetryProspect.POOR)
        seconds, now = self.timeout_seconds, self.http.clock()
        budget = Budget.within(seconds, now=now, max_bytes=_MAX_ANSWER_BYTES, connect_seconds=seconds / 2, retries=0)
        headers = notification_headers(push, notification, signer=self.signer)
        try:
            answer = self.http.request(
                "POST",
                push.config.url,
                headers=headers,
                body=notification.body,
                budget=budget,
                cancellation=cancellation,
            )
        except HttpFailure as failure:
            return failure_of_fault(failure)
        # The status decides. The rest is read only so that the connection can be reused.
        failed = failure_of_status(answer.status, answer.headers.get("retry-after"), now=self.now())
        answer.finish(within_seconds=self.timeout_seconds / 10)
        return failed
