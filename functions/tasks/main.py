"""The entry point of the tasks function: `functions-framework --target=tasks`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _tasks() -> Handler:
    from functions.tasks import config
    from functions.tasks.app import build

    return build(config.read(os.environ))


tasks = entry_point(_tasks)
