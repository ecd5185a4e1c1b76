"""The authenticated caller and its permissions."""

from collections.abc import Collection

from msgspec import Struct


class Principal(Struct, frozen=True, kw_only=True):
    """The caller. `subject` is unique and stable, and owns what the caller creates; it holds no part of a token.

    `client` names a static token's client, `email` is a verified address. The caller is limited to `routes` and `operations`;
    None means no limit. It may work on the tasks of `roles`, by default of none; None means every role.
    """

    subject: str
    email: str | None = None
    hosted_domain: str | None = None
    client: str | None = None
    routes: frozenset[str] | None = None
    operations: frozenset[str] | None = None
    roles: frozenset[str] | None = frozenset()


TASKS_FUNCTION = "function:tasks"
"""The subject of the `tasks` function: only a holder of the gate's key can name it."""
HUB_FUNCTION = "function:hub"
"""The subject of the hub when it notifies the `tasks` function of a task."""


def may_call(operation: str, principal: Principal | None) -> bool:
    """Return True if the caller's credential covers an operation (its 1.0 name, or `tools/query`)."""
    return principal is None or principal.operations is None or operation in principal.operations


def is_operator(principal: Principal | None, operators: Collection[str]) -> bool:
    """Return True if the caller may see accounts, resources and settings.

    Operators are static clients whose credential covers `doctor`, and the owners of these addresses.
    """
    if principal is None or not may_call("doctor", principal):
        return False
    return principal.client is not None or principal.email in operators
