"""Check the documentation without building it: every link and anchor leads somewhere, every page is in the site's navigation."""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def pages() -> list[Path]:
    """Return the Markdown files that people read."""
    return sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("functions/docqa/*/terms/*.md")})


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield each link of `page` to a file of the repository, with that file and the anchor in it."""
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if "://" not in link:
            yield link, (page.parent / path).resolve() if path else page, anchor


def problems() -> Iterator[str]:
    """Yield each link that leads nowhere, and each page that the navigation lacks."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in pages():
        name = page.relative_to(ROOT).as_posix()
        for link, target, anchor in links(page):
            if not target.exists():
                yield f"{name}: {link}: there is no such file"
            elif anchor and anchor not in _anchors(target):
                yield f"{name}: {link}: there is no such heading"
        if name.startswith("docs/") and not re.search(rf"\b{re.escape(name)}$", navigation, re.MULTILINE):
            yield f"{name}: it is missing in the navigation of mkdocs.yml"


@cache
def _anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub, and mkdocs.yml, make of headings."""
    text = page.read_text(encoding="utf-8")
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(text)}


if __name__ == "__main__":
    found = list(problems())
    sys.exit("\n".join(found) or None)
