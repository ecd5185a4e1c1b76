"""The entry point of the expense agent: `functions-framework --target=expense`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _expense() -> Handler:
    from a2a_hub.agents import settings
    from functions.expense.app import build

    return build(settings.read(os.environ))


expense = entry_point(_expense)
