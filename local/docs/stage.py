"""Copy the pages, and the files that they link to, into build/docs, of which MkDocs makes the site (`make docs`)."""

import shutil

from local.docs.links import ROOT, links, pages

STAGE = ROOT / "build" / "docs"


def stage() -> None:
    """Replace build/docs. Everything keeps its path, so that links of the repository work in the site."""
    shutil.rmtree(STAGE, ignore_errors=True)
    linked = {target for page in pages() for _, target, _ in links(page) if target.is_file()}
    for file in {*pages(), *linked}:
        copy = STAGE / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


if __name__ == "__main__":
    stage()
