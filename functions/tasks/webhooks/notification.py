"""Signs notifications: a JWT (RFC 7519) that says whose it is, for whom, and of which body."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from msgspec import Struct

from a2a_hub.a2a.bindings.webhook import TOKEN_HEADER, event_body, media_type, task_body
from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Message, Task
from a2a_hub.a2a.versions import Version
from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.task_store.store import Entry, PushConfig, TaskStore
from a2a_hub.tasks.webhook_keys import PublicKey, base64url, public_keys
from functions.tasks.webhooks.retry_policy import Failure, Prospect, of_answer, of_fault

_LIFETIME_SECONDS = 300
_INTEGER_BYTES = 32


class Signer:
    """Signs as `issuer`. `now` is the time of day in seconds since the epoch."""

    def __init__(self, pem: str, *, issuer: str, now: Callable[[], float]) -> None:
        self._key = _private_key(pem)
        self._issuer = issuer
        self._now = now
        public = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (self.public_key,) = public_keys(public.decode())
        header = {"alg": "ES256", "typ": "JWT", "kid": self.public_key.id}
        self._header = base64url(msgspec.json.encode(header))

    def sign(self, body: bytes, *, audience: str, id_: str, task_id: str) -> str:
        """The token for one attempt to send `body`. Each attempt at the same event has the same `id_`."""
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
        signed = f"{self._header}.{base64url(msgspec.json.encode(claims))}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(_INTEGER_BYTES) + s.to_bytes(_INTEGER_BYTES)
        return f"{signed}.{base64url(signature)}"


def public_key_of(pem: str) -> PublicKey:
    """The public half of a private key. Raises ValueError unless it is one of P-256, unencrypted."""
    return Signer(pem, issuer="", now=lambda: 0.0).public_key


def _private_key(pem: str) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise ValueError("not a private key in PEM") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ValueError("not a P-256 key")
    return key


_PAGE = 200


class Told(Struct, frozen=True, kw_only=True):
    """An entry and what is to be sent of it: nothing (None) for a message, which says nothing of the task's state."""

    sequence: int
    body: bytes | None


def told(store: TaskStore, push: PushConfig, *, after: int) -> Iterator[Told]:
    """The entries behind `after`, in order: for 1.0 a StreamResponse (A2A 1.0.1 §4.3.3), for 0.3 the whole task as it was."""
    whole = push.version is Version.V0_3
    position = 0 if whole else after
    growing: TaskAccumulator | None = None
    while page := store.entries(push.config.task_id or "", after=position, limit=_PAGE):
        for entry in page:
            position = entry.sequence
            if whole:
                growing = _grown(growing, entry)
            if position > after:
                yield Told(sequence=position, body=_body(entry, growing))


def headers(push: PushConfig, told: Told, *, signer: Signer | None) -> dict[str, str]:
    """The headers beside a body: the receiver's own authentication and token, and the signature where there is a key.

    Without an authentication of the receiver's, Authorization carries the signature too, where A2A's samples look for it.
    """
    config = push.config
    id_ = f"{config.task_id}/{config.id}/{told.sequence}"
    said = {
        "content-type": media_type(push.version),
        "a2a-version": push.version.value,
        "x-a2a-notification-id": id_,
    }
    if config.token:
        said[TOKEN_HEADER] = config.token
    if signer is not None:
        token = signer.sign(told.body or b"", audience=config.url, id_=id_, task_id=config.task_id or "")
        said |= {"x-a2a-notification-signature": token, "authorization": f"Bearer {token}"}
    if config.authentication is not None:
        scheme, credentials = config.authentication.scheme, config.authentication.credentials
        said["authorization"] = f"{scheme} {credentials}" if credentials else scheme
    return said


def _grown(growing: TaskAccumulator | None, entry: Entry) -> TaskAccumulator:
    if growing is None:
        assert isinstance(entry.event, Task), "a log begins with its task"
        return TaskAccumulator(entry.event)
    growing.add(entry.event)
    return growing


def _body(entry: Entry, growing: TaskAccumulator | None) -> bytes | None:
    if isinstance(entry.event, Message):
        return None
    return event_body(entry.event) if growing is None else task_body(growing.task)


_MOST_ANSWER_BYTES = 64_000


class Posting:
    """`refuses` says of a URL why it may not be notified now. Without a `signer`, nothing is signed."""

    def __init__(
        self,
        *,
        http: HttpClient,
        refuses: Callable[[str], str | None],
        signer: Signer | None,
        timeout_seconds: float,
        now: Callable[[], float],
    ) -> None:
        """`now` is the time of day, which a receiver's Retry-After may name."""
        self._http = http
        self._refuses = refuses
        self._signer = signer
        self.timeout_seconds = timeout_seconds
        self._now = now

    def post(self, push: PushConfig, each: Told) -> Failure | None:
        """Why the receiver has not taken it; None where it has."""
        reason = self._refuses(push.config.url)
        if reason is not None:
            return Failure(reason=f"the URL {reason}", prospect=Prospect.POOR)
        budget = Budget(
            deadline=self._http.clock() + self.timeout_seconds,
            connect_seconds=self.timeout_seconds / 2,
            idle_seconds=self.timeout_seconds,
            max_bytes=_MOST_ANSWER_BYTES,
        )
        said = headers(push, each, signer=self._signer)
        try:
            answer = self._http.request("POST", push.config.url, headers=said, body=each.body, budget=budget)
        except HttpFailure as failure:
            return of_fault(failure)
        # The status decides. What else the receiver says is read only so that the connection can be used again.
        failed = of_answer(answer.status, answer.headers.get("retry-after"), now=self._now())
        answer.finish(within_seconds=self.timeout_seconds / 10)
        return failed
