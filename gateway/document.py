"""Reads gateway/openapi.yaml: its operations, and the backends of x-google-api-management that they name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("openapi.yaml")
METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A backend of operations. `address` is as in the file, with its variable; None stands for a missing value."""

    name: str
    address: str | None
    jwt_audience: str | None
    disables_auth: bool
    path_translation: str | None
    protocol: str | None
    deadline_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path template. `backend` is the name that it gives, which may name nothing."""

    method: str
    path: str
    id: str | None
    backend: str | None
    security: tuple[Mapping[str, Any], ...]

    @property
    def place(self) -> str:
        """The name in a report."""
        return f"{self.method.upper()} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The parts of the file that API Gateway works by; `raw` is all of it."""

    operations: tuple[Operation, ...]
    backends: Mapping[str, Backend]
    raw: Mapping[str, Any]


def read(text: str) -> Document:
    """Return the document in `text`. Raises yaml.YAMLError."""
    raw = yaml.safe_load(text)
    backends = raw.get("x-google-api-management", {}).get("backends", {})
    return Document(
        operations=tuple(_operations(raw)),
        backends={name: _backend(name, values) for name, values in backends.items()},
        raw=raw,
    )


def _operations(raw: Mapping[str, Any]) -> Iterator[Operation]:
    for path, item in raw["paths"].items():
        for method in METHODS:
            if method in item:
                values = item[method]
                yield Operation(
                    method=method,
                    path=path,
                    id=values.get("operationId"),
                    backend=values.get("x-google-backend", raw.get("x-google-backend")),
                    security=tuple(values.get("security", raw.get("security", ()))),
                )


def _backend(name: str, values: Mapping[str, Any]) -> Backend:
    deadline = values.get("deadline")
    return Backend(
        name=name,
        address=values.get("address"),
        jwt_audience=values.get("jwtAudience"),
        disables_auth=bool(values.get("disableAuth", False)),
        path_translation=values.get("pathTranslation"),
        protocol=values.get("protocol"),
        deadline_seconds=float(deadline) if isinstance(deadline, int | float) else None,
    )
