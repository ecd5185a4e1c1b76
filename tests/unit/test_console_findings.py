"""Every sentence of the doctor and of the card's rules has its Japanese one in the console's table."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE: dict[str, str] = json.loads((ROOT / "functions/console/static/findings.ja.json").read_text("utf-8"))
# What they take before the sentences.
_CALLS = {
    **dict.fromkeys(
        ("ok", "warning", "error", "skipped", "failed", "in_time", "Flaw", "HttpFailure", "ClientError"), 1
    ),
    **dict.fromkeys(("NoCredential", "CardUnreadable", "Unscreened", "Remedy"), 0),
}
_RETURNING = (
    *("remedy", "why_not_public", "_slow", "description"),
    *("connection_failure", "resolution_failure", "tls_failure"),
)
_TEXTS = ("message", "fix", "cause", "remedy")
# Of the failures of turns, the doctor tells these.
_FAILURES_OF_DOCTOR = ("{route}: nothing says which tool", "{route}: the {direction} was not screened")
_WITH_NAME = re.compile(r"\{\w+[^{}]*\}")
_REPORT = re.compile(r"a2a_hub\.diagnosis(?:\.report)? import|def connection_failure")
# Commands, statements of SQL, and what is said to nobody who reads findings.
_OTHERS = re.compile(r"gcloud (?!auth)|\s*SELECT |\{\} AND |Only operators|\./deploy|\w+ docs|SIGNING_KEY=")


def _templates(node: ast.expr | None) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in values)
        case ast.IfExp(body=one, orelse=other):
            yield from (*_templates(one), *_templates(other))
        case ast.BoolOp(values=values) | ast.Tuple(elts=values):
            for each in values:
                yield from _templates(each)
        case ast.Call(func=ast.Attribute(attr="get"), args=[_, fallback]):
            yield from _templates(fallback)


def _sentences(tree: ast.Module, *, reports: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                if name in _CALLS:
                    for each in (*args[_CALLS[name] :], *(each.value for each in keywords if each.arg != "command")):
                        yield from _templates(each)
            case ast.FunctionDef(name=name) if name in _RETURNING:
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return):
                        yield from _templates(inner.value)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(values=values)) if name.startswith("_OF_"):
                for each in values:
                    yield from _templates(each)
            case ast.Assign(value=value) if reports:
                yield from _templates(value)


def _written() -> set[str]:
    found: set[str] = set()
    for path in (*ROOT.glob("shared/a2a_hub/**/*.py"), *ROOT.glob("functions/**/*.py")):
        text = path.read_text("utf-8")
        if any(f"{name}(" in text for name in _CALLS) or any(f"def {name}(" in text for name in _RETURNING):
            found.update(_sentences(ast.parse(text), reports=bool(_REPORT.search(text))))
    for path in (*ROOT.glob("shared/a2a_hub/**/*.toml"), *ROOT.glob("functions/**/*.toml")):
        for table in tomllib.loads(path.read_text("utf-8")).values():
            if isinstance(table, dict) and ("fix" in table or table.get("cause", "").startswith(_FAILURES_OF_DOCTOR)):
                texts = (_WITH_NAME.sub("{}", table[name]) for name in _TEXTS if name in table)
                found.update(text.replace("{{", "{").replace("}}", "}") for text in texts)
    words = {each for each in found if re.search(r"[a-z]{2}.* |^HTTP", each)}
    return {each for each in words if not _OTHERS.match(each)}


def test_every_sentence_has_a_japanese_one() -> None:
    written = _written()
    assert len(written) > 150
    assert sorted(written - TABLE.keys()) == []


def test_a_japanese_sentence_names_the_values_of_the_english_one() -> None:
    for english, japanese in TABLE.items():
        values = set(range(1, english.count("{}") + 1))
        assert {int(each) for each in re.findall(r"\{(\d)\}", japanese)} == values, english
