"""The entry point of the expense agent: `functions-framework --target=expense`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.loading import entry_point

if TYPE_CHECKING:
    from shared.http.messages import Handler


def _expense() -> Handler:
    from functions.expense.app import build
    from shared.agents import settings

    return build(settings.read(os.environ))


expense = entry_point(_expense)
