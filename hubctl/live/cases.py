"""The cases of the paper: what is broken in the local cloud while the questions are asked, and what the paper says of it."""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from hubctl.live.hub import HubUnavailable

_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case; see evaluation/paper_cases.toml."""

    id: str
    paper: str
    stand_in: str | None = None
    fault: str | None = None
    route: str | None = None
    status: int | None = None
    unread: bool = False


def read_cases(path: Path) -> tuple[Case, ...]:
    """The cases in a file. Raises OSError, tomllib.TOMLDecodeError, TypeError or KeyError."""
    return tuple(Case(**table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["cases"])


class LocalCloud:
    """The stand-ins of a run over the local cloud, by name."""

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = urls
        self._http = HttpClient()

    @classmethod
    def of_run(cls, file: Path) -> LocalCloud:
        """Those whose addresses a run wrote down. Raises HubUnavailable where it has none."""
        try:
            return cls(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            raise HubUnavailable(
                f"there is no local cloud at {file}: start one with make run CLOUD=local, and name its file with --cloud"
            ) from None

    @contextlib.contextmanager
    def broken(self, case: Case) -> Iterator[None]:
        """The case's fault is on, and off again afterwards. Raises HubUnavailable."""
        if case.stand_in is None or case.fault is None:
            yield
            return
        if case.stand_in not in self._urls:
            raise HubUnavailable(f"the local cloud has no {case.stand_in}")
        url = f"{self._urls[case.stand_in]}/__faults/{case.fault}"
        self._switch("POST", url)
        try:
            yield
        finally:
            self._switch("DELETE", url)

    def _switch(self, method: str, url: str) -> None:
        budget = Budget(
            deadline=self._http.clock() + _SECONDS,
            connect_seconds=_SECONDS,
            idle_seconds=_SECONDS,
            max_bytes=1 << 20,
        )
        try:
            answer = self._http.request(method, url, headers={}, body=None, budget=budget)
            answer.read()
        except HttpFailure as failure:
            raise HubUnavailable(f"the local cloud does not answer: {failure.detail}") from None
        if answer.status != 204:
            raise HubUnavailable(f"the local cloud does not know this fault: HTTP {answer.status}")
