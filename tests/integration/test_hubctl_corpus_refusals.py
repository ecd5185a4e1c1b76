"""`hubctl corpus` where Google refuses, or the folder is wrong: what happened, and what mends it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.http.messages import Handler, Request, Response
from local.cloud.policies import Policy
from tests.fakes.document_cloud import OWNERS_TOKEN, READERS_TOKEN, DocumentCloud, document_cloud
from tests.integration.corpora import documents, hubctl


@pytest.fixture
def cloud() -> Iterator[DocumentCloud]:
    with document_cloud() as cloud:
        yield cloud


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return documents(tmp_path)


def test_a_document_that_the_search_cannot_read_is_named(folder: Path) -> None:
    with document_cloud() as blind:
        blind.bucket.policy = Policy()
        status, told = hubctl(blind, "push", folder)
    assert status == 1
    assert "not imported: Cloud Storage answered 403" in told
    assert "3 could not be indexed" in told


REFUSALS = [
    ("storage", {"CLOUDSDK_AUTH_ACCESS_TOKEN": READERS_TOKEN}, "roles/storage.objectUser"),
    ("storage", {"CORPUS_BUCKET": "no-such-bucket"}, "gcloud storage buckets create gs://no-such-bucket"),
    ("both", {"CLOUDSDK_AUTH_ACCESS_TOKEN": "token-of-nobody"}, "gcloud auth application-default login"),
    ("settings", {"DISCOVERY_ENGINE_ENDPOINT": "http://example.com"}, "DISCOVERY_ENGINE_ENDPOINT"),
    ("settings", {"CORPUS_BUCKET": "", "DISCOVERY_ENGINE_DATA_STORE": ""}, "--bucket (or CORPUS_BUCKET)"),
]


def test_the_status_of_no_data_store_says_how_to_make_one(
    cloud: DocumentCloud, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hubctl(cloud, "status", DISCOVERY_ENGINE_DATA_STORE="no-such-store")[0] == 2
    assert "there is no data store no-such-store in global: hubctl corpus push" in capsys.readouterr().err


def test_who_may_not_make_a_data_store_is_told_the_role(
    cloud: DocumentCloud, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = {"DISCOVERY_ENGINE_DATA_STORE": "no-such-store", "CLOUDSDK_AUTH_ACCESS_TOKEN": READERS_TOKEN}
    assert hubctl(cloud, "push", folder, **changed)[0] == 2
    assert "--role=roles/discoveryengine.admin" in capsys.readouterr().err


@pytest.mark.parametrize(("environment", "said"), [row[1:] for row in REFUSALS])
def test_a_refusal_says_what_mends_it(
    cloud: DocumentCloud,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    environment: dict[str, str],
    said: str,
) -> None:
    assert hubctl(cloud, "push", folder, **environment)[0] == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert OWNERS_TOKEN not in told


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("service-disabled", "gcloud services enable discoveryengine.googleapis.com"),
        ("quota", "quota is used up"),
        ("server-error", "run the command again"),
    ],
)
def test_what_is_wrong_with_the_search_is_told(
    cloud: DocumentCloud, folder: Path, capsys: pytest.CaptureFixture[str], fault: str, said: str
) -> None:
    cloud.break_search(fault)
    status, _ = hubctl(cloud, "push", folder)
    assert (status, said in capsys.readouterr().err) == (2, True)


def test_who_comes_between_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there: list[DocumentCloud] = []

    def around(handle: Handler) -> Handler:
        def answer(request: Request) -> Response:
            if request.method == "POST" and there[0].bucket.get("doors.md") is None:
                there[0].hold(doors="Somebody else's.")
            return handle(request)

        return answer

    with document_cloud(around_storage=around) as busy:
        there.append(busy)
        assert hubctl(busy, "push", folder)[0] == 2
        stored = busy.bucket.get("doors.md")
    assert stored is not None
    assert stored.content == b"Somebody else's."
    assert "somebody else changed a document" in capsys.readouterr().err


def test_a_folder_without_documents_is_an_error(
    cloud: DocumentCloud, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hubctl(cloud, "push", tmp_path / "nowhere")[0] == 2
    assert hubctl(cloud, "push", tmp_path)[0] == 2
    assert hubctl(cloud, "push")[0] == 2
    told = capsys.readouterr().err
    assert "is not a folder" in told
    assert "holds no document" in told
    assert "which folder?" in told
