"""`hubctl corpus`: a folder's documents in Cloud Storage and Discovery Engine, with Google's own libraries."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.api_core.client_options import ClientOptions
from google.cloud import discoveryengine_v1 as api
from pypdf import PdfWriter

from hubctl.corpus.documents import document_id
from local.cloud.policies import Policy
from tests.fakes.document_cloud import (
    BUCKET,
    OWNERS_TOKEN,
    PARENT,
    PROJECT,
    READER,
    READERS_TOKEN,
    DocumentCloud,
    ask,
    credentials,
    document_cloud,
)
from tests.fakes.local_cloud import call
from tests.integration.corpora import documents, hubctl, pushed, states

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "functions" / "docqa" / "corpus"
DEADLINE = "What is the deadline for notifying the infrastructure team for a P-1 incident?"


@pytest.fixture
def cloud() -> Iterator[DocumentCloud]:
    with document_cloud() as cloud:
        yield cloud


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return documents(tmp_path)


def grant(cloud: DocumentCloud, account: str, role: str) -> None:
    """The account has a role on the bucket, besides those that it has."""
    binding = {"role": role, "members": [f"serviceAccount:{account}"]}
    cloud.bucket.policy = Policy([*cloud.bucket.policy.bindings, binding])


def requests(cloud: DocumentCloud) -> list[str]:
    """Everything that changed something, oldest first."""
    received: list[dict[str, Any]] = []
    for url in (cloud.storage_url, cloud.search_url):
        received += call(f"{url}/__received")
    own = f"Bearer {OWNERS_TOKEN}"
    return [
        f"{each['method']} {each['target'].partition('?')[0]}"
        for each in received
        if each["method"] != "GET" and each["headers"].get("authorization") == own
    ]


def test_a_pushed_folder_is_answered_from() -> None:
    with document_cloud() as cloud:
        pushed(cloud, SAMPLE)
        answer = ask(cloud.engine(), DEADLINE)
        assert states(cloud, SAMPLE)[0] == 0
    assert answer.citations[0].uri == f"gs://{BUCKET}/policies/incident-response-policy.md"
    assert answer.citations[0].title == "Incident Response Policy"


def test_a_data_store_is_made_where_there_is_none(cloud: DocumentCloud, folder: Path) -> None:
    new = {"DISCOVERY_ENGINE_DATA_STORE": "new-store"}
    assert "would make the data store new-store" in hubctl(cloud, "push", folder, "--dry-run", **new)[1]
    status, told = hubctl(cloud, "push", folder, **new)
    assert status == 0
    assert told.startswith("making the data store new-store\nmade the data store, with the layout parser and chunks\n")
    assert told.rstrip().endswith("imported 3/3")
    assert "data store" not in hubctl(cloud, "push", folder, **new)[1]
    client = api.DataStoreServiceClient(
        credentials=credentials(OWNERS_TOKEN), transport="rest", client_options=ClientOptions(cloud.search_url)
    )
    config = client.get_data_store(name=PARENT.replace("company-store", "new-store")).document_processing_config
    assert config.chunking_config.layout_based_chunking_config.include_ancestor_headings
    assert "layout_parsing_config" in config.default_parsing_config


def test_progress_is_told_document_by_document(cloud: DocumentCloud, folder: Path) -> None:
    told = pushed(cloud, folder)
    assert told.startswith("3 documents, 0 unchanged\n")
    assert {"uploaded 1/3", "uploaded 2/3", "uploaded 3/3"} <= {line.partition(":")[0] for line in told.splitlines()}
    assert told.rstrip().endswith("imported 3/3")


def test_what_has_not_changed_is_neither_uploaded_nor_imported_again(cloud: DocumentCloud, folder: Path) -> None:
    pushed(cloud, folder)
    before = requests(cloud)
    assert pushed(cloud, folder) == "3 documents, 3 unchanged\n"
    assert requests(cloud) == before
    (folder / "doors.md").write_text("# Doors\n\nThe doors are locked at 21:00.\n")
    assert "3 documents, 2 unchanged" in pushed(cloud, folder)
    assert len(requests(cloud)) == len(before) + 2
    assert "21:00" in ask(cloud.engine(), "When are the doors locked?").text


def test_an_interrupted_push_goes_on_where_it_was(cloud: DocumentCloud, folder: Path) -> None:
    grant(cloud, READER, "roles/storage.objectUser")
    assert hubctl(cloud, "push", folder, CLOUDSDK_AUTH_ACCESS_TOKEN=READERS_TOKEN)[0] == 2
    assert states(cloud, folder)[1] == dict.fromkeys(("doors.md", "sub/gates.html", "規程.txt"), "not imported")
    told = pushed(cloud, folder)
    assert "uploaded" not in told
    assert told.rstrip().endswith("imported 3/3")


def test_markdown_is_imported_as_text_under_the_id_that_the_service_itself_would_give(
    cloud: DocumentCloud, folder: Path
) -> None:
    pushed(cloud, folder)
    uri = f"gs://{BUCKET}/doors.md"
    path = f"{cloud.search_url}/v1/projects/{PROJECT}/locations/global/collections/default_collection/dataStores"
    document = call(
        f"{path}/company-store/branches/default_branch/documents/{document_id(uri)}",
        headers={"authorization": f"Bearer {OWNERS_TOKEN}"},
    )
    assert document["content"] == {"uri": uri, "mimeType": "text/plain"}
    assert document["structData"]["title"] == "Doors"
    stored = cloud.bucket.get("doors.md")
    assert stored is not None
    assert stored.content_type == "text/markdown"


def test_a_large_file_goes_up_in_pieces(cloud: DocumentCloud, folder: Path) -> None:
    writer = PdfWriter(clone_from=SAMPLE / "policies" / "business-travel-policy.pdf")
    writer.add_attachment("pictures.bin", bytes(9 << 20))
    writer.write(folder / "long.pdf")
    pushed(cloud, folder)
    stored = cloud.bucket.get("long.pdf")
    assert stored is not None
    assert stored.content == (folder / "long.pdf").read_bytes()


def test_what_docqa_could_not_read_is_not_pushed_and_named(cloud: DocumentCloud, folder: Path) -> None:
    (folder / "empty.md").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "long.txt").write_text("The doors are locked at 20:00.\n" * 100_000)
    told = pushed(cloud, folder)
    assert "skipped: empty.md: no text in it" in told
    assert "skipped: broken.pdf: damaged PDF" in told
    assert "skipped: long.txt: 3100000 bytes" in told
    assert cloud.bucket.get("empty.md") is None


def test_what_is_only_there_stays_until_it_is_pruned(cloud: DocumentCloud, folder: Path) -> None:
    pushed(cloud, folder)
    (folder / "doors.md").unlink()
    assert "1 more in" in pushed(cloud, folder)
    assert cloud.bucket.get("doors.md") is not None
    assert states(cloud, folder) == (
        1,
        {"doors.md": "not in the folder", "sub/gates.html": "ok", "規程.txt": "ok"},
    )
    assert "removed from the bucket: doors.md" in pushed(cloud, folder, "--prune")
    assert cloud.bucket.get("doors.md") is None
    assert states(cloud, folder) == (0, {"sub/gates.html": "ok", "規程.txt": "ok"})


def test_a_document_that_names_readers_after_it_was_pushed_is_a_failure_until_it_is_pruned(
    cloud: DocumentCloud, folder: Path
) -> None:
    pushed(cloud, folder)
    (folder / "access.toml").write_text('[documents."doors.md"]\nallow_emails = ["a@example.com"]\n')
    status, told = hubctl(cloud, "push", folder)
    assert status == 1
    assert f"skipped, but an earlier push has made it searchable: gs://{BUCKET}/doors.md" in told
    assert "removed from the bucket: doors.md" in pushed(cloud, folder, "--prune")


def test_a_document_that_was_imported_under_another_id_is_pruned(cloud: DocumentCloud, folder: Path) -> None:
    pushed(cloud, folder)
    client: Any = api.DocumentServiceClient(
        credentials=credentials(OWNERS_TOKEN),
        transport="rest",
        client_options=ClientOptions(api_endpoint=cloud.search_url),
    )
    content = {"uri": f"gs://{BUCKET}/doors.md", "mime_type": "text/plain"}
    inline = {"documents": [{"id": "mine", "content": content}]}
    request = api.ImportDocumentsRequest(parent=f"{PARENT}/branches/0", inline_source=inline)
    client.import_documents(request).result(timeout=20)
    assert "1 more in" in pushed(cloud, folder)
    assert f"removed from the data store: {content['uri']}" in pushed(cloud, folder, "--prune")
    assert pushed(cloud, folder) == "3 documents, 3 unchanged\n"
    assert states(cloud, folder)[0] == 0


def test_a_dry_run_changes_nothing(cloud: DocumentCloud, folder: Path) -> None:
    told = pushed(cloud, folder, "--dry-run")
    assert "would upload: doors.md" in told
    assert "would import: sub/gates.html" in told
    assert requests(cloud) == []


def test_a_prefix_keeps_to_its_part_of_the_bucket(cloud: DocumentCloud, folder: Path) -> None:
    cloud.put("other/rules.txt", "Another team's rules.")
    pushed(cloud, folder, "--prefix", "team/", "--prune")
    assert [each.name for each in cloud.bucket.listed("")][:2] == ["other/rules.txt", "team/doors.md"]
    status, told = hubctl(cloud, "status", folder, "--prefix", "team")
    assert (status, "3 ok" in told) == (0, True)


def test_status_tells_what_is_wrong_with_each_document(cloud: DocumentCloud, folder: Path) -> None:
    assert states(cloud) == (1, {})
    pushed(cloud, folder)
    assert states(cloud)[0] == 0
    cloud.bucket.delete("sub/gates.html")
    cloud.put("doors.md", "# Doors\n\nNever locked.\n")
    cloud.put("new.txt", "New rules.")
    assert states(cloud) == (
        1,
        {
            "doors.md": "imported before its last change",
            "new.txt": "not imported",
            "sub/gates.html": "in the data store, but not in the bucket",
            "規程.txt": "ok",
        },
    )
    assert states(cloud, folder)[1]["doors.md"] == "changed here"
    assert "hubctl corpus push" in hubctl(cloud, "status")[1]


def test_no_other_command_imports_googles_libraries() -> None:
    code = (
        "import sys, io; from hubctl.main import main;"
        "import hubctl.commands.corpus;"
        "main(['check'], environment={}, out=io.StringIO());"
        "print([name for name in sys.modules if name.startswith(('google.cloud.', 'google.api_core', 'requests'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_libraries_it_says_how_to_get_them() -> None:
    code = (
        "import sys; sys.modules['google.cloud.storage'] = None; from hubctl.main import main;"
        "sys.exit(main(['corpus', 'status', '--bucket', 'b', '--data-store', 'd', '--project', 'p'], environment={}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'a2a-hub[corpus]'" in done.stderr
