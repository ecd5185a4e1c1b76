"""The hub with an agent in its own process whose answer comes as one event after another, on a schedule.

Each event's text is the time at which it was due, in nanoseconds of the machine's monotonic clock.
"""

import os
import time
from collections.abc import Iterator

from a2a_hub.a2a.model import Artifact, Event, Message, Part, Role, TaskArtifactUpdateEvent
from a2a_hub.http.flask_adapter import entry_point
from functions.hub import config
from functions.hub.app import build
from functions.hub.downstream.interface import AgentRequest, InProcess

_TICKS = int(os.environ["BENCH_TICKS"])
_INTERVAL_SECONDS = float(os.environ["BENCH_INTERVAL_SECONDS"])


def _answer(agent_request: AgentRequest) -> Iterator[Event]:
    if not agent_request.streaming:
        yield Message(message_id="constant", role=Role.AGENT, parts=(Part(text="hello world"),))
        return
    start = time.monotonic()
    for number in range(_TICKS):
        due = start + number * _INTERVAL_SECONDS
        time.sleep(max(0.0, due - time.monotonic()))
        artifact = Artifact(artifact_id="ticks", parts=(Part(text=f"{due * 1e9:.0f}\n"),))
        yield TaskArtifactUpdateEvent(task_id="task", context_id="context", artifact=artifact, append=True)


_config = config.read(os.environ)
hub = entry_point(build(_config, downstreams={route.id: InProcess(_answer) for route in _config.hub.table.routes}))
