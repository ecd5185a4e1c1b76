"""Copy the pages, and the files that they link to, into build/docs, of which MkDocs makes the site (`make docs`)."""

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from local.docs.links import ROOT, links, pages

STAGE = ROOT / "build" / "docs"
# What draws the diagrams; without it, readers' browsers would load it from a public server.
_MERMAID = "mermaid@11.17.2"
_MERMAID_SHA256 = "6ad2f42c3fc26bbf9e45cbb6d11898972573ea52b33a5f4ff51952899f950ffd"
_MERMAID_FILES = {"package/dist/mermaid.min.js": "mermaid.min.js", "package/LICENSE": "mermaid.LICENSE.txt"}
_ARCHIVES = ROOT / ".run" / "npm"


def stage() -> None:
    """Replace build/docs. Everything keeps its path, so that links of the repository work in the site."""
    shutil.rmtree(STAGE, ignore_errors=True)
    linked = {target for page in pages() for _, target, _ in links(page) if target.is_file()}
    for file in {*pages(), *linked}:
        copy = STAGE / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    unpack_mermaid(_archive(), STAGE / "assets")


def _archive() -> Path:
    """Return the package of Mermaid, which npm fetches once. Raises SystemExit without npm or its registry."""
    archive = _ARCHIVES / f"{_MERMAID.replace('@', '-')}.tgz"
    if not archive.is_file():
        _ARCHIVES.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(
                ["npm", "pack", "--silent", _MERMAID, f"--pack-destination={_ARCHIVES}"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        except (OSError, subprocess.CalledProcessError) as problem:
            sys.exit(f"npm is needed, and its registry, for the program that draws the diagrams ({problem})")
    return archive


def unpack_mermaid(archive: Path, folder: Path, sha256: str = _MERMAID_SHA256) -> None:
    """Write Mermaid and its license into `folder`. Raises SystemExit if `archive` is not the one with this hash."""
    content = archive.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        archive.unlink()
        sys.exit(f"{archive.name} is not the archive whose hash local/docs/stage.py has; it is deleted")
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(content)) as files:
        for name, target in _MERMAID_FILES.items():
            file = files.extractfile(name)
            assert file is not None, f"{archive.name} has no {name}"
            (folder / target).write_bytes(file.read())


if __name__ == "__main__":
    stage()
