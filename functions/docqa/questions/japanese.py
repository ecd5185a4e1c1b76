"""Runs of Japanese to concepts: words of the lexicon, and what stands between them by its script."""

import re
from collections.abc import Iterator

from msgspec import structs

from functions.docqa.questions.concept import Concept, Role
from functions.docqa.vocabulary.lexicon import LONGEST_JAPANESE, Lexicon
from functions.docqa.vocabulary.words import HIRAGANA, KANJI, KATAKANA

_KANJI_RUN = re.compile(rf"[{KANJI}]+")
_KATAKANA_RUN = re.compile(rf"[{KATAKANA}]{{2,}}")
_ONLY_HIRAGANA = re.compile(rf"[{HIRAGANA}]+$")
# おむつは何枚…, but not それは何….
_HIRAGANA_NOUN = re.compile(
    rf"(?!(?:これ|それ|あれ|どれ|どこ|ここ|そこ|いつ|だれ|どなた|なに|なぜ|いくら|すべて|みんな|わたし|あなた|もの|こと|とき|ため|ところ|どちら|はい|いいえ))"
    rf"[{HIRAGANA}]{{3,6}}?(?=[はがをの](?![{HIRAGANA}]{{3}}))"
)
_SURU = re.compile(r"(?:する|した|して|され|します|しま|しな|すれ|せ|でき)")
_TWO_WORDS = 4
_LONG_LOANWORD = 4
_INFLECTION = re.compile(r"(?:れば|れる|る|った|って|たい|ない|なければ|られ|ろ|ります|りた)")
# 漏れたら, 壊れたかもしれないとき
_IN_A_CASE = re.compile(
    rf"(?:[{HIRAGANA}]{{0,4}}?[ただ](?:ら(?:(?![{HIRAGANA}])|(?=いつ|どう|どこ|どの|だれ))|(?:かもしれない)?(?:とき|時|場合(?!の))))"
)
_COMPOUND_VERB = re.compile(rf"[{KANJI}][{HIRAGANA}][{KANJI}]$")  # 申し込|めば, 作り直|す
_VERB_ENDING = re.compile(
    r"[うくすつぬむるわかさたなまらいきしちにみりえけせてねめれおこそとのもろっん](?!の|は|が|を)"
)
_NO_VERB_ENDS_SO = frozenset("もうつまんくすぱばごろとど")  # 子ども
_AFTER_A_NOUN = re.compile(r"[はがをも]|の(?![がはをにも])|には")
_PARTICLE = re.compile(r"[のはがをにでともへや]|から|まで|より")


def japanese_concepts(run: str, offset: int, words: Lexicon) -> Iterator[tuple[int, int, Concept]]:
    """The concepts of one run of Japanese that starts at `offset`, each with its span."""
    if offset == 0 and (noun := _HIRAGANA_NOUN.match(run)) and not _known(run, 0, words):
        name = noun.group()
        yield 0, len(name), Concept(surface=name, role=Role.NOUN, own=(name,), texts=(name,))
    at = unknown = 0
    while at < len(run):
        key = _known(run, at, words)
        if not key:
            at += 1
            continue
        yield from _unknown(run[unknown:at], offset + unknown, run[at:], words, suffix=unknown > 0)
        after = run[at + len(key) :]
        concept = known_japanese(key, _japanese_role(key, after, words), words)
        if concept.role is Role.ACTION and _IN_A_CASE.match(after):
            concept = structs.replace(concept, vital=True)
        yield offset + at, offset + at + len(key), concept
        at += len(key)
        unknown = at
    yield from _unknown(run[unknown:], offset + unknown, "", words, suffix=unknown > 0)


def known_japanese(key: str, role: Role, words: Lexicon) -> Concept:
    """The concept of a Japanese word that stands in the lexicon."""
    alternatives = words.groups.get(key)
    return Concept(
        surface=key,
        role=role,
        own=(key,),
        words=alternatives.words if alternatives else (),
        texts=alternatives.texts if alternatives else (key,),
        broader=words.broader.get(key, ()),
        parts=_halves(key),
        kinds=words.kinds_of(key),
        known=alternatives is not None,
    )


def _halves(key: str) -> tuple[str, ...]:
    """The two words that four kanji are: 経費精算 → 経費, 精算."""
    return (key[:2], key[2:]) if len(key) == _TWO_WORDS and _KANJI_RUN.fullmatch(key) else ()


def _known(run: str, at: int, words: Lexicon) -> str:
    for size in range(min(LONGEST_JAPANESE, len(run) - at), 0, -1):
        key = run[at : at + size]
        listed = key in words.groups or key in words.attributes or key in words.broader
        if not listed and not (size > 1 and key in words.light):
            continue
        before, after = run[at - 1 : at] if at else "", run[at + size : at + size + 1]
        if size == 1 and (_KANJI_RUN.match(before) or _KANJI_RUN.match(after) or _ONLY_HIRAGANA.match(key)):
            continue
        if _cuts(before, key[0]) or _cuts(key[-1], after):
            continue
        return key
    return ""


def _cuts(before: str, first: str) -> bool:
    """Whether a boundary between the two characters would cut through a run of katakana."""
    return (
        bool(before)
        and re.match(rf"[{KATAKANA}]", before) is not None
        and re.match(rf"[{KATAKANA}]", first) is not None
    )


def _japanese_role(key: str, after: str, words: Lexicon) -> Role:
    if key in words.light:
        return Role.LIGHT
    if _SURU.match(after) or _INFLECTION.match(after) or (_COMPOUND_VERB.search(key) and _VERB_ENDING.match(after)):
        return Role.ACTION
    if key[-1] in _NO_VERB_ENDS_SO and _AFTER_A_NOUN.match(after):
        return Role.NOUN
    return Role.ACTION if re.match(rf"[{HIRAGANA}]", key[-1]) else Role.NOUN


def _unknown(
    text: str, offset: int, following: str, words: Lexicon, *, suffix: bool
) -> Iterator[tuple[int, int, Concept]]:
    for match in re.finditer(f"{_KANJI_RUN.pattern}|{_KATAKANA_RUN.pattern}", text):
        term = match.group()
        whole = ""
        after = (text + following)[match.end() : match.end() + 2]
        start, end = offset + match.start(), offset + match.end()
        kanji = _KANJI_RUN.match(term) is not None
        if kanji and len(term) >= 3 and term[-1] in words.attributes and after[:1] not in words.attributes:
            # 受験料 asks for an amount, and it must be that of the 受験; best where 受験料 itself is said.
            last = term[-1]
            kinds = words.kinds_of(last)
            yield (
                end - 1,
                end,
                Concept(surface=last, role=Role.LIGHT, own=(last,), texts=(last,), kinds=kinds),
            )
            whole, term, end = term, term[:-1], end - 1
        touches = suffix and match.start() == 0
        prefix = not touches and match.end() == len(text) and bool(_KANJI_RUN.match(following))
        if term in words.light or (len(term) == 1 and touches):
            role = Role.LIGHT
        elif kanji and len(term) == 1 and prefix:
            role = Role.NOUN  # 歯学部 is not just any 学部
        elif kanji and ((len(term) == 1 and not _PARTICLE.match(after)) or _SURU.match(after)):
            role = Role.ACTION
        else:
            role = Role.NOUN
        if not kanji and not whole and len(term) >= _LONG_LOANWORD and term[-1] == "ー":
            term = term[:-1]  # メモリー and メモリ
        parts = tuple(term[at : at + 2] for at in range(0, len(term), 2)) if kanji and len(term) >= 4 else ()
        yield (
            start,
            end,
            Concept(
                surface=term,
                role=role,
                own=(whole or term,),
                texts=(whole or term,),
                broader=(term,) if whole else (),
                parts=parts,
                loose=len(parts) > 2,
            ),
        )
