"""Questions on two things or on several levels at once: taken apart into one question on each."""

import re
import unicodedata

_ENGLISH = (
    re.compile(
        r"\b(?:differences?|distinction) (?:is there )?(?:in (?P<about>.+?) )?between (?P<first>.+?) and (?P<second>.+?)[?.]*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bhow (?:does|do|is|are) (?P<first>.+?) (?:differ|different) from (?P<second>.+?)[?.]*$",
        re.IGNORECASE,
    ),
    re.compile(r"\bcompare (?P<first>.+?) (?:and|with|to|against) (?P<second>.+?)[?.]*$", re.IGNORECASE),
    re.compile(
        r"^(?:what is |show )?(?P<first>[\w -]{1,40}?) (?:vs\.?|versus) (?P<second>[\w -]{1,40}?)[?.]*$",
        re.IGNORECASE,
    ),
)
_JAPANESE = (
    re.compile(
        r"(?P<first>[^、。]{1,30}?)(?:と|、)(?P<second>[^、。]{1,30}?)(?:と)?(?:の(?:違い|差|相違点?|比較)|を比較|を比べ|(?:で)?は?(?:どう|どのように|何が)(?:違|異な))"
    ),
    re.compile(r"(?P<first>[^、。]{1,30}?)は(?P<second>[^、。]{1,30}?)と(?:どう|どのように|何が)(?:違|異な)"),
)
_DIFFERS = r"(?:どう|どのように|どのくらい|どれくらい|どれだけ|(?P<how>何\S{1,3}?|いくら))(?:違|異な|変わ|差が)"
_JAPANESE_ABOUT = (
    re.compile(
        rf"(?P<first>[^、。は]{{1,30}}?)と(?P<second>[^、。は]{{1,30}}?)と?では?、?(?P<about>[^、。]{{2,40}}?)[はが]、?{_DIFFERS}"
    ),
    re.compile(
        rf"(?P<about>[^、。]{{2,40}}?)は、?(?P<first>[^、。]{{1,30}}?)と(?P<second>[^、。]{{1,30}}?)と?では?、?{_DIFFERS}"
    ),
)
_ARTICLE = re.compile(r"^(?:the|a|an|our|your|my) ", re.IGNORECASE)
_ONE_WORD = re.compile(r"^(?:[\w-]+|[\w-]+ \d+)$")


def sides(text: str) -> tuple[str, str] | None:
    """The two questions that a comparison asks at once; None for a question that compares nothing.

    What only the last side names holds for both: "P-1 and P-2 deadlines" are the P-1 deadlines and the P-2 deadlines.
    """
    text = unicodedata.normalize("NFKC", text).strip()
    for pattern in _ENGLISH:
        if match := pattern.search(text):
            first, second = (_ARTICLE.sub("", match[name].strip()) for name in ("first", "second"))
            about = (match.groupdict().get("about") or "").strip()
            words = second.split()
            if about:
                return f"{first} {about}", f"{second} {about}"
            if len(words) > 1 and _ONE_WORD.match(first) and not _ONE_WORD.match(second):
                width = len(first.split())
                return f"{first} {' '.join(words[width:])}", second
            return first, second
    for pattern in _JAPANESE_ABOUT:
        if match := pattern.search(text):
            asked = f"{match['about'].strip()}{'は' + match['how'] if match['how'] else ''}"
            return f"{match['first'].strip()}の{asked}", f"{match['second'].strip()}の{asked}"
    for pattern in _JAPANESE:
        if match := pattern.search(text):
            first, second = match["first"].strip(), match["second"].strip()
            if "の" in second and "の" not in first:
                return f"{first}の{second.split('の', 1)[1]}", second
            return first, second
    return None


_LEVEL = r"(?<![A-Za-z0-9-])(?:[A-Za-z]{1,3}-?|(?:severity|sev|priority|level|重大度|優先度|レベル)[ -]?)\d(?![\dA-Za-z]|\.\d)"
_SEVERAL = re.compile(
    rf"(?:\b(?:both|from|each of|all of) )?(?P<first>{_LEVEL})"
    rf"(?:(?P<range> ?(?:~|〜|-|–|to|through|から) ?)(?P<last>(?:{_LEVEL}|(?<=[~〜–-])\d(?!\d)))(?:まで|(?!に))"
    rf"|(?P<more>(?: ?(?:, and|, or|,|、|・|and|or|&|と|や|および|及び) ?{_LEVEL})+))"
    r"(?:の?(?:それぞれ|すべて|全て|各々))?",
    re.IGNORECASE,
)
_EACH_LEVEL = re.compile(_LEVEL, re.IGNORECASE)
# From one level to another: not of both.
_CHANGED = re.compile(
    r"\b(?:rais|lower|upgrad|downgrad|chang|mov|turn|becom|escalat|promot|reclass)\w*|引き上げ|引き下げ|変更|格上げ|格下げ|移行|切り替",
    re.IGNORECASE,
)
_MOST_LEVELS = 6


def for_each_level(text: str) -> tuple[str, ...]:
    """The questions on one level each that a question on several levels asks: "P-1 to P-3", 「P-1とP-2」; else none."""
    text = unicodedata.normalize("NFKC", text).strip()
    match = _SEVERAL.search(text)
    if not match or _CHANGED.search(text):
        return ()
    named = [match["first"], *_EACH_LEVEL.findall(match["more"] or "")]
    name, low = _name_and_number(named[0])
    if any(_name_and_number(other)[0].casefold() != name.casefold() for other in named):
        return ()
    if match["range"]:
        last_name, high = _name_and_number(match["last"])
        if last_name.casefold() not in ("", name.casefold()):
            return ()
        named = [f"{name}{number}" for number in range(low, high + 1)]
    if not 1 < len(named) <= _MOST_LEVELS:
        return ()
    return tuple(f"{text[: match.start()]}{each}{text[match.end() :]}" for each in named)


def _name_and_number(level: str) -> tuple[str, int]:
    """`P-2` → `P-`, 2."""
    return level[:-1], int(level[-1])
