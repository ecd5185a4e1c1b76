"""`hubctl routes`: the route table in a bucket, compared with a file, replaced, and rolled back, while hubs use it."""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from msgspec import Struct, structs

from a2a_hub.http.client import HttpClient
from a2a_hub.routing.bucket_file import BucketFile, BucketRefused
from a2a_hub.routing.parser import unset_variables
from a2a_hub.routing.router import Router
from a2a_hub.routing.routes import RouteTableError
from a2a_hub.settings.reader import Settings, SettingsError
from a2a_hub.telemetry import audit
from hubctl.commands.audit import audited
from hubctl.commands.evaluate import LabelledQuestion, read_labelled
from hubctl.console import counted, write
from hubctl.log_lines import Fields, read_cloud_logging, read_lines
from hubctl.main import CommandError
from hubctl.project_files import project_file, read_text, table_of
from hubctl.registration.api import operators_token

_FILTER = 'jsonPayload.function="hub" AND jsonPayload.route:* AND jsonPayload.text:*'
_QUESTIONS = "evaluation/routing.tsv"
_FIXES = {
    401: "are your credentials valid? gcloud auth application-default login",
    403: "grant yourself the role: gcloud storage buckets add-iam-policy-binding {bucket} "
    '--member="user:$(gcloud config get account)" --role=roles/storage.objectUser',
    404: "is there no table yet? hubctl routes push; no bucket? gcloud storage buckets create {bucket}",
    412: "somebody else has changed it meanwhile: look at hubctl routes diff, and try again",
}


class ReroutedQuestion(Struct, frozen=True, kw_only=True):
    """A question whose route differs between two tables; `expected` is "" for one of the log."""

    line: int
    text: str
    expected: str
    before: str
    after: str


class Change(Struct, frozen=True, kw_only=True):
    """The differences between two tables. `worse` counts the questions that no longer reach their labelled route."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: dict[str, tuple[str, ...]] = {}
    """The keys that differ, by the id of their route."""
    variables: tuple[str, ...] = ()
    """Variables that only the new table needs."""
    questions: int = 0
    moved: tuple[ReroutedQuestion, ...] = ()
    worse: int = 0


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 if no labelled question gets worse, or after a push or a rollback; else 1, with nothing pushed."""
    bucket = _bucket(arguments.bucket or environment.get("ROUTES_FILE", ""), environment)
    try:
        return _carry_out(bucket, arguments, environment, out)
    except BucketRefused as refused:
        fix = _FIXES.get(refused.status or 0, "try again").format(bucket=_bucket_of(bucket))
        raise CommandError(f"{refused.strerror}; {fix}") from None


def _carry_out(bucket: BucketFile, arguments: argparse.Namespace, environment: Mapping[str, str], out: TextIO) -> int:
    live = restores = None
    try:
        live = bucket.read()
    except BucketRefused as absent:
        if absent.status != 404 or arguments.action != "push":
            raise
    old = live.text if live else ""
    if arguments.action == "rollback":
        versions = bucket.before()
        if versions is None:
            keeps = f"gcloud storage buckets update {_bucket_of(bucket)} --versioning"
            raise CommandError(f"no version is before this one; {keeps} keeps them")
        restores = versions[1]
        stored = bucket.read(generation=restores)
        new, name = stored.text if stored else "", f"{bucket.uri}#{restores}"
    else:
        file = arguments.routes or project_file("routes.toml", option="--routes FILE")
        new, name = read_text(file), str(file)
    change = _change(old, new, name, arguments, environment)
    generation, refused = live.generation if live else 0, bool(change.worse and not arguments.force)
    writes = arguments.action == "rollback" or (arguments.action == "push" and new != old and not refused)
    if writes:
        operator = audited(environment)
        generation = bucket.write(new, replaces=generation, restores=restores)
        audit.table_changed(operator, new, action=arguments.action, file=bucket.uri, generation=generation)
    lines = [*_lines(change)]
    if writes:
        lines.append(f"{bucket.uri} is generation {generation} now; hubs follow within ROUTES_SECONDS (300)")
    elif arguments.action == "push":
        lines.append("nothing to push" if new == old else "not pushed: --force pushes it all the same")
    value = {"written": writes, "generation": generation, **structs.asdict(change)}
    return write(value, lines, as_json=arguments.json, out=out, ok=not (refused and not writes))


def _bucket(uri: str, environment: Mapping[str, str]) -> BucketFile:
    settings = Settings(environment)
    endpoint = settings.endpoint("STORAGE_EMULATOR_HOST")
    try:
        settings.check()
        return BucketFile(uri, http=HttpClient(), access_token=operators_token(environment), endpoint=endpoint)
    except SettingsError as problem:
        raise CommandError(str(problem)) from None
    except ValueError as problem:
        raise CommandError(f"which table do hubs use? Name it with --bucket or ROUTES_FILE, and {problem}") from None


def _bucket_of(file: BucketFile) -> str:
    return "/".join(file.uri.split("/")[:3])


def _change(old: str, new: str, name: str, arguments: argparse.Namespace, environment: Mapping[str, str]) -> Change:
    """Return what differs. Raises CommandError if the new table is not valid."""
    try:
        after, _ = table_of(new, name, environment)
    except RouteTableError as error:
        raise CommandError(f"the table has errors:\n{error}") from None
    try:
        before, _ = table_of(old, "the live table", environment)
    except RouteTableError:
        # There is none yet, or no hub can use it.
        return Change(added=tuple(after.by_id), variables=unset_variables(new, {}))
    known = tuple({**before.by_id, **after.by_id})
    file = arguments.questions or project_file(_QUESTIONS, option="--questions FILE")
    questions = [*read_labelled(file, known=known), *_logged(arguments, environment)]
    moved, worse = _moved(questions, Router(before), Router(after))
    both = before.by_id.keys() & after.by_id.keys()
    pairs = {id_: (structs.asdict(before.by_id[id_]), structs.asdict(after.by_id[id_])) for id_ in both}
    return Change(
        added=tuple(id_ for id_ in after.by_id if id_ not in both),
        removed=tuple(id_ for id_ in before.by_id if id_ not in both),
        changed={id_: tuple(key for key in a if a[key] != b[key]) for id_, (a, b) in sorted(pairs.items()) if a != b},
        variables=tuple(sorted({*unset_variables(new, {})} - {*unset_variables(old, {})})),
        questions=len(questions),
        moved=moved,
        worse=worse,
    )


def _logged(arguments: argparse.Namespace, environment: Mapping[str, str]) -> list[LabelledQuestion]:
    """Return the different questions in the log, without labels."""
    lines: Iterable[Fields] = ()
    if arguments.log:
        lines = read_lines(arguments.log)
    elif arguments.since:
        lines = read_cloud_logging(_FILTER, since=arguments.since, project=environment.get("GOOGLE_CLOUD_PROJECT"))
    texts = dict.fromkeys(str(line["text"]) for line in lines if line.get("route") and line.get("text"))
    return [LabelledQuestion(line=number, text=text, expected="") for number, text in enumerate(texts, start=1)]


def _moved(labelled: Sequence[LabelledQuestion], old: Router, new: Router) -> tuple[tuple[ReroutedQuestion, ...], int]:
    moved, worse = [], 0
    for each in labelled:
        before, after = old.choose(each.text), new.choose(each.text)
        worse += before.reaches(each.expected) and not after.reaches(each.expected)
        if before.route.id != after.route.id:
            ids = {"before": before.route.id, "after": after.route.id}
            moved.append(ReroutedQuestion(line=each.line, text=each.text, expected=each.expected, **ids))
    return tuple(moved), worse


def _lines(change: Change) -> Iterator[str]:
    yield from (f"+ {id_}" for id_ in change.added)
    yield from (f"- {id_}" for id_ in change.removed)
    yield from (f"~ {id_}: {', '.join(keys)}" for id_, keys in change.changed.items())
    yield from (f"the hub needs the variable {name}, which it did not need before" for name in change.variables)
    for each in change.moved:
        label = f"labelled {each.expected}" if each.expected else "from the log"
        yield f"{each.line}: {each.before} → {each.after} ({label}): {each.text}"
    moved = f"{len(change.moved)} of {counted(change.questions, 'question')} change their route"
    yield f"{moved}; {change.worse} no longer reach the labelled one"
