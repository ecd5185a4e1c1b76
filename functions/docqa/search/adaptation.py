"""A question in the words of the corpus: slips mended, derived words and loanwords found in its vocabulary."""

import re
import sqlite3
from collections.abc import Callable, Iterable

from msgspec import structs

from functions.docqa.questions.concept import Concept
from functions.docqa.questions.entities import Entity
from functions.docqa.questions.question import Question, analyse
from functions.docqa.search.scales import Scales
from functions.docqa.vocabulary.lexicon import lexicon
from functions.docqa.vocabulary.spelling import by_first_letter, corrected
from functions.docqa.vocabulary.transliteration import LEAST_CONSONANTS, english_sound, katakana_sound
from functions.docqa.vocabulary.words import KATAKANA, normalise, root, stem

_LATIN = re.compile(r"[a-z]{4,}$")
_KATAKANA = re.compile(rf"[{KATAKANA}]{{3,}}$")
_MOST_DERIVED = 8
_ROOT_PREFIX = 5
_LEAST_HALF = 3


class Vocabulary:
    """The words of one index, in the forms that the index holds them in; read at first use."""

    def __init__(self, connection: sqlite3.Connection, frequency: Callable[[str], int]) -> None:
        self._frequency = frequency
        self._scales = Scales(connection)
        rows = connection.execute("SELECT term FROM vocabulary WHERE length(term) > 2")
        self._latin: dict[str, list[str]] = {}
        self._by_sound: dict[str, list[str]] = {}
        self._loanwords: dict[str, list[str]] = {}
        latin = []
        for (term,) in rows:
            if _LATIN.match(term):
                latin.append(term)
            elif _KATAKANA.match(term):
                self._loanwords.setdefault(katakana_sound(term), []).append(term)
        for term in latin:
            self._latin.setdefault(term[:_ROOT_PREFIX], []).append(term)
            self._by_sound.setdefault(english_sound(term), []).append(term)
        self._known = frozenset(latin)
        self._similar = by_first_letter(self._known | lexicon().english)

    def adapted(self, question: Question) -> Question:
        """`question` with its slips mended and its concepts said in the corpus's words too."""
        mended = corrected(normalise(question.text), self._knows, self._alike, self._known)
        mended, became = self._scales.renamed(mended)
        if mended != normalise(question.text):
            again = analyse(mended, language=question.language)
            question = structs.replace(
                again,
                text=question.text,
                entities=_renamed(question.entities, became),
                topic=question.topic,
                sources=question.sources,
            )
        return structs.replace(question, concepts=tuple(self._said(concept) for concept in question.concepts))

    def _knows(self, word: str) -> bool:
        stemmed = stem(word)
        return stemmed in self._known or lexicon().knows(word) or bool(self._derived(stemmed))

    def _alike(self, word: str) -> Iterable[str]:
        return self._similar.get(word[0], ())

    def _derived(self, stemmed: str) -> list[str]:
        wanted = root(stemmed)
        near = self._latin.get(stemmed[:_ROOT_PREFIX], ())
        return [term for term in near if term != stemmed and root(term) == wanted][:_MOST_DERIVED]

    def _halves(self, own: str) -> tuple[str, ...]:
        """The two words of the corpus that an unknown compound is made of: ターボモード → ターボ, モード."""
        known = {term for terms in self._loanwords.values() for term in terms}
        cuts = range(len(own) - _LEAST_HALF, _LEAST_HALF - 1, -1)
        return next(((own[:at], own[at:]) for at in cuts if own[:at] in known and own[at:] in known), ())

    def _said(self, concept: Concept) -> Concept:
        if concept.known or len(concept.own) != 1:
            return concept
        own = concept.own[0]
        if own[0] == " ":
            stemmed = own.strip()
            if not _LATIN.match(stemmed):
                return concept
            words = [f" {term} " for term in self._derived(stemmed)]
            texts: list[str] = []
            if stemmed not in self._known and not words:
                sound = english_sound(concept.surface)
                texts = self._loanwords.get(sound, []) if len(sound) >= LEAST_CONSONANTS else []
            return structs.replace(concept, words=(*concept.words, *words), texts=(*concept.texts, *texts))
        if _KATAKANA.match(own):
            if not self._frequency(own) and (halves := self._halves(own)):
                return structs.replace(concept, parts=halves)
            sound = katakana_sound(own)
            if len(sound) >= LEAST_CONSONANTS:
                alike = [f" {term} " for term in self._by_sound.get(sound, ())]
                return structs.replace(concept, words=(*concept.words, *alike))
            return concept
        # What is said of 寮 may hold for the 独身寮, if the corpus knows of one.
        head = next((own[at:] for at in range(1, len(own)) if own[at:] in lexicon().groups), "")
        if head and len(own) - len(head) >= 2 and self._frequency(own):
            return structs.replace(concept, broader=(*concept.broader, head))
        return concept


def _renamed(entities: frozenset[Entity], became: dict[Entity, Entity]) -> frozenset[Entity]:
    """The `entities` by the names that documents give them; a P that stood alone was that of P-1."""
    if not became:
        return entities
    kept = {became.get(entity, entity) for entity in entities if entity != Entity("letter", "p")}
    return frozenset(kept.union(became.values()))
