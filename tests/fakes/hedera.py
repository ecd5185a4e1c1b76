"""The local Hedera network for tests: its nodes on ports of their own, its messages, and what functions need to know."""

import base64
import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from local.cloud.hedera import Hedera, settings
from local.cloud.program import Server
from local.ports import free_ports
from tests.fakes.local_cloud import call, inject

T = TypeVar("T")
TOPIC, OTHER = "0.0.1001", "0.0.1002"


class HederaNetwork:
    """A network with topics for the roles developer and reviewer."""

    def __init__(self, mirror: str, node: int, network: Hedera) -> None:
        self.mirror = mirror
        self._network = network
        self.settings: Mapping[str, str] = {
            **settings(node=f"127.0.0.1:{node}", mirror_url=mirror),
            "WAKEUPS": "hcs",
            "HCS_POLL_SECONDS": "0.05",
            "HCS_TOPICS": f"developer={TOPIC},reviewer={OTHER}",
        }

    def messages(self, topic: str = TOPIC) -> list[dict[str, Any]]:
        """Their contents, oldest first."""
        rows = call(f"{self.mirror}/api/v1/topics/{topic}/messages?order=asc&limit=100")["messages"]
        return [json.loads(base64.b64decode(row["message"])) for row in rows]

    def until(self, count: int, topic: str = TOPIC) -> list[dict[str, Any]]:
        """The messages, when there are so many."""
        return until(lambda: found if len(found := self.messages(topic)) >= count else None)

    def add(self, message: bytes) -> None:
        """A stranger's message in a topic that everybody may write to."""
        self._network.add(TOPIC, message, payer="0.0.666")

    def break_it(self, fault: str, **parameters: Any) -> None:
        """Switches a fault on."""
        inject(self.mirror, fault, **parameters)

    def mend(self) -> None:
        """Every fault is off."""
        call(f"{self.mirror}/__faults", "DELETE")


@contextlib.contextmanager
def hedera() -> Iterator[HederaNetwork]:
    """The network while it is entered."""
    (port,) = free_ports(1)
    network = Hedera()
    network.serve_node(port)
    with Server(network.handle) as mirror:
        yield HederaNetwork(mirror.url, port, network)
    network.faults.switch_off("latency")
    network.node.stop(1).wait()


def until(look: Callable[[], T | None]) -> T:
    """The first result that there is, within half a minute."""
    for _ in range(600):
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("nothing came")
