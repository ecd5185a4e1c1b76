"""Rules on a card's form: names, required fields and types (A2A 0.3.0's JSON schema)."""

import re
from collections.abc import Iterator, Mapping

from a2a_hub.card_rules.card import V0_3, Card, Flaw, Missing, Unknown, WrongType, flaw

_SNAKE = re.compile(r"_+([a-z0-9])")
_PLACEHOLDERS: Mapping[str, str] = V0_3["placeholders"]
_ONLY_IN_1_0: Mapping[str, str] = V0_3["only_in_1_0"]
_OF_OTHER_RULES = {*_ONLY_IN_1_0, "supportedInterfaces", "schema_version", "schemaVersion"}
_EXTENSION = re.compile(r"\$\.capabilities\.extensions(\[\d+\])?")


def camel_case(card: Card) -> Iterator[Flaw]:
    """Check that names are camelCase; no client reads a snake_case one."""
    for item in card.unknown:
        if _is_snake(item.name):
            meant = _camel(item.name)
            name = "snake_case_twin" if meant in item.names else "snake_case"
            yield flaw(name, f"{item.path}.{item.name}", field=item.name, meant=meant)


def required(card: Card) -> Iterator[Flaw]:
    """Check that the fields that the schema requires are there. `tags` and `protocolVersion` have rules of their own."""
    for item in card.missing:
        if item.name in ("tags", "protocolVersion"):
            continue
        if item.definition == "SecurityScheme" and not _ONLY_IN_1_0.keys().isdisjoint(_at(card, item.path)):
            continue
        if not _has_twin(card, item) and not _EXTENSION.fullmatch(item.path):
            placeholder = _PLACEHOLDERS.get(item.name, "…")
            yield flaw("required", f"{item.path}.{item.name}", field=item.name, placeholder=placeholder)


def tags(card: Card) -> Iterator[Flaw]:
    """Check that every skill has tags; an empty list is enough."""
    for item in card.missing:
        if item.name == "tags":
            yield flaw("tags", f"{item.path}.tags")


def protocol_version(card: Card) -> Iterator[Flaw]:
    """Check that there is a protocolVersion."""
    for item in card.missing:
        if item.name == "protocolVersion" and not _has_twin(card, item):
            yield flaw("protocol_version", "$.protocolVersion")


def non_standard(card: Card) -> Iterator[Flaw]:
    """Check that the card has no fields outside the specification."""
    for item in card.unknown:
        if not _is_snake(item.name) and item.name not in _OF_OTHER_RULES:
            name = "endpoints" if item.name == "endpoints" else "non_standard"
            yield flaw(name, f"{item.path}.{item.name}", field=item.name, definition=item.definition)


def schema_version(card: Card) -> Iterator[Flaw]:
    """Check that the version stands under its own name."""
    for name in ("schema_version", "schemaVersion"):
        if name in card.value:
            yield flaw("schema_version", f"$.{name}", field=name)


def supported_interfaces(card: Card) -> Iterator[Flaw]:
    """Check that the list of interfaces of 1.0 is not there."""
    if _is_for_both(card):
        yield flaw("card_for_both", "$.supportedInterfaces", url=card.text("url"))
    elif "supportedInterfaces" in card.value:
        yield flaw("supported_interfaces", "$.supportedInterfaces")


def _is_for_both(card: Card) -> bool:
    return bool(card.value.get("supportedInterfaces")) and {"protocolVersion", "url"} <= card.value.keys()


def only_in_1_0(card: Card) -> Iterator[Flaw]:
    """Check that no field has the form of 1.0, but in a card for both versions, which is another rule's flaw."""
    if _is_for_both(card):
        return
    for item in card.departures:
        if isinstance(item, Unknown) and item.name in _ONLY_IN_1_0:
            yield _of_1_0(item.path, item.name)
        elif isinstance(item, Missing) and item.definition == "SecurityScheme":
            for name in _at(card, item.path):
                if name in _ONLY_IN_1_0:
                    yield _of_1_0(item.path, name)


def types(card: Card) -> Iterator[Flaw]:
    """Check that every value is of the type that the schema gives it."""
    for item in card.departures:
        if isinstance(item, WrongType) and not _EXTENSION.fullmatch(item.path):
            name = "null" if item.found == "null" else "type"
            yield flaw(name, item.path, found=item.found, wanted=item.wanted)


def extensions(card: Card) -> Iterator[Flaw]:
    """Check that extensions are objects with their URI."""
    for item in card.departures:
        if not _EXTENSION.fullmatch(item.path):
            continue
        match item:
            case Missing(name="uri"):
                yield flaw("extension_without_uri", f"{item.path}.uri")
            case WrongType(wanted="object", found="string"):
                yield flaw("extension_text", item.path)
            case WrongType():
                yield flaw("extension_type", item.path, found=item.found, wanted=item.wanted)
            case _:
                pass


def _of_1_0(path: str, name: str) -> Flaw:
    return flaw("only_in_1_0", f"{path}.{name}", field=name, instead=_ONLY_IN_1_0[name])


def _is_snake(name: str) -> bool:
    return "_" in name.strip("_") and name != "schema_version"


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name)


def _has_twin(card: Card, missing: Missing) -> bool:
    """Return True if the missing field is there in snake_case, which another rule reports."""
    return any(_camel(name) == missing.name for name in card.unknown_at.get(missing.path, ()))


def _at(card: Card, path: str) -> frozenset[str]:
    """Return the names in the security scheme at `path`."""
    scheme = card.object("securitySchemes").get(path.removeprefix("$.securitySchemes."))
    return frozenset(scheme) if isinstance(scheme, dict) else frozenset()
