"""The SQLite task store alone: task lives a second, how soon a subscriber has an event, and a page of very many tasks."""

import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a_hub.runtime.ids import new_id, random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import NewTask, TaskQuery
from bench.report import Target, at_least, at_most, median_and_range, table
from bench.servers import Settings

_LIVES = 400
_TASKS = 100_000
_PAGE = 50
_PAGES = 100
_EVENTS = 100
_PAUSE_SECONDS = 0.01
_MIN_LIVES = 1_500
_MAX_DELAY_MS = 5.0
_MAX_PAGE_MS = 5.0
_OWNER = "owner"


def run(settings: Settings) -> list[Target]:
    """Print the measurements; return the targets for lives, delay and page."""
    print("\nThe task store (SQLite)")
    with tempfile.TemporaryDirectory(dir=settings.folder) as folder:
        lives = _lives(Path(folder) / "lives.db", rounds=settings.rounds)
        delays = _delays(Path(folder) / "delays.db")
        page = _page(Path(folder) / "pages.db")
    return [
        at_least(f"≥ {_MIN_LIVES} task lives in a second of one processor", lives, _MIN_LIVES, shown="{:.0f}"),
        at_most(
            f"append to subscriber of another process ≤ {_MAX_DELAY_MS:.0f} ms, p50",
            delays,
            _MAX_DELAY_MS,
            shown="{:.1f} ms",
        ),
        at_most(
            f"a page of {_PAGE} out of {_TASKS} tasks ≤ {_MAX_PAGE_MS:.0f} ms, p50",
            page,
            _MAX_PAGE_MS,
            shown="{:.1f} ms",
        ),
    ]


def _opened(file: Path) -> SqliteTaskStore:
    return SqliteTaskStore(file, clock=time.time, new_token=random_hex)


def _lives(file: Path, *, rounds: int) -> float:
    """Return the task lives per second of processor time, the kernel's part included, and per second of the clock."""
    store = _opened(file)
    by_processor, by_clock = [], []
    for _ in range(rounds):
        clock, processor = time.perf_counter(), time.process_time()
        for _ in range(_LIVES):
            _live(store)
        by_processor.append(_LIVES / (time.process_time() - processor))
        by_clock.append(_LIVES / (time.perf_counter() - clock))
    store.close()
    table(
        f"Task lives (create, 3 events, complete), {rounds} rounds of {_LIVES}, one thread",
        ("", "lives/s"),
        [("by processor time", median_and_range(by_processor, 0)), ("by the clock", median_and_range(by_clock, 0))],
    )
    return statistics.median(by_processor)


def _live(store: SqliteTaskStore) -> None:
    task = _task(TaskState.SUBMITTED)
    store.create(NewTask(task=task, owner=_OWNER, payload=b"{}", request_key=task.id))
    events = [_status(task, TaskState.WORKING), _chunk(task, append=False), _chunk(task, append=True)]
    for event in (*events, _status(task, TaskState.COMPLETED)):
        store.append(task.id, [event])


def _delays(file: Path) -> float:
    """Return the median of the milliseconds from before an append of another process until a subscriber has read the event."""
    store, task = _opened(file), _task(TaskState.WORKING)
    store.create(NewTask(task=task, owner=_OWNER))
    writer = multiprocessing.get_context("spawn").Process(target=_write, args=(file, task))
    writer.start()
    delays = _followed(store, task.id)
    writer.join()
    store.close()
    median, tail = statistics.median(delays), statistics.quantiles(delays, n=100)[98]
    print(f"  from the append of another process to a subscriber: p50 {median:.2f} ms, p99 {tail:.2f} ms")
    return median


def _followed(store: SqliteTaskStore, task_id: str) -> list[float]:
    delays: list[float] = []
    after = 1
    while len(delays) < _EVENTS and store.wait(task_id, after=after, timeout_seconds=60):
        for entry in store.entries(task_id, after=after):
            now = time.monotonic()
            assert isinstance(entry.event, TaskStatusUpdateEvent)
            assert entry.event.metadata is not None
            delays.append((now - entry.event.metadata["at"]) * 1_000)
            after = entry.sequence
    return delays


def _write(file: Path, task: Task) -> None:
    store = _opened(file)
    for _ in range(_EVENTS):
        time.sleep(_PAUSE_SECONDS)
        store.append(task.id, [_status(task, TaskState.WORKING, at=time.monotonic())])
    store.close()


def _page(file: Path) -> float:
    """Return the median time of pages from everywhere in the list, in milliseconds, the total count included."""
    store = _opened(file)
    started = time.perf_counter()
    for _ in range(_TASKS - _PAGE * 2):
        store.create(NewTask(task=_task(TaskState.COMPLETED), owner=_OWNER))
    for _ in range(_PAGE * 2):
        _live(store)
    print(f"  {_TASKS} tasks were made in {time.perf_counter() - started:.0f} s")
    rows, medians = [], []
    for name, query in (
        ("all", TaskQuery()),
        ("completed ones", TaskQuery(states=(TaskState.COMPLETED,))),
        ("of one context", TaskQuery(context_id="context-1")),
    ):
        durations, position = [], None
        for _ in range(_PAGES):
            start = time.perf_counter()
            page = store.list(_OWNER, query, size=_PAGE, after=position)
            durations.append((time.perf_counter() - start) * 1_000)
            position = page.next
        medians.append(statistics.median(durations))
        tail = statistics.quantiles(durations, n=100)[98]
        rows.append((name, str(page.total), f"{medians[-1]:.2f}", f"{tail:.2f}"))
    store.close()
    table(f"A page of {_PAGE}, with the total", ("tasks", "total", "p50 ms", "p99 ms"), rows)
    return medians[0]


def _task(state: TaskState) -> Task:
    id_ = new_id()
    message = Message(message_id=id_, role=Role.USER, parts=(Part(text="How many days of leave do I have?"),))
    done = (Artifact(artifact_id="answer", parts=(Part(text="Twenty. " * 20),)),) if state.terminal else ()
    # Ten contexts, so that one of them has thousands of tasks.
    context_id = f"context-{int(id_[0], 16) % 10}"
    return Task(id=id_, context_id=context_id, status=TaskStatus(state=state), history=(message,), artifacts=done)


def _status(task: Task, state: TaskState, *, at: float = 0.0) -> Event:
    assert task.context_id is not None
    return TaskStatusUpdateEvent(
        task_id=task.id, context_id=task.context_id, status=TaskStatus(state=state), metadata={"at": at}
    )


def _chunk(task: Task, *, append: bool) -> Event:
    assert task.context_id is not None
    artifact = Artifact(artifact_id="answer", parts=(Part(text="Twenty. " * 10),))
    return TaskArtifactUpdateEvent(task_id=task.id, context_id=task.context_id, artifact=artifact, append=append)
