"""The program that draws the diagrams of the documentation's site comes from an archive whose hash is known."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from local.docs.stage import unpack_mermaid

FILES = {"package/dist/mermaid.min.js": b"draw()", "package/LICENSE": b"MIT", "package/dist/other.js": b""}


def _archive(folder: Path) -> Path:
    archive = folder / "mermaid.tgz"
    with tarfile.open(archive, "w:gz") as files:
        for name, content in FILES.items():
            file = tarfile.TarInfo(name)
            file.size = len(content)
            files.addfile(file, io.BytesIO(content))
    return archive


def test_the_program_and_its_license_are_unpacked(tmp_path: Path) -> None:
    archive = _archive(tmp_path)
    unpack_mermaid(archive, tmp_path / "site", hashlib.sha256(archive.read_bytes()).hexdigest())
    unpacked = {file.name: file.read_bytes() for file in (tmp_path / "site").iterdir()}
    assert unpacked == {"mermaid.min.js": b"draw()", "mermaid.LICENSE.txt": b"MIT"}


def test_another_archive_is_refused_and_not_kept(tmp_path: Path) -> None:
    archive = _archive(tmp_path)
    with pytest.raises(SystemExit, match="is not the archive whose hash"):
        unpack_mermaid(archive, tmp_path / "site", "0" * 64)
    assert not archive.exists()
    assert not (tmp_path / "site").exists()
