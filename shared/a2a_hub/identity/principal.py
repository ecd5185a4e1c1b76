"""The verified caller, and what they may do."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct


class Principal(Struct, frozen=True, kw_only=True):
    """Who calls. `subject` is unique and stable, and is the owner of what the caller creates; never a token or part of one.

    `client` names a static token's client, `email` is a verified address. `routes` and `operations` are all that the caller
    may use; None is no limit. `roles` are those whose tasks the caller may work on, none unless it is said; None is every role.
    """

    subject: str
    email: str | None = None
    hosted_domain: str | None = None
    client: str | None = None
    routes: frozenset[str] | None = None
    operations: frozenset[str] | None = None
    roles: frozenset[str] | None = frozenset()


TASKS_FUNCTION = "function:tasks"
"""The subject of the `tasks` function, which only whoever holds the gate's key can name."""


HUB_FUNCTION = "function:hub"
"""The subject of the hub, when it tells the `tasks` function of a task."""


def may_call(operation: str, principal: Principal | None) -> bool:
    """Whether the caller's credential covers an operation (its 1.0 name, or `tools/query`)."""
    return principal is None or principal.operations is None or operation in principal.operations


def is_operator(principal: Principal | None, operators: Collection[str]) -> bool:
    """Whether the caller may see what names accounts, resources and settings.

    Who may: a static client whose credential covers `doctor`, and the owner of one of these addresses.
    """
    if principal is None or not may_call("doctor", principal):
        return False
    return principal.client is not None or principal.email in operators
