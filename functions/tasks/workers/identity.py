"""The identity of a worker and the roles it is granted; there are none by default."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from a2a_hub.a2a.errors import PERMISSION_DENIED, A2AError, invalid_field
from a2a_hub.identity.principal import Principal
from a2a_hub.settings.reader import Settings

_NAME = "WORKER_ACCOUNTS"


class Worker(Struct, frozen=True, kw_only=True):
    """A worker; `roles` is None if it may work on every role."""

    name: str
    roles: frozenset[str] | None

    def may_work_on(self, role: str) -> bool:
        """Return True if the worker may see tasks of this role. The empty role belongs to the hub alone."""
        return bool(role) and (self.roles is None or role in self.roles)

    def roles_for(self, requested: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
        """Return the roles to lease from: the requested ones, or all of the worker's. Raise PERMISSION_DENIED."""
        own = sorted(known if self.roles is None else self.roles)
        for index, role in enumerate(requested):
            if not self.may_work_on(role):
                raise A2AError(
                    PERMISSION_DENIED,
                    f"This credential works on {', '.join(own)}, and not on the role in roles[{index}]",
                    fields=((f"roles[{index}]", f"must be one of {', '.join(own)}"),),
                )
        if not requested and not own:
            raise invalid_field("roles", "must be named: no route of the hub has a role")
        return tuple(dict.fromkeys(requested)) or tuple(own)


def worker_of(principal: Principal, accounts: Mapping[str, frozenset[str]]) -> Worker:
    """Return the worker behind a credential. Raise PERMISSION_DENIED if it has no role."""
    roles = principal.roles
    if principal.client is None:
        roles = accounts.get(principal.email or "", frozenset())
    if roles is not None and not roles:
        raise A2AError(
            PERMISSION_DENIED,
            "This credential works on no role: name its roles in the table of clients (CLIENTS_FILE), or its account in "
            f"{_NAME}",
        )
    return Worker(name=principal.subject, roles=roles)


def read_accounts(settings: Settings) -> Mapping[str, frozenset[str]]:
    """Read `WORKER_ACCOUNTS`: `email=role` for each account and role, separated by commas."""
    accounts: dict[str, frozenset[str]] = {}
    for item in settings.listed(_NAME):
        email, _, role = (word.strip() for word in item.partition("="))
        if "@" not in email or not role:
            settings.problem(_NAME, "must be a list of email=role, such as builder@p.iam.gserviceaccount.com=developer")
            break
        accounts[email] = accounts.get(email, frozenset()) | {role}
    return accounts
