"""Text to words: normal form, light English stems, Japanese bigrams. Index and questions share it."""

import re
import unicodedata
from functools import lru_cache
from operator import add

from msgspec import Struct

from functions.docqa.vocabulary.numerals import months_between, with_digits

KANJI = r"\u3400-\u4dbf\u4e00-\u9fff々〆ヶ"
KATAKANA = r"\u30a1-\u30fa\u30fc-\u30ff"
HIRAGANA = r"\u3041-\u309f"

# Soft hyphens and their like only say where a line may break.
_ALIKE = str.maketrans(
    dict.fromkeys("‐‑‒–—―−", "-") | {"’": "'", "‘": "'"} | dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")
)
_ACCENTED = re.compile("[\u00c0-\u024f]")
_ACCENT = re.compile("[\u0300-\u036f]")
_UNLIKE = re.compile("[‐‑‒–—―−’‘\u00ad\u200b\u2060\ufeff]")
_MARKUP = re.compile(r"\*\*|__|`|!?\[([^\]]{0,300})\]\([^)]{0,2000}\)|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])")
# A line of Japanese goes on in the next one without a space.
_WRAPPED = re.compile(r"(?<=[\u3000-\u9fff\uff01-\uff60])[ \t\r]*\n\s*(?=[\u3000-\u9fff\uff01-\uff60])")
_CODE = re.compile(r"(?<![a-z0-9])([a-z]{1,6})-(\d{1,5}[a-z]?)(?![a-z0-9])")
# One character or class first where a whole text is looked through: that is what a scan is fast at.
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3})")
_TOKEN = re.compile(rf"\d+\.\d+|[a-z0-9\u00c0-\u024f]+(?:'[a-z]+)?|[{KANJI}{KATAKANA}{HIRAGANA}]+")
_JAPANESE = re.compile(rf"[{KANJI}{KATAKANA}{HIRAGANA}]")
_JAPANESE_RUN = re.compile(rf"[{KANJI}{KATAKANA}{HIRAGANA}]+")
_IRREGULAR = dict(
    pair.split("-")
    for pair in [
        "kept-keep",
        "told-tell",
        "sent-send",
        "held-hold",
        "paid-pay",
        "lost-lose",
        "stolen-steal",
        "gave-give",
        "given-give",
        "made-make",
        "taken-take",
        "took-take",
        "bought-buy",
        "brought-bring",
        "found-find",
        "built-build",
        "written-write",
        "wrote-write",
        "worn-wear",
        "chosen-choose",
        "broken-break",
        "begun-begin",
        "began-begin",
        "got-get",
        "met-meet",
        "seen-see",
        "sold-sell",
        "spent-spend",
        "taught-teach",
        "known-know",
        "shown-show",
        "drawn-draw",
        "driven-drive",
        "eaten-eat",
        "drunk-drink",
        "spoken-speak",
        "lent-lend",
        "left-leave",
        "grown-grow",
        "thrown-throw",
        "hidden-hide",
        "borne-bear",
        "clothes-garment",
        "clothing-garment",
        "people-person",
        "children-child",
    ]
)
# What would have the stem of another word: to care is no car, and the evening not even.
_APART = {
    form: word
    for word, forms in {
        "care": "care cares cared caring",
        "die": "die dies died dying",
        "evening": "evening evenings",
        "news": "news",
        "note": "note notes noted noting",
        "plane": "plane planes",
        "quite": "quite",
        "ride": "ride rides riding ridden",
    }.items()
    for form in forms.split()
}
_LOANWORD = re.compile(rf"[{KATAKANA}][{KATAKANA}]{{2,}}")
# SchemaRegistryDown is asked about as "the schema registry".
_HUMPED = re.compile(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)+")
_HUMP = re.compile(r"[A-Z](?<=[a-z][A-Z])")
_VOWEL = re.compile(r"[aeiouy]")


class View(Struct, frozen=True):
    """A text made ready for matching: `words` are stems between single spaces, `text` is without white space."""

    words: str
    text: str


def plain(text: str) -> str:
    """`text` without Markdown emphasis, code marks, link targets and the line breaks of Japanese, white space collapsed."""
    return " ".join(_unmarked(text).split())


def _unmarked(text: str) -> str:
    if "\n" in text and not text.isascii():
        text = _WRAPPED.sub("", text)
    if "*" in text or "_" in text or "`" in text or "[" in text:
        return _MARKUP.sub(lambda match: match.group(1) or "", text)
    return text


def normalise(text: str) -> str:
    """NFKC, case-folded, one kind of hyphen, no soft hyphens, no thousands separators, no accents on Latin letters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        if _ACCENTED.search(text):
            text = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
        if _UNLIKE.search(text):
            text = text.translate(_ALIKE)
        text = with_digits(text)
    text = text.casefold()
    return _THOUSANDS.sub("", text) if "," in text else text


def is_japanese(text: str) -> bool:
    """Whether any character is kanji or kana."""
    return _JAPANESE.search(text) is not None


def language_of(text: str) -> str:
    """`"ja"` when at least a tenth of the letters are Japanese, else `"en"`."""
    sample = text[:1500]
    if sample.isascii():
        return "en"
    japanese = sum(map(len, _JAPANESE_RUN.findall(sample))) * 10
    if not 0 < japanese < len(sample):  # then the letters need not be counted
        return "ja" if japanese else "en"
    return "ja" if japanese >= sum(map(str.isalpha, sample)) else "en"


def tokens(normal: str) -> list[str]:
    """The raw tokens of a normalised text: words, numbers, codes such as `p1`, and runs of Japanese."""
    return _TOKEN.findall(_CODE.sub(r"\1\2", normal) if "-" in normal else normal)


def index_text(text: str) -> str:
    """What is written into the full-text index: stems, and each Japanese run as its bigrams and last character."""
    text = _unmarked(text)
    if text.isascii():
        return " ".join(map(_stems, text.split()))
    normal = normalise(_with_parts(text))
    out: list[str] = []
    for token in tokens(normal):
        if token[0] < "\u3000":
            out.append(stem(token))
        else:
            out += [token[at : at + 2] for at in range(len(token))]
    out += _LOANWORD.findall(normal)
    return " ".join(out)


@lru_cache(maxsize=16384)
def _stems(piece: str) -> str:
    """What is written into the index for a piece of English between white space: `(re-booked,` → `re book`."""
    return " ".join(map(stem, tokens(normalise(_with_parts(piece)))))


def _with_parts(text: str) -> str:
    """`text` with the words that a name such as CamelCase is made of behind it."""
    if not _HUMP.search(text):
        return text
    return _HUMPED.sub(lambda match: match.group() + " " + _HUMP.sub(r" \g<0>", match.group()), text)


def bigrams(run: str) -> list[str]:
    """Every two neighbouring characters: `検知後` → `検知`, `知後`."""
    return list(map(add, run, run[1:]))


def view(text: str) -> View:
    """`text` ready for matching words (English) and substrings (Japanese)."""
    normal = normalise(_with_parts(plain(text)))
    if between := months_between(normal):
        normal = f"{normal} {between}"
    words = [stem(token) for token in tokens(normal) if token[0] < "\u3000"]
    return View(f" {' '.join(words)} ", "".join(normal.split()))


def phrase(text: str) -> str:
    """An English phrase as `View.words` holds it, with a space at each end."""
    return f" {' '.join(stem(token) for token in tokens(normalise(text)))} "


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light stem: plurals, -ed, -ing and the final -e go, a final -y is -i. Numbers and codes stay."""
    if "'" in word:
        word = word.split("'", 1)[0]
    if word in _APART:
        return _APART[word]
    word = _IRREGULAR.get(word, word)
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= 3 and _VOWEL.search(base) and not word.endswith("eed"):
            doubled = base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if doubled else base
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 2 and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word


_DERIVED = re.compile(
    r"(?:isation|ization|ational|ation|ition|ement|ment|ance|ence|anc|enc|ness|abl|ibl|iti|ity|iv|ion|ous|ful|ant|ent"
    r"|at|is|iz|al|li|ly|i|y|e)$"
)
_LEAST_ROOT = 5


@lru_cache(maxsize=65536)
def root(stemmed: str) -> str:
    """What a stem shares with the words derived from it: `calibrat` and `calibration` → `calibr`."""
    while stemmed.isalpha() and (match := _DERIVED.search(stemmed)) and match.start() >= _LEAST_ROOT:
        stemmed = stemmed[: match.start()]
    return stemmed
