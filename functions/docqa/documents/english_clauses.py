"""How English bylaws, contracts and policies are divided: § 12. Titles, Section 3: clauses, and items A., (1), (a)."""

import re

# A single capital before a short text is a heading, or somebody's initial.
ITEM_MARK = r"\([a-z]{1,4}\)|[a-z]\)(?=\s)|[a-z]\.(?=[ \t]+\S)|[A-Z]\.(?=[ \t]+[A-Z\"“].{40})"
_CLAUSE = re.compile(
    r"[ \t]*(?:\d{1,2}\.\d{1,2}\.?[ \t]+(?=[A-Z])"
    r"|(?:Section|SECTION|Article|ARTICLE|Rule|RULE)[ ]\d{1,3}(?:[.-]\d{1,3})*[A-Z]?[.:)]?[ \t]+(?=[A-Z\"“].{30})"
    r"|§ ?\d[\d.-]*[A-Z]?\.?[ \t]+(?=[A-Z]))"
)
_TITLED_SECTION = re.compile(r"§ ?\d[\d.-]*[A-Z]?\.?[ \t]+[A-Z][^.;]{2,80}\.?(?: \[.*)?$")
_OUTER, _INNER = re.compile(r"[ \t]*[A-Z]\."), re.compile(r"[ \t]*(?:\([a-z]{1,4}\)|[a-z]\))")


def begins_clause(line: str) -> bool:
    """Whether a numbered clause begins here, also without a blank line before it."""
    return _CLAUSE.match(line) is not None


def is_titled_section(text: str) -> bool:
    """Whether a line by itself is a section sign with its number and title: "§ 60-200. Animals."."""
    return _TITLED_SECTION.match(text) is not None


def depth_of_item(line: str) -> int:
    """How much deeper an item stands than its white space tells: (a) belongs to 1., and that to A."""
    return 1 if _INNER.match(line) else -1 if _OUTER.match(line) else 0
