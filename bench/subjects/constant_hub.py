"""The whole hub (identity, protocol, routing, conversation, log) with an agent in its own process that answers a constant.

With BENCH_TICKS, a stream is one event after another. Each event's text is the time at which it was due, in nanoseconds of the
machine's monotonic clock.
"""

import os
import time
from collections.abc import Iterator

import a2a_hub.runtime.cold_start  # noqa: F401
from a2a_hub.a2a.model import Artifact, Event, Message, Part, Role, TaskArtifactUpdateEvent
from a2a_hub.runtime.function import admission_control, stdout_log
from a2a_hub.runtime.server import entry_point
from a2a_hub.telemetry.start import start_telemetry
from functions.hub import config
from functions.hub.app import build
from functions.hub.downstream.interface import AgentRequest, AnswersOnly

_ANSWER = Message(message_id="constant", role=Role.AGENT, parts=(Part(text="hello world"),))
_TICKS = int(os.environ.get("BENCH_TICKS", "0"))
_INTERVAL_SECONDS = float(os.environ.get("BENCH_INTERVAL_SECONDS", "1"))


def _answer(agent_request: AgentRequest) -> Iterator[Event]:
    if not (_TICKS and agent_request.streaming):
        yield _ANSWER
        return
    start = time.monotonic()
    for number in range(_TICKS):
        due = start + number * _INTERVAL_SECONDS
        time.sleep(max(0.0, due - time.monotonic()))
        artifact = Artifact(artifact_id="ticks", parts=(Part(text=f"{due * 1e9:.0f}\n"),))
        yield TaskArtifactUpdateEvent(task_id="task", context_id="context", artifact=artifact, append=True)


class _Agent(AnswersOnly):
    immediate = not _TICKS
    open_circuit = None

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        return _answer(agent_request)


start_telemetry("hub", os.environ)
_settings = config.read(os.environ)
_admission = admission_control(_settings.limits, stdout_log("hub"))
_agent = _Agent()
hub = entry_point(
    "hub",
    build(_settings, downstreams={route.id: _agent for route in _settings.hub.table.routes}, admission=_admission),
    _admission,
    on_flask=_settings.on_flask,
)
