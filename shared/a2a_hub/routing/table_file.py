"""The file of the route table, which is reloaded while the hub runs."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from a2a_hub.routing import compiled_table
from a2a_hub.routing.compiled_table import CompiledTable
from a2a_hub.routing.parser import load, unset_variables
from a2a_hub.routing.routes import RouteTable, RouteTableError
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.log import Log

# A placeholder for an address that is not set: nobody can ever own this name (RFC 6761 §6.4).
NOT_SET = "is-not-set.invalid"
Read = tuple[RouteTable, tuple[str, ...]]
"""A table, and the names of its unset variables."""


class RouteFile:
    """The file, and the values of its variables, which are the environment. `text` is its content when it was read last.

    With `fetch`, which returns None for an unchanged text, `path` is only the table that stands in if that fails at the start.
    """

    def __init__(
        self, path: Path, variables: Mapping[str, str], *, fetch: Callable[[], str | None] | None = None
    ) -> None:
        self._path = path
        self._fetch = fetch
        self.variables = variables
        self.text = ""
        self.problem: str | None = None
        """The reason why the table at `path` stands in."""

    def start(self) -> Read | None:
        """Return the table for the start. Raises RouteTableError, OSError, UnicodeDecodeError if there is none."""
        try:
            return self.read()
        except (RouteTableError, OSError, UnicodeDecodeError) as error:
            if self._fetch is None:
                raise
            self.problem = str(error) if isinstance(error, RouteTableError) else _cause(error)
            return RouteFile(self._path, self.variables).read()

    def read(self) -> Read | None:
        """Return the table; None if unchanged. Raises RouteTableError (once per text), OSError, UnicodeDecodeError."""
        text = self._fetch() if self._fetch else self._path.read_text(encoding="utf-8")
        if text is None or text == self.text:
            return None
        self.text = text
        ready = self._compiled(text)
        unset = unset_variables(text, self.variables, file=self._path.name, compiled=ready)
        placeholders = {name: f"https://{name.lower().replace('_', '-')}.{NOT_SET}" for name in unset}
        variables = {**self.variables, **placeholders}
        table = load(text, variables=variables, file=self._path.name, compiled=ready)
        return _without_absent(table, placeholders)

    def _compiled(self, text: str) -> CompiledTable | None:
        try:
            dump = self._path.with_name(compiled_table.NAME.format(table=self._path.name)).read_bytes()
        except OSError:
            return None
        return compiled_table.loaded(dump, text)


def _cause(error: OSError | UnicodeDecodeError) -> str:
    """Return the reason without the place, which another machine's reader cannot use."""
    return getattr(error, "strerror", None) or type(error).__name__


def _without_absent(table: RouteTable, placeholders: Mapping[str, str]) -> Read:
    """Return the table without the optional routes that have no address, and the variables that the others lack."""
    kept = tuple(route for route in table.routes if not (route.optional and NOT_SET in route.url))
    if len(kept) == len(table.routes):
        return table, tuple(placeholders)
    of_all, of_kept = (" ".join(route.url for route in routes) for routes in (table.routes, kept))
    lacking = (name for name, url in placeholders.items() if url in of_kept or url not in of_all)
    return replace(table, routes=kept), tuple(lacking)


class RouteSource:
    """The reloading of the file: `changed` gets each further table. If the file has errors, the last table stays active."""

    def __init__(
        self,
        file: RouteFile,
        *,
        seconds: float,
        changed: Callable[[RouteTable, tuple[str, ...]], object],
        log: Log,
        clock: Callable[[], float],
        run: Callable[[Callable[[], object]], object],
    ) -> None:
        """Reload every `seconds`; `run` starts work that may wait for a disk."""
        self._file = file
        self._seconds = seconds
        self._changed = changed
        self._log = log
        self._clock = clock
        self._run = run
        self._due = clock() + (0 if file.problem else seconds)
        if file.problem:
            log.line("ERROR", f"The route table cannot be used, and the deployed one stands in:\n{file.problem}")
        self._reading = threading.Lock()

    def reload_if_due(self) -> None:
        """Reload the file in the background if it is time; called with each request."""
        if self._clock() >= self._due and self._reading.acquire(blocking=False):
            self._run(self._read)

    def _read(self) -> None:
        try:
            read = self._file.read()
            if read is not None:
                self._changed(*read)
                self._log.line("NOTICE", "The route table has changed", unset=read[1])
                audit.table_changed(None, self._file.text)
        except RouteTableError as error:
            self._log.line("ERROR", f"The route table does not load, and the last one stays in use:\n{error}")
        except (OSError, UnicodeDecodeError) as error:
            self._log.line(
                "ERROR",
                "The route table cannot be read, and the last one stays in use",
                cause=_cause(error),
            )
        except Exception:
            self._log.exception("The route table cannot be used, and the last one stays in use", {})
        finally:
            self._due = self._clock() + self._seconds
            self._reading.release()
