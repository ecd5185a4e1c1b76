"""Follow the logs of tasks written by any process, with one watch of the store for all readers of this process."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from a2a_hub.a2a.model import Event
from a2a_hub.task_store.store import Entry, Unavailable

_OUTAGE_POLL_SECONDS = 1.0
_FIRST_SILENCE_SECONDS = 1.0
_SILENCE_SECONDS = 30.0
_MAX_BUFFERED_BYTES = 256_000
_MAX_TAKEN = 200
Sized = tuple[Entry, int]
"""An entry and its size in bytes."""


class Source(Protocol):
    """The reports of new entries, those of other processes as well, to `LogWatch.advance`."""

    def start(self, watch: "LogWatch") -> None:
        """Report to this watch; called before everything else."""

    def add(self, task_id: str, *, after: int) -> None:
        """Report on this task from now on, first of all its version."""

    def remove(self, task_id: str) -> None:
        """Stop reporting on this task."""

    def close(self) -> None:
        """End the threads."""


class _Log:
    """A followed log: the number of its newest entry, and the entries that not every reader has taken."""

    def __init__(self) -> None:
        self.version = 0
        self.gone = False
        self.heard_at = time.monotonic()
        self.is_checked = False
        self.readers: list[Reader] = []
        self.reading = threading.Lock()
        self._entries: dict[int, Sized] = {}
        self._bytes = 0

    def put(self, entries: Iterable[Sized]) -> None:
        """Buffer entries that some reader has not taken; what does not fit is read from the store."""
        first = self._least_position() + 1
        for entry, size in entries:
            fits = self._bytes + size <= _MAX_BUFFERED_BYTES
            if fits and entry.sequence >= first and entry.sequence not in self._entries:
                self._entries[entry.sequence] = entry, size
                self._bytes += size

    def after(self, position: int) -> list[Entry]:
        """Return the buffered entries that follow `position` without a gap."""
        found: list[Entry] = []
        while len(found) < _MAX_TAKEN and (sized := self._entries.get(position + len(found) + 1)):
            found.append(sized[0])
        return found

    def drop_taken(self) -> None:
        """Drop the entries that every reader has taken."""
        least = self._least_position()
        for sequence in [each for each in self._entries if each <= least]:
            self._bytes -= self._entries.pop(sequence)[1]

    def _least_position(self) -> int:
        return min((reader.position for reader in self.readers), default=self.version)


@dataclass(eq=False)
class Reader:
    """A reader of a task's log, whichever process writes it. All readers of a task in a process share one read of the store."""

    watch: "LogWatch"
    task_id: str
    log: _Log
    position: int
    wake: Callable[[], None]
    waits: bool = True

    @property
    def gone(self) -> bool:
        """True if the task does not exist, or no longer."""
        return self.log.gone

    def take(self) -> list[Entry]:
        """Return the next entries, in order and at most a few hundred kilobytes; [] if there are none yet, or during an outage.

        Never waits for an entry, but may read the store once.
        """
        return self.watch.take(self)

    def close(self) -> None:
        """Stop following; idempotent."""
        self.watch.leave(self)


class LogWatch:
    """The readers of this process. Its writers report their entries at once, and a source those of other processes."""

    def __init__(
        self,
        source: Source,
        read: Callable[[str, int], Sequence[Sized]],
        *,
        silence_seconds: float = _SILENCE_SECONDS,
    ) -> None:
        """`read` returns some entries of a task after a sequence number. Raises Unavailable.

        A log of which the source has said nothing for `silence_seconds` is read, the first time after a second: reports may
        get lost on the way, and Firestore's emulator loses those of entries that come while it begins to listen.
        """
        self._silence_seconds = silence_seconds
        self._source = source
        self._read = read
        self._lock = threading.Lock()
        self._logs: dict[str, _Log] = {}
        self._retry: threading.Timer | None = None
        source.start(self)

    def follow(self, task_id: str, *, after: int, wake: Callable[[], None]) -> Reader:
        """Return a reader of the entries after `after`."""
        with self._lock:
            new = task_id not in self._logs
            log = self._logs.setdefault(task_id, _Log())
            reader = Reader(self, task_id, log, after, wake)
            log.readers.append(reader)
            if new:
                self._source.add(task_id, after=after)
        return reader

    def leave(self, reader: Reader) -> None:
        """Forget a reader."""
        with self._lock:
            if reader not in reader.log.readers:
                return
            reader.log.readers.remove(reader)
            reader.log.drop_taken()
            if not reader.log.readers:
                del self._logs[reader.task_id]
                self._source.remove(reader.task_id)

    def take(self, reader: Reader) -> list[Entry]:
        """Return the reader's next entries, from the buffer, or else from the store."""
        log = reader.log
        found, behind = self._buffered(reader)
        while behind:
            # One of the readers reads for all.
            with log.reading:
                found, behind = self._buffered(reader)
                if not behind:
                    break
                version, log.heard_at, log.is_checked = log.version, time.monotonic(), True
                try:
                    entries = self._read(reader.task_id, reader.position)
                except Unavailable:
                    self._wake_later()
                    return []
                with self._lock:
                    if len(log.readers) > 1:
                        log.put(entries)
                    found = [entry for entry, _ in entries]
                    reader.position += len(found)
                    log.version = max(log.version, reader.position)
                    # Without entries up to the version, the task has been deleted.
                    behind = not found and log.version > version
                    reader.waits = not found
        if found and len(log.readers) > 1:
            self._wake(reader.task_id)
        return found

    def version(self, task_id: str) -> int:
        """Return the number of the newest entry that this process knows of, or 0."""
        log = self._logs.get(task_id)
        return log.version if log else 0

    def add_written(self, task_id: str, after: int, events: Sequence[Event], bodies: Sequence[bytes]) -> None:
        """Record the events that this process has appended after the sequence number `after`."""
        if task_id in self._logs:
            numbered = enumerate(zip(events, bodies, strict=True), start=after + 1)
            entries = [(Entry(sequence, event), len(body)) for sequence, (event, body) in numbered]
            self.advance(task_id, after + len(events), entries)

    def advance(self, task_id: str, version: int, entries: Iterable[Sized] = ()) -> None:
        """Record the version (0 for an unknown task) and the given entries, and wake the readers."""
        with self._lock:
            log = self._logs.get(task_id)
            if log is None:
                return
            log.gone, log.heard_at = version == 0, time.monotonic()
            log.version = max(log.version, version)
            log.put(entries)
        self._wake(task_id)

    def wait(self, task_id: str, *, after: int, timeout_seconds: float) -> bool:
        """Wait for an entry after `after`; return False on a timeout."""
        with contextlib.suppress(Unavailable):
            if self._read(task_id, after):
                return True
        deadline = time.monotonic() + timeout_seconds
        changed = threading.Event()
        reader = self.follow(task_id, after=after, wake=changed.set)
        try:
            while (left := deadline - time.monotonic()) > 0:
                changed.wait(min(left, _FIRST_SILENCE_SECONDS))
                changed.clear()
                if self.take(reader):
                    return True
            return False
        finally:
            reader.close()

    def close(self) -> None:
        """End the threads; waits end by their timeouts."""
        self._source.close()
        if self._retry:
            self._retry.cancel()

    def _buffered(self, reader: Reader) -> tuple[list[Entry], bool]:
        """Return the next entries of the buffer, and True if there are none although the log has some."""
        with self._lock:
            log = reader.log
            found = log.after(reader.position)
            reader.position += len(found)
            if found:
                log.drop_taken()
            reader.waits = not found
            max_seconds = (
                self._silence_seconds if log.is_checked else min(_FIRST_SILENCE_SECONDS, self._silence_seconds)
            )
            is_silent = time.monotonic() - log.heard_at >= max_seconds
            return found, not found and (log.version > reader.position or is_silent)

    def _wake(self, *task_ids: str) -> None:
        with self._lock:
            logs = [self._logs[task_id] for task_id in task_ids or self._logs if task_id in self._logs]
            readers = [reader for log in logs for reader in log.readers if reader.waits]
            waking = [reader for reader in readers if reader.gone or reader.log.version > reader.position]
            for reader in waking:
                reader.waits = False
        for reader in waking:
            reader.wake()

    def _wake_later(self) -> None:
        """Wake the readers that an outage has kept from reading."""
        with self._lock:
            if self._retry is None or self._retry.finished.is_set():
                retry = threading.Timer(_OUTAGE_POLL_SECONDS, self._wake)
                retry.daemon = True
                retry.start()
                self._retry = retry
