"""Hypothesis strategies for every type of the model and the card, made from the types themselves."""

import base64
import re
import types
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from a2a_hub.a2a import card, model

S = TypeVar("S", bound=msgspec.Struct)

TEXTS = st.text(max_size=12)
_NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False, width=32)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON_VALUES, max_size=3)
# Content that is base64 itself does not come back from 0.3's HTTP+JSON: see LOST in test_round_trips.py.
BASE64 = (
    st.binary(max_size=12)
    .filter(lambda data: not re.fullmatch(rb"[A-Za-z0-9+/]+={0,2}", data))
    .map(lambda data: base64.b64encode(data).decode())
)
TIMESTAMPS = st.integers(0, 32_472_144_000_000).map(
    lambda milliseconds: (
        datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
)
_SPECIAL: dict[tuple[type, str], st.SearchStrategy[Any]] = {
    (model.Part, "raw"): BASE64,
    (model.TaskStatus, "timestamp"): TIMESTAMPS,
    (model.ListTasksRequest, "status_timestamp_after"): TIMESTAMPS,
    (card.APIKeySecurityScheme, "location"): st.sampled_from(["query", "header", "cookie"]),
    (model.SendMessageConfiguration, "history_length"): st.none() | st.integers(0, 2**31 - 1),
}
_ONE_OF: dict[type, tuple[str, ...]] = {
    model.Part: ("text", "raw", "url", "data"),
    model.StreamResponse: ("task", "message", "status_update", "artifact_update"),
    model.SendMessageResponse: ("task", "message"),
    card.SecurityScheme: tuple(msgspec.structs.fields(card.SecurityScheme)[i].name for i in range(5)),
    card.OAuthFlows: tuple(msgspec.structs.fields(card.OAuthFlows)[i].name for i in range(5)),
}


@cache
def values(type_: type[S]) -> st.SearchStrategy[S]:
    """Valid values of a type, every optional member absent at times."""
    hints = get_type_hints(type_)
    one_of = _ONE_OF.get(type_, ())
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for field in msgspec.structs.fields(type_):
        if field.name not in one_of:
            strategy = _field(type_, field.name, hints[field.name])
            (required if field.required else optional)[field.name] = strategy
    others = st.fixed_dictionaries(required, optional=optional)
    if not one_of:
        return others.map(lambda given: type_(**given))
    members = [_named(name, _field(type_, name, hints[name])) for name in one_of]
    return st.builds(lambda given, one: type_(**given, **one), others, st.one_of(members))


def _named(name: str, strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return strategy.map(lambda value: {name: value})


def _field(type_: type, name: str, hint: Any) -> st.SearchStrategy[Any]:
    special = _SPECIAL.get((type_, name))
    return _strategy(hint) if special is None else special


def _strategy(hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (given,) = (each for each in arguments if each not in (type(None), msgspec.UnsetType))
        return _strategy(given)
    if hint is Any:
        return JSON_VALUES
    if origin is tuple:
        return st.lists(_strategy(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return OBJECTS if arguments[1] is Any else st.dictionaries(TEXTS, _strategy(arguments[1]), max_size=2)
    if issubclass(hint, msgspec.Struct):
        return st.deferred(lambda: values(hint))
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    return {str: TEXTS, int: st.integers(-(2**31), 2**31 - 1), bool: st.booleans()}[hint]
