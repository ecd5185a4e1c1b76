"""The document that a question names: "according to the front office manual", 「約款では」."""

import re
from collections.abc import Mapping

from msgspec import Struct

from functions.docqa.answers.matching import says
from functions.docqa.questions.concept import Role
from functions.docqa.questions.concepts import concepts_in
from functions.docqa.questions.question_kinds import without_edition
from functions.docqa.vocabulary.words import View, normalise

_KINDS = (
    r"policy|manual|handbook|guide|guidelines?|agreement|contract|terms(?: and conditions)?|terms|rules|regulations?|standard"
    r"|faq|sla|addendum|procedure|plan|charter|bylaws|schedule|document"
)
_KINDS_JAPANESE = (
    r"規程|規則|規約|約款|マニュアル|手引き?|ガイドライン|ガイド|契約書|契約|要領|基準|計画書?|faq|しおり|ハンドブック"
    r"|ポリシー|案内|手順書?"
)
_ASKS = r"how|what|when|who|whom|where|which|must|may|is|are|can|do|does|should|why"
_PATTERNS = (
    (
        True,
        re.compile(
            rf"\b(?:according to|based on|as per) (?:the |our |your )?(?P<name>[^,?]+?)(?=,| (?:{_ASKS})\b|\?|$)"
        ),
    ),
    (False, re.compile(r"\bwhat (?:does|do) (?:the |our |your )?(?P<name>.+?) (?=(?:say|state)s? )")),
    (True, re.compile(rf"\b(?:in|under|by) (?:the |our |your )(?P<name>(?:[\w-]+ ){{0,5}}(?:{_KINDS}))\b")),
    (True, re.compile(r"(?P<name>[^、。?]{2,30}?)(?:によると|によれば|に基づくと|に従うと)[、,]?")),
    (
        True,
        re.compile(rf"(?P<name>[^、。?はがを]{{0,20}}?(?:{_KINDS_JAPANESE}))(?:では|には|上)(?:は)?[、,]?"),
    ),
)


class Named(Struct, frozen=True):
    """A source that a question names: the question without it; `binding` when nothing else may answer."""

    rest: str
    name: str
    binding: bool


def named_in(normal: str) -> Named | None:
    """The source that the normalised question names, None when it names none."""
    for binding, pattern in _PATTERNS:
        if match := pattern.search(normal):
            rest = f"{normal[: match.start()]} {normal[match.end() :]}".strip(" ,、")
            return Named(rest, match["name"].strip(), binding)
    return None


def documents_named(name: str, documents: Mapping[str, View]) -> frozenset[str]:
    """The paths of the `documents` (path → its title and path) that `name` means; none when it could mean most of them."""
    concepts = concepts_in(without_edition(normalise(name)))
    telling = [concept for concept in concepts if concept.role is not Role.LIGHT] or concepts
    found = frozenset(path for path, label in documents.items() if all(says(concept, label) > 0 for concept in telling))
    return found if len(found) * 2 <= len(documents) or len(found) == 1 else frozenset()
