"""Makes bucket and data store agree with a folder, in steps that may be interrupted: what is done is not done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from hubctl.corpus.comparison import Plan, StoredObject
from hubctl.corpus.files import LocalFile
from hubctl.corpus.google import Corpus

_AT_ONCE = 8
_IN_ONE_IMPORT = 100
_FIRST_POLL_SECONDS, _POLL_SECONDS = 0.1, 3.0

Say = Callable[[str], None]


def push(
    corpus: Corpus,
    planned: Plan,
    objects: Sequence[StoredObject],
    *,
    prune: bool,
    say: Say,
    sleep: Callable[[float], object],
) -> int:
    """How many documents could not be indexed. Raises CommandError."""
    generations = {each.path: each.generation for each in objects}
    _upload(corpus, planned.upload, generations, say)
    failed = 0
    for start in range(0, len(planned.index), _IN_ONE_IMPORT):
        batch = planned.index[start : start + _IN_ONE_IMPORT]
        failed += _import(corpus, batch, done=start, total=len(planned.index), say=say, sleep=sleep)
    if prune:
        # The document before its object: no search may return what can no longer be read.
        for document in planned.surplus_documents:
            corpus.delete_document(document)
            say(f"removed from the data store: {document.uri}")
        for each in planned.surplus_objects:
            corpus.delete_object(each)
            say(f"removed from the bucket: {each.path}")
    return failed


def _upload(corpus: Corpus, files: Sequence[LocalFile], generations: dict[str, int], say: Say) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        running = {
            threads.submit(corpus.upload, file, replaces=generations.get(file.path, 0)): file
            for file in files
        }
        try:
            for number, future in enumerate(as_completed(running), start=1):
                future.result()
                say(f"uploaded {number}/{len(files)}: {running[future].path}")
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def _import(
    corpus: Corpus,
    batch: Sequence[LocalFile],
    *,
    done: int,
    total: int,
    say: Say,
    sleep: Callable[[float], object],
) -> int:
    operation = corpus.start_import(batch)
    told, pause_seconds = -1, _FIRST_POLL_SECONDS
    while True:
        progress = corpus.imported(operation)
        finished = progress.succeeded + progress.failed
        if finished != told:
            told = finished
            say(f"imported {done + progress.succeeded}/{total}")
        if progress.done:
            break
        sleep(pause_seconds)
        pause_seconds = min(_POLL_SECONDS, pause_seconds * 2)
    for error in progress.errors:
        say(f"not imported: {error}")
    return progress.failed or len(progress.errors)
