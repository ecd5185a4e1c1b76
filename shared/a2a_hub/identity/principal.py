"""The authenticated caller and its permissions, and the named clients with static bearer tokens.

Of a token, only the SHA-256 digest is stored. A table lists the clients (`CLIENTS_FILE`).
"""

import hashlib
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs


class Contract(StrEnum):
    """The form of answers: text alone for user interfaces, or what the specification says for programs."""

    UI = "ui"
    PROGRAM = "program"


class Principal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The caller. `subject` is unique and stable, and owns what the caller creates; it holds no part of a token.

    `client` names a static token's client, an `operator` if its row says so; `email` is a verified address. The caller is limited
    to `routes` and `operations`, None means no limit, and may work on the tasks of `roles`: by default none; None means all.
    If it `repeats`, an identical request gets the answer again. `contract` is None unless one is known. `expires_at`, in seconds
    since the epoch, is that of a row of the clients table; a verified caller has none.
    """

    subject: str
    email: str | None = None
    hosted_domain: str | None = None
    client: str | None = None
    operator: bool = False
    routes: frozenset[str] | None = None
    operations: frozenset[str] | None = None
    roles: frozenset[str] | None = frozenset()
    repeats: bool = False
    contract: Contract | None = None
    expires_at: float | None = None

    @property
    def identity(self) -> "Principal":
        """The person alone, without the permissions at the hub."""
        return Principal(subject=self.subject, email=self.email, hosted_domain=self.hosted_domain)

    @property
    def own_email(self) -> str | None:
        """The address, if Google is authoritative for it; None for one that its owner may have lost since Google verified it.

        Google is for those of the caller's hosted domain, of Gmail, and of service accounts
        (developers.google.com/identity/gsi/web/guides/verify-google-id-token).
        """
        domain = (self.email or "").partition("@")[2].lower()
        hosted = bool(domain) and domain == (self.hosted_domain or "").lower()
        return self.email if hosted or domain == _GMAIL or domain.endswith(_SERVICE_ACCOUNTS) else None


_GMAIL = "gmail.com"
_SERVICE_ACCOUNTS = ".gserviceaccount.com"
GATE = "gate"
"""The only function that may name callers at the hub and at `tasks`; others may name only themselves."""
HUB = "hub"
"""The only function that may name callers at agents."""
_FUNCTION = "function:"
TASKS_FUNCTION = f"{_FUNCTION}tasks"
"""The subject of the `tasks` function: only a holder of its key can name it."""
HUB_FUNCTION = f"{_FUNCTION}hub"
"""The subject of the hub when it notifies the `tasks` function of a task."""


def may_speak(function: str, principal: Principal, *, speaker: str = GATE) -> bool:
    """Return True if a function's key may sign this principal: only `speaker` speaks for callers, the others for themselves."""
    if function == speaker:
        return not principal.subject.startswith(_FUNCTION)
    return principal == Principal(subject=_FUNCTION + function)


def may_call(operation: str, principal: Principal | None) -> bool:
    """Return True if the caller's credential covers an operation (its 1.0 name, or `tools/query`)."""
    return principal is None or principal.operations is None or operation in principal.operations


def is_operator(principal: Principal | None, operators: Collection[str]) -> bool:
    """Return True if the caller may see accounts, resources and settings.

    Operators are the static clients whose rows say so, and the owners of these addresses, unless their credential does not cover
    `doctor`.
    """
    if principal is None or not may_call("doctor", principal):
        return False
    return principal.operator or principal.own_email in operators


DEVELOPER = "developer"
"""The client that all development tokens name; each has a subject of its own."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = frozenset(
    {"name", "token_sha256", "routes", "operations", "roles", "operator", "repeats", "contract", "expires"}
)


Clients = Mapping[str, Principal]
"""The named clients, by the hexadecimal SHA-256 digests of their tokens."""


class StaticTokenVerifier:
    """A verifier of the tokens of a fixed set of clients."""

    def __init__(self, clients: Clients, *, now: Callable[[], float] = time.time) -> None:
        self._clients = clients
        self._now = now

    def verify(self, token: str) -> Principal | None:
        """See `TokenVerifier.verify`. The timing of a lookup by digest reveals nothing about the token."""
        found = self._clients.get(digest(token))
        if found is None or found.expires_at is None:
            return found
        return structs.replace(found, expires_at=None) if self._now() < found.expires_at else None


def digest(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def client(name: str) -> Principal:
    """Return the named client without limits, which works on no tasks."""
    return Principal(subject=f"client:{name}", client=name)


def development_clients(tokens: Iterable[str]) -> Clients:
    """Return DEVELOPER without limits, an operator, for each token; its digest is in the subject, whatever the list's order."""
    developer = Principal(subject="", client=DEVELOPER, roles=None, operator=True)
    return {each: structs.replace(developer, subject=f"client:dev-{each[:12]}") for each in map(digest, tokens)}


class ClientTableError(ValueError):
    """All errors of the table, one sentence each. Tokens are not repeated."""


def load_clients(text: str) -> Clients:
    """Return the clients of the `[[clients]]` tables: name, token_sha256, and optionally routes, operations, roles,
    operator, repeats, contract and expires.

    Raises ClientTableError with all errors.
    """
    # Loaded for a table: without one, no start needs it.
    from a2a_hub.toml.document import parse

    try:
        document = parse(text)
    except ValueError:
        # The parser quotes the line, which may hold a token.
        raise ClientTableError("it is no TOML") from None
    tables = document.pop("clients", [])
    problems = [f"{name} is not known: clients belong in [[clients]]" for name in document]
    if not isinstance(tables, list):
        problems.append("clients must be tables, each headed by [[clients]]")
        tables = []
    clients = [_client(table, f"clients[{index}]", problems) for index, table in enumerate(tables)]
    digests, names = [each for each, _ in clients], [principal.client for _, principal in clients]
    for key, values in (("name", names), ("token_sha256", digests)):
        given = list(filter(None, values))
        if len(given) != len(set(given)):
            problems.append(f"two clients have the same {key}")
    if problems:
        raise ClientTableError("; ".join(problems))
    return dict(clients)


def _client(table: Any, place: str, problems: list[str]) -> tuple[str, Principal]:
    """Return the digest of the client's token, and its principal."""
    values = table if isinstance(table, dict) else {}
    name, token_sha256 = str(values.get("name", "")), str(values.get("token_sha256", ""))
    if not _NAME.fullmatch(name):
        problems.append(f"{place}.name must be lower-case letters, digits and hyphens")
    elif name == DEVELOPER:
        problems.append(f"{place}.name is taken: {name} stands for development tokens")
    if not _SHA256.fullmatch(token_sha256):
        problems.append(f"{place}.token_sha256 must be the token's SHA-256 in 64 hexadecimal digits, never the token")
    flags = [key for key in ("operator", "repeats") if not isinstance(values.get(key, False), bool)]
    problems.extend(f"{place}.{key} must be true or false" for key in flags)
    contract = values.get("contract")
    if contract not in (None, *Contract):
        problems.append(f'{place}.contract must be "ui" or "program"')
        contract = None
    problems.extend(f"{place}.{key} is not known" for key in values if key not in _KEYS)
    return token_sha256, structs.replace(
        client(name),
        routes=_names(values, "routes", place, problems),
        operations=_names(values, "operations", place, problems),
        # Tasks hold other people's texts: a client works only on the roles that the table grants.
        roles=_names(values, "roles", place, problems) or frozenset(),
        operator=values.get("operator") is True,
        repeats=values.get("repeats") is True,
        contract=contract and Contract(contract),
        expires_at=_expiry(values, place, problems),
    )


def _expiry(values: dict[str, Any], place: str, problems: list[str]) -> float | None:
    """Return the moment from which the token is refused: that of `expires`, or for a date the beginning of that day in UTC."""
    match values.get("expires"):
        case None:
            return None
        case datetime(tzinfo=zone) as moment if zone:
            return moment.timestamp()
        case date() as day if not isinstance(day, datetime):
            return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    problems.append(f"{place}.expires must be a date, or a time with its zone, without quotes: 2027-04-01")
    return None


def _names(values: dict[str, Any], key: str, place: str, problems: list[str]) -> frozenset[str] | None:
    names = values.get(key)
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problems.append(f"{place}.{key} must be a list of names")
        return frozenset()
    return frozenset(names)
