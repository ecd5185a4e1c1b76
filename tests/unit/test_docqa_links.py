"""Addresses of cited documents."""

import pytest

from functions.docqa.search_results import link_of


@pytest.mark.parametrize(
    ("uri", "link"),
    [
        ("https://intranet.example/doors", "https://intranet.example/doors"),
        (
            "gs://my-documents/規程 2.pdf",
            "https://console.cloud.google.com/storage/browser/_details/my-documents/%E8%A6%8F%E7%A8%8B%202.pdf",
        ),
        ("corpus:hr/leave%20policy.md", None),
        ("projects/p/locations/global/collections/c/dataStores/d/branches/0/documents/x", None),
    ],
)
def test_a_link_is_an_address_that_a_person_can_open(uri: str, link: str | None) -> None:
    assert link_of(uri) == link


def test_a_folder_that_is_published_gives_its_documents_addresses() -> None:
    link = link_of("corpus:hr/leave%20policy.md", corpus_link="https://intranet.example/docs/{path}?view")
    assert link == "https://intranet.example/docs/hr/leave%20policy.md?view"
