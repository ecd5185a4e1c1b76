"""Reads the messages of a proto3 file, as far as tests need them: names, required fields, repeated fields, oneofs."""

import re
from dataclasses import dataclass
from pathlib import Path

_FIELD = re.compile(
    r"(?P<label>repeated |optional )?(?P<type>map<[^>]+>|[\w.]+) (?P<name>\w+) = \d+\s*(?P<options>\[[^\]]*\])?;"
)


@dataclass(frozen=True)
class Field:
    """One field. `json_name` is its name on the wire."""

    json_name: str
    type: str
    repeated: bool
    required: bool


def messages(file: Path) -> dict[str, dict[str, Field]]:
    """Message name → its fields by their name on the wire."""
    text = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Field]] = {}
    for match in re.finditer(r"message (\w+) \{", text):
        body = _block(text, match.end())
        fields = [_field(each) for each in _FIELD.finditer(body)]
        found[match[1]] = {field.json_name: field for field in fields}
    return found


def _field(match: re.Match[str]) -> Field:
    first, *rest = match["name"].split("_")
    renamed = re.search(r'json_name = "(\w+)"', match["options"] or "")
    return Field(
        json_name=renamed[1] if renamed else first + "".join(word.capitalize() for word in rest),
        type=match["type"],
        repeated=(match["label"] or "").strip() == "repeated",
        required="REQUIRED" in (match["options"] or ""),
    )


def _block(text: str, start: int) -> str:
    depth, position = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
    return text[start : position - 1]
