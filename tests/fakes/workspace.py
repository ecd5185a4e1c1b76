"""The stand-in of a Google Workspace on a server of its own, whose answers a test can lose, hold back or choose."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from local.cloud import workspace
from local.cloud.accounts import Accounts
from local.cloud.workspace import OWNER, SCOPE, Answer, write_key
from tests.fakes.http_server import Exchange, HttpServer

__all__ = ["OWNER", "SCOPE", "Hold", "Workspace"]


@dataclass
class Hold:
    """A request that is not answered: `done` says whether it is done before its sender is gone."""

    ending: str
    done: bool
    reached: threading.Event = field(default_factory=threading.Event)


class Workspace(workspace.Workspace):
    """`trouble` is answered, once each, to paths with a fragment: None does what was asked, and loses the answer."""

    def __init__(self) -> None:
        self.server = HttpServer(self._behave)
        super().__init__(Accounts())

    def empty(self) -> None:
        """Also without trouble."""
        super().empty()
        self.trouble: list[tuple[str, Answer | None]] = []
        self.hold: Hold | None = None

    def key_file(self, folder: Path) -> Path:
        """The key of a service account, whose tokens come from here."""
        return write_key(folder / "key.json", url=self.server.url)

    def _behave(self, exchange: Exchange) -> None:
        received, path = exchange.received, urlsplit(exchange.received.path).path
        hold = self.hold if self.hold and path.endswith(self.hold.ending) else None
        if hold:
            self.hold = None
        if not hold or hold.done:
            with self._lock:
                fault = next((each for each in self.trouble if each[0] in path), None)
                if fault:
                    self.trouble.remove(fault)
                authorization = received.headers.get("authorization", "")
                status, value = (fault and fault[1]) or self.reply(
                    received.method, received.path, authorization, received.body
                )
        if hold:
            hold.reached.set()
            exchange.wait_until_left()
        elif fault and fault[1] is None:
            exchange.reset()
        elif isinstance(value, str):
            exchange.answer(status, value.encode(), content_type="text/plain")
        else:
            exchange.json(value, status)
