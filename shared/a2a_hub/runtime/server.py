"""The HTTP server of a function that holds many streams: an event loop, or Flask."""

from collections.abc import Callable
from typing import Any

from a2a_hub.http import asgi_adapter, flask_adapter
from a2a_hub.http.admission import AdmissionControl
from a2a_hub.http.messages import Handler
from a2a_hub.runtime.cold_start import started


def entry_point(name: str, handle: Handler, admission: AdmissionControl, *, on_flask: bool) -> Callable[[Any], Any]:
    """Return the function `name` for Functions Framework, on its event loop or on Flask: its start is complete."""
    started()
    return (
        flask_adapter.entry_point(handle, admission) if on_flask else asgi_adapter.entry_point(name, handle, admission)
    )
