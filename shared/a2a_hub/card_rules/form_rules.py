"""Rules on a card's form: names, required fields and types (A2A 0.3.0's JSON schema)."""

import re
from collections.abc import Iterator, Mapping

from a2a_hub.card_rules.card import V0_3, Card, Flaw, Missing, Unknown, WrongType

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
            yield Flaw(
                f"{item.path}.{item.name}",
                f"{item.name} is snake_case: it is read as a field that does not exist",
                f"delete it: {meant} is there already" if meant in item.names else f"rename it to {meant}",
            )


def required(card: Card) -> Iterator[Flaw]:
    """Check that the fields that the schema requires are there. `tags` and `protocolVersion` have rules of their own."""
    for item in card.missing:
        if item.name in ("tags", "protocolVersion"):
            continue
        if item.definition == "SecurityScheme" and not _ONLY_IN_1_0.keys().isdisjoint(_at(card, item.path)):
            continue
        if not _has_twin(card, item) and not _EXTENSION.fullmatch(item.path):
            yield Flaw(
                f"{item.path}.{item.name}",
                f"required property '{item.name}' not found",
                f'add "{item.name}": {_PLACEHOLDERS.get(item.name, "…")}',
            )


def tags(card: Card) -> Iterator[Flaw]:
    """Check that every skill has tags; an empty list is enough."""
    for item in card.missing:
        if item.name == "tags":
            yield Flaw(f"{item.path}.tags", "the skill has no tags: the card is refused", 'add "tags": []')


def protocol_version(card: Card) -> Iterator[Flaw]:
    """Check that there is a protocolVersion."""
    for item in card.missing:
        if item.name == "protocolVersion" and not _has_twin(card, item):
            yield Flaw(
                "$.protocolVersion",
                "required property 'protocolVersion' not found: a card of 1.0 alone is refused with this text",
                'add "protocolVersion": "0.3.0"',
            )


def non_standard(card: Card) -> Iterator[Flaw]:
    """Check that the card has no fields outside the specification."""
    for item in card.unknown:
        if not _is_snake(item.name) and item.name not in _OF_OTHER_RULES:
            yield Flaw(
                f"{item.path}.{item.name}",
                f"{item.name} is no field of {item.definition} in A2A 0.3",
                'delete it; the address of the agent is "url"' if item.name == "endpoints" else "delete it",
            )


def schema_version(card: Card) -> Iterator[Flaw]:
    """Check that the version stands under its own name."""
    for name in ("schema_version", "schemaVersion"):
        if name in card.value:
            yield Flaw(
                f"$.{name}", f"{name} is refused", 'delete it; the version belongs in "protocolVersion": "0.3.0"'
            )


def supported_interfaces(card: Card) -> Iterator[Flaw]:
    """Check that the list of interfaces of 1.0 is not there."""
    if _is_for_both(card):
        yield Flaw(
            "$.supportedInterfaces",
            "this card is for clients of A2A 0.3 and of 1.0, as a hub publishes it for requests without A2A-Version; cards "
            "with supportedInterfaces were reported refused",
            f"leave it published, and register the one that `hubctl card --url {card.text('url')}` writes, as "
            "`hubctl register` does; the published one for A2A-Version: 0.3 is good, too",
        )
    elif "supportedInterfaces" in card.value:
        yield Flaw(
            "$.supportedInterfaces",
            "cards with supportedInterfaces were reported refused",
            "delete it: url, preferredTransport and protocolVersion say the same in 0.3",
        )


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
            yield Flaw(
                item.path,
                f"is {item.found}, and the schema wants {item.wanted}",
                "delete it" if item.found == "null" else f"write it as {item.wanted}",
            )


def extensions(card: Card) -> Iterator[Flaw]:
    """Check that extensions are objects with their URI."""
    for item in card.departures:
        if not _EXTENSION.fullmatch(item.path):
            continue
        match item:
            case Missing(name="uri"):
                yield Flaw(f"{item.path}.uri", "the extension has no uri", 'add "uri": "https://…"')
            case WrongType(wanted="object", found="string"):
                yield Flaw(item.path, "the extension is a text", 'write it as an object: {"uri": "…"}')
            case WrongType():
                yield Flaw(
                    item.path,
                    f"is {item.found}, and must be {item.wanted}",
                    'write extensions as a list of objects: [{"uri": "…"}]',
                )
            case _:
                pass


def _of_1_0(path: str, name: str) -> Flaw:
    return Flaw(f"{path}.{name}", f"{name} exists in A2A 1.0 only; Gemini Enterprise reads 0.3", _ONLY_IN_1_0[name])


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
