"""What stored tasks need of Google Cloud: a database with its indexes, and topics. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from deploy.config import Config, FunctionConfig

_DEFAULT_DATABASE = "(default)"
_HUB_TOPIC = "tasks"


def database(config: Config) -> str:
    """The Firestore database of the hub; empty where it has none."""
    return _database(config.functions["hub"].environment)


def databases(functions: Iterable[FunctionConfig]) -> Mapping[str, str]:
    """The Firestore databases that are made, by the function that keeps its tasks there."""
    found = {
        each.function.name: _database({**each.function.settings, **each.environment}) for each in functions
    }
    return {name: database for name, database in found.items() if database}


def _database(variables: Mapping[str, str]) -> str:
    kind, _, name = variables.get("TASK_STORE", "").partition(":")
    return (name or _DEFAULT_DATABASE) if kind == "firestore" else ""


def topics(config: Config, roles: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The topics that the hub publishes wake-ups to, one a role, and the workers that may hear them; see shared/a2a_hub/queue."""
    kind, _, prefix = config.functions["hub"].environment.get("WAKEUPS", "").partition(":")
    if kind != "pubsub" or not database(config):
        return {}
    workers = config.functions["tasks"].workers
    of_roles = {f"{_HUB_TOPIC}-{quote(role, safe='-_.~')}": workers.get(role, ()) for role in roles}
    return {prefix + topic: accounts for topic, accounts in ({_HUB_TOPIC: ()} | of_roles).items()}


def missing_indexes(wanted: Mapping[str, Any], there: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The flags of each composite index of firestore.indexes.json that is not `there`, as the API lists them."""
    known = {_shape(_collection(index["name"]), index) for index in there}
    for index in wanted["indexes"]:
        collection, scope, fields = shape = _shape(index["collectionGroup"], index)
        if shape not in known:
            configs = (f"--field-config=field-path={path},order={order.lower()}" for path, order in fields)
            scope_word = scope.lower().replace("_", "-")
            yield f"--collection-group={collection} --query-scope={scope_word} {' '.join(configs)}"


def missing_fields(wanted: Mapping[str, Any], there: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each field of firestore.indexes.json that is to have no index and has one: its name, and the flag of its collection."""
    known = {
        (_collection(field["name"]), field["name"].rpartition("/")[2])
        for field in there
        if not field.get("indexConfig", {}).get("indexes")
    }
    for field in wanted["fieldOverrides"]:
        assert not field["indexes"], "a field's own indexes have other flags"
        if (field["collectionGroup"], field["fieldPath"]) not in known:
            yield f"{field['fieldPath']} --collection-group={field['collectionGroup']}"


def _shape(collection: str, index: Mapping[str, Any]) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    # Firestore adds the document's name to every index.
    fields = tuple(
        (field["fieldPath"], field["order"]) for field in index["fields"] if field["fieldPath"] != "__name__"
    )
    return collection, index["queryScope"], fields


def _collection(name: str) -> str:
    return name.partition("/collectionGroups/")[2].partition("/")[0]
