"""Whatever fails at Discovery Engine or Cloud Storage: a text in the question's language, a cause, and what mends it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.auth.exceptions import DefaultCredentialsError

from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.engine import CloudDocumentQA
from functions.docqa.ingestion.reader import MAX_FILE_BYTES
from functions.docqa.model import DocAnswer
from local.ports import free_ports
from tests.fakes.document_cloud import BUCKET, PARENT, PROJECT, DocumentCloud, ask, document_cloud
from tests.fakes.http_server import Exchange, HttpServer

DOORS, DOORS_JA = "When are the doors locked?", "ドアは何時に施錠されますか？"
RULE = "# Doors\n\nThe doors are locked at 20:00.\n\nドアは20時に施錠されます。\n"
_PDF = Path(__file__).parents[2] / "functions/docqa/corpus/policies/business-travel-policy.pdf"


@pytest.fixture
def cloud() -> Iterator[DocumentCloud]:
    with document_cloud() as cloud:
        cloud.hold(doors=RULE)
        yield cloud


def asked(engine: CloudDocumentQA, question: str = DOORS) -> DocAnswer:
    """An answer that cites nothing and says nothing of Google's own words."""
    answer = ask(engine, question)
    assert (answer.grounded, answer.citations, answer.sources) == (False, (), ())
    for foreign in ("http", "127.0.0.1", "Traceback", "googleapis", "token-of", "Exception", "PERMISSION"):
        assert foreign not in answer.text
    return answer


def nowhere() -> str:
    return f"http://127.0.0.1:{free_ports(1)[0]}"


SEARCH_FAULTS = [
    ("deny-search", "denied", "the search is not permitted", "検索の権限がありません"),
    ("service-disabled", "api_disabled", "search service is not set up", "設定に問題があります"),
    ("quota", "quota", "search service is not available", "検索サービスを利用できません"),
    ("server-error", "broken", "search service is not available", "検索サービスを利用できません"),
    ("latency", "timeout", "search service is not available", "検索サービスを利用できません"),
]
SOURCE_FAULTS = [
    ("deny-objects-get", "denied", "not allowed to open the source documents", "原文を開く権限がありません"),
    ("quota", "quota", "storage service is not available", "ストレージサービスを利用できません"),
    ("server-error", "broken", "storage service is not available", "ストレージサービスを利用できません"),
    ("latency", "timeout", "storage service is not available", "ストレージサービスを利用できません"),
]


@pytest.mark.parametrize(("fault", "cause", "said", "said_ja"), SEARCH_FAULTS)
def test_a_search_that_fails_says_why_and_what_mends_it(
    cloud: DocumentCloud, fault: str, cause: str, said: str, said_ja: str
) -> None:
    cloud.break_search(fault, seconds=60)
    engine = cloud.engine(timeout_seconds=3.0 if fault == "latency" else 20.0)
    answer = asked(engine)
    assert said in answer.text
    assert said_ja in asked(engine, DOORS_JA).text
    (hint,) = answer.hints
    assert (hint.step, hint.cause) == ("search", cause)
    assert hint.resource.startswith(PARENT)
    assert hint.remedy
    assert answer.unverified == ()


@pytest.mark.parametrize(("fault", "cause", "said", "said_ja"), SOURCE_FAULTS)
def test_a_source_that_cannot_be_read_leaves_what_the_search_said_unverified(
    cloud: DocumentCloud, fault: str, cause: str, said: str, said_ja: str
) -> None:
    assert ask(cloud.engine(), DOORS).grounded
    cloud.break_storage(fault, seconds=60)
    engine = cloud.engine(timeout_seconds=3.0 if fault == "latency" else 20.0)
    answer = asked(engine)
    assert said in answer.text
    assert said_ja in asked(engine, DOORS_JA).text
    assert [(entry.text, entry.cause) for entry in answer.unverified] == [
        ("The doors are locked at 20:00. ドアは20時に施錠されます。", cause)
    ]
    (hint,) = answer.hints
    assert (hint.step, hint.cause, hint.resource) == ("source", cause, f"gs://{BUCKET}/doors.md")
    assert hint.remedy


def encrypted_pdf(folder: Path) -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(_PDF))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(folder / "a.pdf")
    return (folder / "a.pdf").read_bytes()


SPOILED: list[tuple[str, Callable[[Path], bytes], str, str]] = [
    ("huge", lambda _: b"doors " * (MAX_FILE_BYTES // 4), "too_large", "too large"),
    ("binary", lambda _: b"\x00\x01\x02", "unreadable", "no text that can be read"),
    ("empty", lambda _: b"", "unreadable", "no text that can be read"),
    ("in no encoding", lambda _: b"\x81\xff\xfe\xfd\x80", "unreadable", "no text that can be read"),
]


@pytest.mark.parametrize(("content", "cause", "said"), [row[1:] for row in SPOILED], ids=[row[0] for row in SPOILED])
def test_a_source_that_became_unusable_after_it_was_imported_says_so(
    cloud: DocumentCloud, tmp_path: Path, content: Callable[[Path], bytes], cause: str, said: str
) -> None:
    engine = cloud.engine()
    assert ask(engine, DOORS).grounded
    cloud.put("doors.md", content(tmp_path))
    for _ in range(2):
        answer = asked(engine)
        assert said in answer.text
        assert [hint.cause for hint in answer.hints] == [cause]


def test_a_source_that_is_too_large_is_not_even_fetched(cloud: DocumentCloud) -> None:
    engine = cloud.engine()
    assert ask(engine, DOORS).grounded
    before = cloud.downloads()
    cloud.put("doors.md", b"x" * (MAX_FILE_BYTES + 1))
    assert [hint.cause for hint in asked(engine).hints] == ["too_large"]
    assert cloud.downloads() == before


@pytest.mark.parametrize(
    ("fault", "then", "then_ja"),
    [
        ("deny-objects-get", "Your administrator can fix this.", "管理者による対応が必要です。"),
        ("quota", "Please try again in a few minutes.", "数分後にもう一度お試しください。"),
    ],
)
def test_who_asks_is_told_what_to_do(cloud: DocumentCloud, fault: str, then: str, then_ja: str) -> None:
    assert ask(cloud.engine(), DOORS).grounded
    cloud.break_storage(fault)
    engine = cloud.engine(timeout_seconds=20.0)
    assert asked(engine).text.endswith(then)
    assert asked(engine, DOORS_JA).text.endswith(then_ja)


def test_an_encrypted_pdf_says_so(cloud: DocumentCloud, tmp_path: Path) -> None:
    cloud.bucket.delete("doors.md")
    cloud.put("travel.pdf", _PDF.read_bytes(), content_type="application/pdf")
    engine = cloud.engine()
    assert ask(engine, "What is the limit for a taxi ride?").grounded
    cloud.put("travel.pdf", encrypted_pdf(tmp_path), content_type="application/pdf")
    assert "it may be encrypted" in asked(engine, "What is the limit for a taxi ride?").text


def test_a_content_that_is_larger_than_its_metadata_says_is_not_taken_in(cloud: DocumentCloud) -> None:
    engine = cloud.engine()
    stored = cloud.bucket.get("doors.md")
    assert stored is not None
    small = stored.resource("http://here") | {"size": "10"}

    def storage(exchange: Exchange) -> None:
        if "alt=media" in exchange.received.path:
            exchange.answer(200, b"doors " * (MAX_FILE_BYTES // 4), content_type="text/plain")
        else:
            exchange.json(small)

    ask(engine, DOORS)
    with HttpServer(storage) as server:
        answer = asked(cloud.engine(storage_endpoint=server.url))
    assert [hint.cause for hint in answer.hints] == ["too_large"]


def test_a_source_that_is_gone_says_so(cloud: DocumentCloud) -> None:
    engine = cloud.engine()
    assert ask(engine, DOORS).grounded
    cloud.bucket.delete("doors.md")
    answer = asked(engine)
    assert "or is gone" in answer.text
    assert "hubctl corpus status" in answer.hints[0].remedy
    assert "索引の作成後に原文が変更または削除されています" in asked(engine, DOORS_JA).text


@pytest.mark.parametrize(
    "wrong",
    [
        PARENT.replace("company-store", "no-such-store") + "/servingConfigs/default_config",
        f"{PARENT}/servingConfigs/no-such-config",
    ],
)
def test_a_data_store_that_does_not_exist_says_which_settings_name_it(cloud: DocumentCloud, wrong: str) -> None:
    answer = asked(cloud.engine(serving_config=wrong))
    assert "the search service is not set up" in answer.text
    assert (answer.hints[0].cause, answer.hints[0].resource) == ("not_found", wrong)
    assert "DISCOVERY_ENGINE_DATA_STORE" in answer.hints[0].remedy


def test_a_service_that_nobody_listens_for_is_unreachable(cloud: DocumentCloud) -> None:
    no_search = asked(cloud.engine(search_endpoint=nowhere(), timeout_seconds=20.0))
    no_storage = asked(cloud.engine(storage_endpoint=nowhere(), timeout_seconds=20.0))
    assert [answer.hints[0].cause for answer in (no_search, no_storage)] == ["unreachable"] * 2
    assert no_storage.unverified[0].text.startswith("The doors are locked at 20:00.")


def refuse(exchange: Exchange) -> None:
    exchange.answer(500, b"<html>What happened?</html>", content_type="text/html")


def garble(exchange: Exchange) -> None:
    exchange.answer(200, b"<html>Please sign in</html>", content_type="text/html")


def drip(exchange: Exchange) -> None:
    exchange.head(content_type="application/json", content_length="100000")
    while True:
        exchange.send(b" ")
        exchange.pause(0.05)


@pytest.mark.parametrize(
    ("behaviour", "causes"),
    [
        (refuse, {"broken"}),
        (garble, {"broken"}),
        (Exchange.reset, {"unreachable"}),
        (drip, {"timeout"}),
    ],
)
@pytest.mark.parametrize("step", ["search", "source"])
def test_an_answer_that_is_none_is_a_failure_in_time(
    cloud: DocumentCloud, behaviour: Callable[[Exchange], None], causes: set[str], step: str
) -> None:
    assert ask(cloud.engine(), DOORS).grounded
    with HttpServer(behaviour) as server:
        where: dict[str, Any] = {("search_endpoint" if step == "search" else "storage_endpoint"): server.url}
        answer = asked(cloud.engine(timeout_seconds=3.0 if behaviour is drip else 20.0, **where))
    assert {hint.cause for hint in answer.hints} == causes
    assert {hint.step for hint in answer.hints} == {step}


def test_a_token_that_is_not_taken_is_a_matter_of_credentials(cloud: DocumentCloud) -> None:
    answer = asked(cloud.engine(token="token-of-nobody"))
    assert "the search service is not set up" in answer.text
    assert "gcloud auth application-default login" in answer.hints[0].remedy


def test_without_credentials_the_answer_says_so() -> None:
    def none() -> Any:
        raise DefaultCredentialsError("Your default credentials were not found")  # type: ignore[no-untyped-call]

    config = CloudConfig(
        project=PROJECT,
        serving_config=f"{PARENT}/servingConfigs/default_config",
        search_endpoint=nowhere(),
        grounding_endpoint=nowhere(),
        storage_endpoint=None,
        as_user=False,
        timeout_seconds=5,
    )
    answer = asked(CloudDocumentQA(config, credentials=none))
    assert [hint.cause for hint in answer.hints] == ["no_credentials"]


def test_a_passing_failure_is_tried_again_within_the_time(cloud: DocumentCloud) -> None:
    engine = cloud.engine()
    assert ask(engine, DOORS).grounded
    failures = iter([503])

    def once_broken(exchange: Exchange) -> None:
        if next(failures, None):
            exchange.json({"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}, status=503)
        else:
            extracts = [{"content": "The doors are locked at 20:00."}]
            link = {"link": f"gs://{BUCKET}/doors.md", "title": "Doors", "extractive_segments": extracts}
            exchange.json({"results": [{"id": "x", "document": {"derivedStructData": link}}]})

    with HttpServer(once_broken) as server:
        assert ask(cloud.engine(search_endpoint=server.url), DOORS).grounded
