"""The verified caller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who calls. `subject` is unique and stable, and is the owner of what the caller creates; never a token or part of one."""

    subject: str
    email: str | None = None
    hosted_domain: str | None = None
