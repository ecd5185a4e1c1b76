"""An agent that is killed and comes back after three seconds: no task fails, whatever it was doing."""

import threading
from itertools import chain
from pathlib import Path

from a2a_hub.runtime.ids import random_hex
from tests.e2e.long_running_agent import answer_to
from tests.e2e.restarting_agent import restarting_agent
from tests.e2e.task_machine import Json, ended, machine, message, text_of, until

_EACH = 15
_ROUTE = """
[[routes]]
id = "{id}"
name = "{id}"
description = "For tests."
url = "{url}"
boundary = "public"
keywords = ["{id}"]
priority = {priority}
breaker = {{ failures = 5, pause_seconds = 1 }}
{more}
"""


def test_an_agent_that_is_away_for_three_seconds_fails_no_task(tmp_path: Path) -> None:
    with restarting_agent(seconds=1.5) as agent:
        routes = _ROUTE.format(id="agent", url=agent.url, priority=1, more="default = true")
        routes += _ROUTE.format(id="mirror", url=agent.url, priority=2, more="passes_tasks = true")
        with machine(tmp_path, agent.url, hubs=2, routes=routes) as run:
            tasks: dict[str, str] = {}
            streams: dict[str, list[Json]] = {}

            def ask(number: int, route: str) -> None:
                asked = f"{route} {number}"
                hub = f"hub-{1 + number % 2}"
                task = run.call(hub, "SendMessage", message(asked, random_hex(), at_once=True))["task"]
                tasks[asked] = task["id"]

            def follow(number: int, route: str) -> None:
                asked = f"{route} stream {number}"
                events = run.events(f"hub-{1 + number % 2}", "SendStreamingMessage", message(asked, random_hex()))
                streams[asked] = []
                for event in events:
                    streams[asked].append(event)

            threads = [
                threading.Thread(target=one, args=(number, route))
                for number in range(_EACH)
                for route in ("agent", "mirror")
                for one in (ask, follow)
            ]
            for thread in threads[: len(threads) // 2]:
                thread.start()
            until(lambda: sum(map(len, streams.values())) >= _EACH)
            restarts = threading.Thread(target=agent.restart, kwargs={"away_seconds": 3.0})
            restarts.start()
            # These begin while it is away.
            for thread in threads[len(threads) // 2 :]:
                thread.start()
            for thread in (restarts, *threads):
                thread.join()
            assert len(tasks) == len(streams) == 2 * _EACH
            for asked, task_id in tasks.items():
                assert text_of(ended(run, task_id)) == answer_to(asked)
            for asked, events in streams.items():
                assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED", (asked, events)
                assert text_of(ended(run, events[0]["task"]["id"])) == answer_to(asked)
            told = [
                event["statusUpdate"]["status"].get("message")
                for event in chain(*streams.values())
                if "statusUpdate" in event
            ]
            assert any("The hub tries again in" in each["parts"][0]["text"] for each in told if each)
