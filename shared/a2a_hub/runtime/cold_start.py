"""A start without garbage collection, of a function that imports this module first and calls `started` last.

All that a start makes stays. Looking through it takes about 35 ms of processor time of the hub's 352 (docs/decisions/speed.md).
"""

import gc

gc.disable()


def started() -> None:
    """Enable garbage collection, and freeze the objects that exist already."""
    gc.freeze()
    gc.enable()
