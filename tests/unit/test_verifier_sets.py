"""The labelled sentences that the verifier is measured on, and the measurement."""

import json
from pathlib import Path

import pytest

from evaluation.verifier.measure import FAITHFUL, interval, measure

_KINDS = tuple("number unit scale date code negation modality boundary edition superseded forged_id".split())  # noqa: SIM905
_LEAVE = "Employees may carry over up to five days of unused annual leave."


@pytest.mark.parametrize(
    ("sets", "kept", "rejected"),
    [
        (("", "_second", "_third", "_fourth", "_fifth", "_sixth"), 0.93, 0.90),
        (("_seventh", "_eighth"), 0.76, 0.77),
        (("_ninth",), 0.96, 0.94),
    ],
)
def test_the_sets_that_were_seen_are_judged_no_worse_than_before(
    sets: tuple[str, ...], kept: float, rejected: float
) -> None:
    folder = Path("evaluation/verifier")
    measured = measure([folder / f"{language}{name}.jsonl" for language in ("en", "ja") for name in sets])
    assert measured.share(FAITHFUL) >= kept
    assert measured.share(*_KINDS) >= rejected


def test_the_measurement_counts_by_language_and_kind(tmp_path: Path) -> None:
    item = {"kind": "number", "language": "en", "question": "", "evidence": [{"id": 1, "text": _LEAVE}], "cites": [1]}
    items = [{**item, "sentence": _LEAVE, "faithful": True}, {**item, "sentence": "Nine days.", "faithful": False}]
    file = tmp_path / "set.jsonl"
    file.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    assert list(measure([file]).rows()) == [("en", "faithful", 1, 1), ("en", "number", 1, 1)]
    assert interval(95, 100) == pytest.approx((0.888, 0.978), abs=0.001)
