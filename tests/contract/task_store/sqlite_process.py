"""A process of a test: `python -m tests.contract.task_store.sqlite_process FILE run|grow TASK`."""

import sys
import time
from pathlib import Path

from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB, StoreError
from tests.contract.task_store.stores import chunk, status


def main() -> None:
    file, payload, task_id = sys.argv[1:]
    store = SqliteTaskStore(Path(file), clock=time.time, new_token=random_hex)
    say("ready")
    sys.stdin.readline()
    if payload == "run":
        run_all(store)
    else:
        grow(store, task_id)
    store.close()


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def run_all(store: SqliteTaskStore) -> None:
    """Leases tasks and completes them until there are none; says which."""
    while lease := store.lease("process", seconds=60, roles=[HUB]):
        id_ = lease.stored.task.id
        store.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token)
        store.append(id_, [status(id_, TaskState.COMPLETED)], lease=lease.token)
        say(id_)


def grow(store: SqliteTaskStore, task_id: str) -> None:
    """Appends to the task whenever it has seen the last entry; says which versions it made."""
    made = 0
    while made < 10:
        stored = store.get(task_id, owner=None)
        assert stored
        try:
            grown = store.append(task_id, [chunk(task_id, "x")], expected_version=stored.version)
        except StoreError:
            continue
        made += 1
        say(grown.version)


if __name__ == "__main__":
    main()
