"""Rules on a card's form: names, required fields and types (A2A 0.3.0's JSON schema)."""

import re
from collections.abc import Iterator, Mapping

from a2a_hub.card_rules.card import V0_3, Card, Flaw, Missing, Unknown, WrongType, flaw

_SNAKE = re.compile(r"(?<=[^_])_+([a-z0-9])")
_PLACEHOLDERS: Mapping[str, str] = V0_3["placeholders"]
_INSTEAD: Mapping[str, str] = V0_3["instead"]


def departed(card: Card) -> Iterator[tuple[str, Flaw]]:
    """Yield a flaw for each departure from the schema, with the id of its rule.

    The names of 1.0 are no flaws in a card for both versions, which is one itself.
    """
    is_for_both = bool(card.value.get("supportedInterfaces")) and {"protocolVersion", "url"} <= card.value.keys()
    for item in card.departures:
        match item:
            case Missing(path=path, name="tags"):
                yield "tags", flaw("tags", f"{path}.tags")
            case Missing(name="protocolVersion"):
                yield "protocol-version", flaw("protocol_version", "$.protocolVersion")
            case Missing(path=path, name=name):
                placeholder = _PLACEHOLDERS.get(name, "…")
                yield "required", flaw("required", f"{path}.{name}", field=name, placeholder=placeholder)
            case WrongType(path=path, wanted=wanted, found=found):
                yield "type", flaw("type", path, found=found, wanted=wanted)
            case Unknown(name="supportedInterfaces", path=path):
                name = "card_for_both" if is_for_both else "supported_interfaces"
                yield "supported-interfaces", flaw(name, f"{path}.supportedInterfaces", url=card.text("url"))
            case Unknown(name=name) if not (is_for_both and name in _INSTEAD):
                yield _unknown(item)
            case _:
                pass


def _unknown(item: Unknown) -> tuple[str, Flaw]:
    path = f"{item.path}.{item.name}"
    meant = _SNAKE.sub(lambda found: found[1].upper(), item.name)
    if meant != item.name and item.name not in _INSTEAD:
        return "camel-case", flaw("snake_case", path, field=item.name, meant=meant)
    instead = _INSTEAD.get(item.name, "delete it")
    return "non-standard", flaw("non_standard", path, field=item.name, definition=item.definition, instead=instead)
