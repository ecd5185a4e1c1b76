"""Faults of a stand-in, switched on and off by name over HTTP.

`GET /__faults` lists them, `POST /__faults/NAME` switches one on, its body a JSON object of parameters where it has any
(`{"seconds": 5}`), `DELETE /__faults/NAME` switches it off, `DELETE /__faults` all of them.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.program import json_response

PATH = "/__faults"
LATENCY = "latency"
LATENCY_HELP = "every answer comes `seconds` (5) late"
_LATENCY_SECONDS = 5.0
_LONGEST_BODY = 65_536


class Faults:
    """The faults that a stand-in knows, each with a sentence on what it does, and which of them are on. Thread-safe.

    `changed` gets the name and the parameters, None when the fault went off, before the change is answered.
    """

    def __init__(
        self,
        known: Mapping[str, str],
        *,
        changed: Callable[[str, Mapping[str, Any] | None], None] = lambda _name, _parameters: None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._known = dict(known)
        self._sleep = sleep
        self._changed = changed
        self._lock = threading.Lock()
        self._on: dict[str, dict[str, Any]] = {}

    def __contains__(self, name: str) -> bool:
        return self.parameters(name) is not None

    def parameters(self, name: str) -> Mapping[str, Any] | None:
        """Return the parameters of a fault; None while it is off. Raises KeyError for an unknown one."""
        if name not in self._known:
            raise KeyError(name)
        with self._lock:
            return self._on.get(name)

    def wait(self) -> None:
        """Wait for the time of the fault `latency`, while it is on."""
        parameters = self.parameters(LATENCY)
        if parameters is not None:
            self._sleep(float(parameters.get("seconds", _LATENCY_SECONDS)))

    def switch_on(self, name: str, **parameters: Any) -> None:
        """Switch the fault on. Raises KeyError for an unknown one."""
        if name not in self._known:
            raise KeyError(name)
        with self._lock:
            self._on[name] = parameters
        self._changed(name, parameters)

    def switch_off(self, name: str) -> None:
        """Switch the fault off."""
        with self._lock:
            was_on = self._on.pop(name, None) is not None
        if was_on:
            self._changed(name, None)

    def handle(self, request: Request) -> Response | None:
        """Answer a request about faults; None for any other."""
        if request.path != PATH and not request.path.startswith(f"{PATH}/"):
            return None
        name = request.path.removeprefix(PATH).strip("/")
        if name and name not in self._known:
            return json_response({"error": f"no fault {name!r}", "known": self._known}, status=404)
        match (request.method, name):
            case ("GET", ""):
                with self._lock:
                    return json_response({"known": self._known, "on": dict(self._on)})
            case ("DELETE", ""):
                for each in self._known:
                    self.switch_off(each)
            case ("DELETE", _):
                self.switch_off(name)
            case ("POST", str()) if name:
                try:
                    parameters = json.loads(request.read_body(_LONGEST_BODY) or b"{}")
                except ValueError:
                    parameters = None
                if not isinstance(parameters, dict):
                    return json_response({"error": "the body has to be a JSON object"}, status=400)
                self.switch_on(name, **parameters)
            case _:
                return json_response({"error": "use GET, POST or DELETE"}, status=405)
        return Response(status=204)
