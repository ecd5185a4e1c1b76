"""Sessions, encrypted into one cookie: any instance of the console can open them, and none stores them."""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import msgspec
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from a2a_hub.http.messages import Request
from a2a_hub.telemetry.log import Redacted

# Browsers keep no larger cookie.
_MAX_COOKIE_BYTES = 4096


class Session(Redacted, frozen=True, kw_only=True):
    """One person's session, or the beginning of one, without a `token`.

    `csrf` is repeated by each form and each call, and is the `state` of a sign-in, whose PKCE code verifier is `verifier`.
    `token` is the person's own token for the hub. `expires_at` is in seconds since the epoch.
    """

    expires_at: float
    token: str = ""
    name: str = ""
    csrf: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(24))
    verifier: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(48))


_SESSION = msgspec.json.Decoder(Session)


class Sessions:
    """The cookie of the console at `public_url`. The first of `keys` seals it, all of them open it."""

    def __init__(self, keys: Sequence[str], *, public_url: str, now: Callable[[], float]) -> None:
        self._box = MultiFernet([Fernet(urlsafe_b64encode(hashlib.sha256(key.encode()).digest())) for key in keys])
        parts = urlsplit(public_url)
        # Browsers send a cookie of this machine to each of its ports, and the prefix only over https.
        self._name = "__Host-console" if parts.scheme == "https" else f"console-{parts.port}"
        self._secure = "; Secure" if parts.scheme == "https" else ""
        self._now = now

    def new(self, *, seconds: float, token: str = "", name: str = "") -> Session:
        """Return a new session that ends in `seconds`."""
        return Session(expires_at=self._now() + seconds, token=token, name=name)

    def of(self, request: Request) -> Session | None:
        """Return the session of a request; None if it has none, or it has ended."""
        cookies = (each.strip().partition("=") for each in request.headers.get("cookie", "").split(";"))
        sealed = next((value for name, _, value in cookies if name == self._name), "")
        try:
            session = _SESSION.decode(self._box.decrypt(sealed))
        except (InvalidToken, ValueError):
            return None
        return session if session.expires_at > self._now() else None

    def cookie(self, session: Session) -> str:
        """Return the Set-Cookie header of a session. Raises ValueError if its token is too long for a cookie."""
        sealed = self._box.encrypt(msgspec.json.encode(session)).decode()
        if len(self._name) + len(sealed) >= _MAX_COOKIE_BYTES:
            raise ValueError
        return self._line(sealed, seconds=int(session.expires_at - self._now()))

    def no_cookie(self) -> str:
        """Return the Set-Cookie header that ends the session in the browser."""
        return self._line("", seconds=0)

    def _line(self, value: str, *, seconds: int) -> str:
        return f"{self._name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{self._secure}"


def is_from_page(session: Session, csrf: str | None) -> bool:
    """Return True if a request comes from a page of this session, which alone knows its CSRF token."""
    return secrets.compare_digest(session.csrf.encode(), (csrf or "").encode())
