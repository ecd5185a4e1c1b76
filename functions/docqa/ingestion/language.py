"""The language of a text, and its normal form for reading dates and titles."""

import re

from a2a_hub.text.normalization import compose

_JAPANESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〆ヶ\u30a1-\u30fa\u30fc-\u30ff\u3041-\u309f]")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-"))
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_ERA_YEAR = re.compile(r"(令和|平成|昭和)\s*(\d{1,2}|元)\s*年")
_SAMPLE = 3_000


def language_of(text: str) -> str:
    """Return "ja" when at least a tenth of the letters are Japanese, else "en"."""
    sample = text[:_SAMPLE]
    japanese = len(_JAPANESE.findall(sample))
    return "ja" if japanese and japanese * 10 >= sum(map(str.isalpha, sample)) else "en"


def folded(text: str) -> str:
    """Return `text` in NFKC and folded case, with one kind of hyphen, and years of Japanese eras as ours; lines are kept."""
    normal = compose(text).translate(_DASHES).casefold()
    return _ERA_YEAR.sub(lambda match: f"{_western(match)}年", normal) if "年" in normal else normal


def _western(match: re.Match[str]) -> int:
    return _ERAS[match[1]] + (1 if match[2] == "元" else int(match[2]))
