"""`hubctl corpus`: the documents that docqa searches and reads on Google Cloud, pushed from a folder, or compared."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, TextIO

from hubctl.console import counted, write
from hubctl.corpus.documents import (
    LocalFile,
    Plan,
    State,
    StoredObject,
    Target,
    local_files,
    plan,
    standings,
    target_from,
)
from hubctl.main import CommandError

if TYPE_CHECKING:
    from hubctl.corpus.google import Corpus

_OPTIONS = ("project", "location", "data_store", "bucket", "prefix")
_NEEDS = "Google's client libraries are missing: pip install 'a2a-hub[corpus]', or, in a clone, make install and .venv/bin/hubctl"
_AT_ONCE = 8
_IN_ONE_IMPORT = 100
_FIRST_POLL_SECONDS, _POLL_SECONDS = 0.1, 3.0
ReportLine = Callable[[str], object]


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 if folder, bucket and data store agree; 1 if they do not, or if a document could not be indexed. Raises
    CommandError.
    """
    target = target_from({name: getattr(arguments, name) for name in _OPTIONS}, environment)
    if arguments.action == "push" and arguments.folder is None:
        raise CommandError("which folder? hubctl corpus push FOLDER")
    try:
        from hubctl.corpus.google import Corpus
    except ImportError:
        raise CommandError(_NEEDS) from None
    with closing(Corpus(target, environment=environment)) as corpus:
        return (_push if arguments.action == "push" else _status)(corpus, target, arguments, out)


def _push(corpus: Corpus, target: Target, arguments: argparse.Namespace, out: TextIO) -> int:
    files, skipped = local_files(arguments.folder)
    report_line = partial(print, file=sys.stderr if arguments.json else out, flush=True)
    for each in skipped:
        report_line(f"skipped: {each.path}: {each.reason}")
    objects, has_store = corpus.objects(), corpus.has_store()
    if not has_store:
        report_line(f"{'would make' if arguments.dry_run else 'making'} the data store {target.data_store}")
    if not has_store and not arguments.dry_run:
        _make_store(corpus, report_line)
    documents = corpus.documents() if has_store else []
    planned = plan(target, files, objects, documents)
    unchanged = len(files) - len({*planned.upload, *planned.index})
    report_line(f"{counted(len(files), 'document')}, {unchanged} unchanged")
    value = {"documents": len(files), "unchanged": unchanged, "dryRun": arguments.dry_run}
    value |= {"upload": [each.path for each in planned.upload], "import": [each.path for each in planned.index]}
    if arguments.dry_run:
        return write(value, _plan_lines(planned, prune=arguments.prune), as_json=arguments.json, out=out)
    failed = push(corpus, planned, objects, prune=arguments.prune, report_line=report_line)
    surplus = {target.uri(each.path) for each in planned.surplus_objects}
    surplus |= {each.uri for each in planned.surplus_documents}
    surplus = set() if arguments.prune else surplus
    if surplus:
        report_line(f"{len(surplus)} more in {target.uri('')}: --prune removes what is not in the folder")
    left = sorted(surplus.intersection(target.uri(each.path) for each in skipped))
    for uri in left:
        report_line(f"skipped, but an earlier push has made it searchable: {uri}")
    if failed:
        report_line(f"{failed} could not be indexed")
    value |= {"ok": not (failed or left), "failed": failed, "surplus": sorted(surplus)}
    return write(value, (), as_json=arguments.json, out=out, ok=not (failed or left))


def _make_store(corpus: Corpus, report_line: ReportLine) -> None:
    """Make the data store, and return when it is there."""
    operation, started = corpus.start_store(), time.monotonic()
    for pause_seconds in _pauses():
        if corpus.is_store_made(operation):
            break
        time.sleep(pause_seconds)
        if (waited_seconds := time.monotonic() - started) > _POLL_SECONDS:
            report_line(f"still making the data store, {waited_seconds:.0f} s")
    report_line("made the data store, with the layout parser and chunks")


def _plan_lines(planned: Plan, *, prune: bool) -> Iterator[str]:
    yield from (f"would upload: {file.path}" for file in planned.upload)
    yield from (f"would import: {file.path}" for file in planned.index)
    if prune:
        yield from (f"would remove from the data store: {each.uri}" for each in planned.surplus_documents)
        yield from (f"would remove from the bucket: {each.path}" for each in planned.surplus_objects)


def _status(corpus: Corpus, target: Target, arguments: argparse.Namespace, out: TextIO) -> int:
    files = local_files(arguments.folder)[0] if arguments.folder else None
    found = standings(target, files, corpus.objects(), corpus.documents())
    agrees = bool(found) and all(each.state is State.OK for each in found)
    lines = [f"bucket      {target.uri('')}", f"data store  {target.store}"]
    lines += [
        f"{each.state}: {each.uri}{': ' + each.detail if each.detail else ''}"
        for each in found
        if each.state is not State.OK
    ]
    counts = Counter(each.state for each in found)
    lines.append(", ".join(f"{number} {state}" for state, number in counts.items()) or "no documents")
    if not agrees:
        lines.append("fix it with: hubctl corpus push FOLDER (--prune removes what is not in the folder)")
    value = {"ok": agrees, "bucket": target.bucket, "dataStore": target.store, "documents": found}
    return write(value, lines, as_json=arguments.json, out=out, ok=agrees)


def push(
    corpus: Corpus, planned: Plan, objects: Sequence[StoredObject], *, prune: bool, report_line: ReportLine
) -> int:
    """Carry out the plan and return the number of documents that could not be indexed. Raises CommandError."""
    generations = {each.path: each.generation for each in objects}
    _upload(corpus, planned.upload, generations, report_line)
    failed = 0
    for start in range(0, len(planned.index), _IN_ONE_IMPORT):
        batch, total = planned.index[start : start + _IN_ONE_IMPORT], len(planned.index)
        failed += _import_batch(corpus, batch, done=start, total=total, report_line=report_line)
    if prune:
        # The document before its object: no search may return what can no longer be read.
        for document in planned.surplus_documents:
            corpus.delete_document(document)
            report_line(f"removed from the data store: {document.uri}")
        for each in planned.surplus_objects:
            corpus.delete_object(each)
            report_line(f"removed from the bucket: {each.path}")
    return failed


def _upload(corpus: Corpus, files: Sequence[LocalFile], generations: dict[str, int], report_line: ReportLine) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        running = {threads.submit(corpus.upload, file, replaces=generations.get(file.path, 0)): file for file in files}
        try:
            for number, future in enumerate(as_completed(running), start=1):
                future.result()
                report_line(f"uploaded {number}/{len(files)}: {running[future].path}")
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def _import_batch(corpus: Corpus, batch: Sequence[LocalFile], *, done: int, total: int, report_line: ReportLine) -> int:
    operation = corpus.start_import(batch)
    reported = -1
    for pause_seconds in _pauses():
        progress = corpus.imported(operation)
        finished = progress.succeeded + progress.failed
        if finished != reported:
            reported = finished
            report_line(f"imported {done + progress.succeeded}/{total}")
        if progress.done:
            break
        time.sleep(pause_seconds)
    for error in progress.errors:
        report_line(f"not imported: {error}")
    return progress.failed or len(progress.errors)


def _pauses() -> Iterator[float]:
    """Yield the seconds to wait between one look at an operation and the next."""
    for doubled in count():
        yield min(_POLL_SECONDS, _FIRST_POLL_SECONDS * 2**doubled)
