"""The local cloud under a run: its stand-ins, their faults, and what they received."""

import json
from typing import Any

from local.cloud.wiring import CLOUD_FILE
from tests.e2e.hubs import Hub
from tests.fakes.local_cloud import call, inject


class LocalCloud:
    """The stand-ins of a run."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.urls: dict[str, str] = json.loads((hub.logs / CLOUD_FILE).read_text())

    def break_it(self, stand_in: str, fault: str, **parameters: Any) -> None:
        """Switches a fault on."""
        inject(self.urls[stand_in], fault, **parameters)

    def faults(self, stand_in: str) -> dict[str, Any]:
        """The faults of a stand-in that are on."""
        on: dict[str, Any] = call(f"{self.urls[stand_in]}/__faults")["on"]
        return on

    def received(self, stand_in: str) -> list[dict[str, Any]]:
        """The requests that came in, oldest first."""
        requests: list[dict[str, Any]] = call(f"{self.urls[stand_in]}/__received")
        return requests

    def mend(self) -> None:
        """Every fault is off."""
        for url in self.urls.values():
            call(f"{url}/__faults", "DELETE")
