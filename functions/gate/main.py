"""The entry point of the gate: `functions-framework --target=gate`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _gate() -> Handler:
    from functions.gate import config
    from functions.gate.app import build

    return build(config.read(os.environ))


gate = entry_point(_gate)
