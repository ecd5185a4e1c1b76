"""The stand-in of Discovery Engine as the unmodified google-cloud-discoveryengine sees it."""

from collections.abc import Iterator
from typing import Any

import pytest
from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.auth.exceptions import RefreshError
from google.cloud import discoveryengine_v1 as api
from google.oauth2.credentials import Credentials

from tests.fakes.document_cloud import (
    BUCKET,
    OWNERS_TOKEN,
    PARENT,
    READERS_TOKEN,
    DocumentCloud,
    document_cloud,
)

EMPTY = PARENT.replace("company-store", "empty-store")
BRANCH = f"{EMPTY}/branches/default_branch"


@pytest.fixture
def cloud() -> Iterator[DocumentCloud]:
    with document_cloud() as cloud:
        cloud.hold(
            doors="# Doors\n\nThe doors are locked at 20:00.\n\nThe windows stay closed.\n",
            gates="# Gates\n\nThe gates open at 6:00. Ask at the door.\n",
            窓="# 窓の規程\n\n窓は19時に閉める。\n",
        )
        yield cloud


def client(cloud: DocumentCloud, kind: Any, token: str = OWNERS_TOKEN) -> Any:
    credentials = Credentials(token)  # type: ignore[no-untyped-call]
    options = ClientOptions(api_endpoint=cloud.search_url)
    return kind(credentials=credentials, transport="rest", client_options=options)


def search(cloud: DocumentCloud, query: str, *, token: str = READERS_TOKEN, **more: Any) -> Any:
    request = api.SearchRequest(
        serving_config=f"{PARENT}/servingConfigs/default_config",
        query=query,
        content_search_spec={"snippet_spec": {"return_snippet": True}},
        **more,
    )
    return client(cloud, api.SearchServiceClient, token).search(request)


def links(pages: Any) -> list[str]:
    return [result.document.derived_struct_data["link"].removeprefix(f"gs://{BUCKET}/") for result in pages]


def document(name: str, mime_type: str = "text/plain") -> api.Document:
    uri = f"gs://{BUCKET}/{name}"
    return api.Document(id=name.replace(".", "-"), content=api.Document.Content(uri=uri, mime_type=mime_type))


def imported(cloud: DocumentCloud, **source: Any) -> Any:
    request = api.ImportDocumentsRequest(parent=BRANCH, **source)
    return client(cloud, api.DocumentServiceClient).import_documents(request)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("When are the doors locked?", ["doors.md", "gates.md"]),
        ("gates", ["gates.md"]),
        ("窓はいつ閉める？", ["窓.md"]),
        ("zebra", []),
    ],
)
def test_the_search_finds_what_the_imported_documents_say(cloud: DocumentCloud, query: str, found: list[str]) -> None:
    assert links(search(cloud, query)) == found


def test_results_come_in_pages(cloud: DocumentCloud) -> None:
    pages = search(cloud, "doors the at", page_size=1)
    assert [len(page.results) for page in pages.pages] == [1, 1]


def test_a_snippet_marks_the_words_that_were_asked_for(cloud: DocumentCloud) -> None:
    (first, *_) = search(cloud, "doors locked")
    (snippet,) = first.document.derived_struct_data["snippets"]
    assert snippet["snippet"] == "The <b>doors</b> are <b>locked</b> at 20:00."
    assert snippet["snippet_status"] == "SUCCESS"


def test_an_import_is_an_operation_that_tells_its_progress(cloud: DocumentCloud) -> None:
    source = {"inline_source": {"documents": [document("doors.md"), document("gates.md")]}}
    operation = imported(cloud, **source)
    operation.result(timeout=20)
    metadata = operation.metadata
    assert (metadata.success_count, metadata.failure_count, metadata.total_count) == (2, 0, 2)


def test_what_cannot_be_indexed_is_named_and_the_rest_is_indexed(cloud: DocumentCloud) -> None:
    cloud.put("empty.md", "")
    documents = [
        document("doors.md"),
        document("missing.md"),
        document("empty.md"),
        document("gates.md", "text/markdown"),
    ]
    operation = imported(cloud, inline_source={"documents": documents})
    errors = [sample.message for sample in operation.result(timeout=20).error_samples]
    assert [error.partition(" ")[0] for error in errors] == [
        "Cloud",
        f"gs://{BUCKET}/empty.md:",
        "Unsupported",
    ]
    listed = client(cloud, api.DocumentServiceClient).list_documents(parent=BRANCH)
    assert [each.id for each in listed] == ["doors-md"]


def test_an_import_of_content_names_documents_by_their_uris(cloud: DocumentCloud) -> None:
    source = api.GcsSource(input_uris=[f"gs://{BUCKET}/*"], data_schema="content")
    imported(cloud, gcs_source=source).result(timeout=20)
    request = api.ListDocumentsRequest(parent=BRANCH, page_size=2)
    listed = list(client(cloud, api.DocumentServiceClient).list_documents(request))
    assert sorted(each.content.uri.rpartition("/")[2] for each in listed) == ["doors.md", "gates.md", "窓.md"]
    assert all(each.index_time and len(each.id) == 32 for each in listed)


def test_a_deleted_document_is_found_no_more(cloud: DocumentCloud) -> None:
    documents = client(cloud, api.DocumentServiceClient)
    for each in documents.list_documents(parent=f"{PARENT}/branches/default_branch"):
        if each.content.uri.endswith("doors.md"):
            documents.delete_document(name=each.name)
    assert links(search(cloud, "When are the doors locked?")) == ["gates.md"]


def test_a_document_that_changes_in_the_bucket_is_found_as_it_was_until_it_is_imported(
    cloud: DocumentCloud,
) -> None:
    assert links(search(cloud, "elephants")) == []
    cloud.hold(doors="# Doors\n\nElephants may pass.\n")
    assert links(search(cloud, "elephants")) == []
    source = api.GcsSource(input_uris=[f"gs://{BUCKET}/doors.md"], data_schema="content")
    request = api.ImportDocumentsRequest(parent=f"{PARENT}/branches/default_branch", gcs_source=source)
    client(cloud, api.DocumentServiceClient).import_documents(request).result(timeout=20)
    assert links(search(cloud, "elephants")) == ["doors.md"]


def test_who_may_search_may_not_import(cloud: DocumentCloud) -> None:
    with pytest.raises(exceptions.Forbidden) as refused:
        client(cloud, api.DocumentServiceClient, READERS_TOKEN).import_documents(
            api.ImportDocumentsRequest(parent=BRANCH, inline_source={"documents": []})
        )
    assert refused.value.reason == "IAM_PERMISSION_DENIED"


@pytest.mark.parametrize(
    ("fault", "error", "reason"),
    [
        ("deny-search", exceptions.Forbidden, "IAM_PERMISSION_DENIED"),
        ("service-disabled", exceptions.Forbidden, "SERVICE_DISABLED"),
        ("quota", exceptions.TooManyRequests, None),
        ("server-error", exceptions.ServiceUnavailable, None),
    ],
)
def test_a_fault_is_what_it_says(
    cloud: DocumentCloud, fault: str, error: type[exceptions.GoogleAPICallError], reason: str | None
) -> None:
    cloud.break_search(fault)
    with pytest.raises(error) as refused:
        search(cloud, "doors")
    assert refused.value.reason == reason


def test_a_token_that_nobody_gave_out_is_refused(cloud: DocumentCloud) -> None:
    # The library answers 401 with an attempt to get another token.
    with pytest.raises(RefreshError):
        search(cloud, "doors", token="made-up")
