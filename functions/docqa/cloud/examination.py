"""The doctor's examination of search and storage, with the agent's own credentials."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from a2a_hub.diagnosis import report
from a2a_hub.diagnosis.gcloud import more_quota
from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.failure import Cause, Failure, Step, remedy
from functions.docqa.cloud.search import Chunk, DiscoverySearch
from functions.docqa.cloud.sources import Sources

_SECONDS = 12.0
# Words that occur in almost any company's documents.
_PROBES = ("policy", "規程", "document", "文書")


def examine(
    config: CloudConfig,
    *,
    clients: Clients,
    search: DiscoverySearch,
    sources: Sources,
    clock: Callable[[], float],
) -> Iterator[report.Step]:
    """Yield the doctor's steps; failures come with the command that fixes them."""
    if config.as_user:
        yield report.skipped("search", "each search runs with the asker's own token: ask a question")
        return
    started = clock()
    try:
        found = _found(search, started + _SECONDS)
    except Failure as failure:
        yield _failed(failure, config, clients)
        yield report.skipped("source", "without a search there is nothing to read")
        return
    account = clients.account or "the credentials of this machine"
    if not found:
        yield report.error(
            "search",
            f"{account} may search, and the data store gives nothing for {', '.join(_PROBES)}: is it empty?",
            fix="import documents",
            command="hubctl corpus push FOLDER",
        )
        return
    said = f"{account} may search; {len({chunk.uri for chunk in found})} documents found"
    yield report.in_time("search", said, seconds=clock() - started, fix=_slow("discoveryengine"))
    uri = next((chunk.uri for chunk in found if chunk.uri.startswith("gs://")), None)
    if uri is None:
        yield report.skipped("source", "the documents found are not in Cloud Storage: their chunks are the evidence")
        return
    asked = clock()
    source = sources.look_up({uri: None}, deadline=started + _SECONDS)[uri]
    if isinstance(source, Failure):
        yield _failed(source, config, clients)
        return
    said = f"{uri} can be read, generation {source.generation}"
    yield report.in_time("source", said, seconds=clock() - asked, fix=_slow("storage"))


def _found(search: DiscoverySearch, deadline: float) -> tuple[Chunk, ...]:
    for probe in _PROBES:
        if found := search.find(probe, deadline=deadline):
            return found
    return ()


def _slow(service: str) -> str:
    return (
        f"ask again; where it stays slow, status.cloud.google.com tells of disruptions of {service}.googleapis.com, and a "
        "location near the function's is faster"
    )


def _failed(failure: Failure, config: CloudConfig, clients: Clients) -> report.Step:
    act = "searching" if failure.step is Step.SEARCH else "reading"
    message = f"{clients.account or 'the agent'}, {act} {failure.resource}: {failure.cause.replace('_', ' ')}"
    if failure.detail:
        message += f" ({failure.detail})"
    if failure.cause is Cause.QUOTA and failure.step is Step.SEARCH:
        fix = "wait a minute; where it comes again, ask for a larger quota"
        command = more_quota("discoveryengine.googleapis.com", config.project, of="Search")
        return report.error(failure.step, message, fix=fix, command=command)
    return report.failed(failure.step, message, remedy=remedy(failure, config, account=clients.account))
