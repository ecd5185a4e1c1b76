"""A level of incidents is one level, whatever the question calls it; another level, and another scale, it is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.documents import Ask, answering_from

_POLICY = """# Incident policy

## Severity of incidents

- P-1: a service is down for all customers.
- P-2: a service works only in part.
- P-3: a fault with a workaround.

## P-1 incidents

The infrastructure team must be notified within 11 minutes of detection.

## P-2 incidents

The infrastructure team must be notified within 44 minutes of detection.

## P-3 incidents

The infrastructure team must be notified within 3 business days of detection.
"""
_POLICY_JA = """# 障害対応規程

## P-1 インシデント

インフラチームへは、検知から11分以内に電話で連絡する。

## P-2 インシデント

インフラチームへは、検知から44分以内に連絡する。顧客への状況報告は2時間ごとに行う。
"""
_TRAVEL = "# Travel\n\nTrips to a country of risk level 2 need the director's approval 5 days before.\n"
_OTHER_SCALE = """# Security incidents

## Sev-1 incidents

The security office must be called within 7 minutes of detection.

## Sev-2 incidents

The security office must be called within 77 minutes of detection.
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {"policy.md": _POLICY, "規程.md": _POLICY_JA, "travel.md": _TRAVEL}
    with answering_from(tmp_path_factory.mktemp("levels"), documents) as ask:
        yield ask


@pytest.fixture(scope="module")
def ask_of_two_scales(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {"policy.md": _POLICY, "security.md": _OTHER_SCALE}
    with answering_from(tmp_path_factory.mktemp("scales"), documents) as ask:
        yield ask


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How soon must infra be told about a priority one incident?", "11 minutes"),
        ("When do I have to inform the infrastructure team of a sev 2 outage?", "44 minutes"),
        ("how fast do we notify infrastructure if there's a severity one", "11 minutes"),
        ("By when is the infrastructure team notified in case of a level 2 incident?", "44 minutes"),
        ("How soon must infrastructure be notified of an incident of level three?", "3 business days"),
        ("How soon must infra be notified of a P 2?", "44 minutes"),
        ("Within how many minutes is the infrastructure team notified of P1s?", "11 minutes"),
        ("When do we have to let the infrastructure team know about a sev 2?", "44 minutes"),
        ("If there is a P-1, what is the latest moment to let infra know?", "11 minutes"),
        ("Do we ring the infrastructure people within a quarter of an hour when a P1 happens?", "11 minutes"),
        ("When do I have to escalate a sev-2?", "44 minutes"),
        ("How quickly must infra hear about a highest-priority incident?", "11 minutes"),
        ("By when is infra told of an incident of the highest severity?", "11 minutes"),
        ("最優先のインシデントが起きたら、インフラチームへの連絡は何分以内ですか", "11分以内"),
        ("一番重大な障害はインフラチームへ何分以内に連絡しますか", "11分以内"),
        ("プライオリティ2の通知期限は?", "44分以内"),
        ("優先度二のインシデントはいつまでにインフラへ報告?", "44分以内"),
        ("重大度1の障害はインフラチームへ何分以内に連絡しますか", "11分以内"),
        ("障害レベル1の通知時間は", "11分以内"),
        ("優先度二のインシデントはいつまでに報告?", "44分以内"),
        ("重大度2の発生時、インフラへの連絡は何分以内ですか", "44分以内"),
        ("ピーワンが出たらインフラに何分以内?", "11分以内"),
        ("P-2のときインフラ担当への一報は何分以内でしょうか", "44分以内"),
    ],
)
def test_a_level_is_known_by_any_name(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert [expected in citation.quote for citation in answer.citations] == [True], answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How fast must infrastructure be notified of P-1, P-2 and P-3 incidents?",
            ["11", "44", "3 business"],
        ),
        ("How soon must infrastructure be notified of sev 1 and sev 2 incidents?", ["11", "44"]),
        ("インフラチームへの連絡期限をP-1からP-2まで教えて", ["11分", "44分"]),
        ("P-1とP-2の通知期限は?", ["11分", "44分"]),
    ],
)
def test_several_levels_are_answered_each(ask: Ask, question: str, expected: list[str]) -> None:
    answer = ask(question)
    assert len(answer.citations) == len(expected), answer.text
    assert all(part in citation.quote for part, citation in zip(expected, answer.citations, strict=True))


@pytest.mark.parametrize(
    "question",
    [
        "How soon must the infrastructure team be notified of a P-4 incident?",
        "How soon must the infrastructure team be notified of a sev 5?",
        "How soon must the infrastructure team be notified of a severity 1.5 incident?",
        "How soon must the infrastructure team be notified by level 2 support?",
        "How soon must the infrastructure team be notified by tier 2 city offices?",
        "How soon must the infrastructure team be notified of a sev 1 customer?",
        "How soon must the infrastructure team be notified of P-1 to P-4 incidents?",
        "When is a P-2 raised to P-1?",
        "レベル1の資格の取得期限は",
        "重大度5の障害はインフラチームへ何分以内に連絡しますか",
        "障害レベル4の通知時間は",
        "優先度一覧の連絡期限は",
    ],
)
def test_another_level_and_a_level_of_something_else_are_not_answered(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.grounded, answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How soon must the infrastructure team be notified of a sev 1 incident?",
        "How soon must the infrastructure team be notified of a level 2 incident?",
        "Within how many minutes must the security office be called for a P-1 incident?",
        "Within how many minutes must the security office be called for a priority two incident?",
    ],
)
def test_levels_of_two_scales_stay_apart(ask_of_two_scales: Ask, question: str) -> None:
    answer = ask_of_two_scales(question)
    assert not answer.grounded, answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How soon must the infrastructure team be notified of a priority two incident?", "44 minutes"),
        (
            "Within how many minutes must the security office be called for a severity two incident?",
            "77 minutes",
        ),
    ],
)
def test_each_of_two_scales_is_known_by_its_own_names(ask_of_two_scales: Ask, question: str, expected: str) -> None:
    answer = ask_of_two_scales(question)
    assert [expected in citation.quote for citation in answer.citations] == [True], answer.text


def test_floors_of_a_car_park_are_no_levels_of_incidents(tmp_path: Path) -> None:
    car_park = (
        "# Car park\n\nP-1 is for visitors, P-2 for staff. Incidents in P-1 are reported to the guard in 5 minutes.\n"
    )
    with answering_from(tmp_path, {"car park.md": car_park}) as ask:
        answer = ask("How soon are sev 1 incidents reported to the guard?")
    assert not answer.grounded, answer.text


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("P-1 is the highest priority.", "11 minutes"),
        ("P-4 is the highest priority, P-1 the lowest.", None),
        ("P-1 is the lowest priority, and P-3 is the highest.", None),
    ],
)
def test_which_level_is_the_highest_is_for_the_documents_to_say(
    tmp_path: Path, said: str, expected: str | None
) -> None:
    with answering_from(tmp_path, {"policy.md": _POLICY.replace("- P-1:", f"{said}\n\n- P-1:")}) as ask:
        answer = ask("How soon must infrastructure be notified of a highest severity incident?")
    assert [expected in each.quote for each in answer.citations if expected] == [True] * bool(expected)
    assert answer.grounded is bool(expected), answer.text


def test_of_levels_of_another_name_none_is_guessed_to_be_the_highest(tmp_path: Path) -> None:
    levels = _POLICY.replace("P-", "Level ")
    with answering_from(tmp_path, {"policy.md": levels}) as ask:
        assert ask("How soon must infrastructure be notified of a level 1 incident?").grounded
        answer = ask("How soon must infrastructure be notified of a highest severity incident?")
    assert not answer.grounded, answer.text
