"""A folder of documents, and hubctl as an operator calls it on a bucket and a data store."""

import io
import json
from pathlib import Path

from hubctl.main import main
from tests.fakes.document_cloud import BUCKET, OWNERS_TOKEN, PROJECT, DocumentCloud


def documents(tmp_path: Path) -> Path:
    """A folder with a document of every readable kind but PDF."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doors.md").write_text("# Doors\n\nThe doors are locked at 20:00.\n")
    (folder / "規程.txt").write_text("窓の規程\n\n窓は19時に閉める。\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "gates.html").write_text("<title>Gates</title><p>The gates open at 6:00.</p>")
    return folder


def hubctl(cloud: DocumentCloud, *arguments: object, **environment: str) -> tuple[int, str]:
    """The exit status and what was written."""
    out = io.StringIO()
    told = {
        "CLOUDSDK_AUTH_ACCESS_TOKEN": OWNERS_TOKEN,
        "DISCOVERY_ENGINE_PROJECT": PROJECT,
        "DISCOVERY_ENGINE_DATA_STORE": "company-store",
        "DISCOVERY_ENGINE_ENDPOINT": cloud.search_url,
        "STORAGE_EMULATOR_HOST": cloud.storage_url,
        "CORPUS_BUCKET": BUCKET,
    }
    status = main(["corpus", *map(str, arguments)], environment=told | environment, out=out)
    return status, out.getvalue()


def pushed(cloud: DocumentCloud, folder: Path, *options: str) -> str:
    """Return what a push that went well wrote."""
    status, told = hubctl(cloud, "push", folder, *options)
    assert status == 0, told
    return told


def states(cloud: DocumentCloud, *folder: Path) -> tuple[int, dict[str, str]]:
    """The exit status of `corpus status`, and each document's state by its path."""
    status, told = hubctl(cloud, "status", *folder, "--json")
    found = {each["uri"].removeprefix(f"gs://{BUCKET}/"): each["state"] for each in json.loads(told)["documents"]}
    return status, found
