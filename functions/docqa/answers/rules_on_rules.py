"""Sentences of rules that speak of rules and not of what those hold for: when they begin, what else is to be read into them."""

import re
from functools import lru_cache

from functions.docqa.answers.occasions import has
from functions.docqa.vocabulary.words import normalise

_ON_RULES = re.compile(
    r"準用する|読み?替え|別に(?:これを)?定める|みなす。?$|の(?:規定の)?適用については|(?:施行|適用|実施)する。?$|廃止する。?$"
)
_ASKED = re.compile(
    r"旧|以前|版|でした|だった|準用|読み?替|みな|適用|施行|実施|廃止|いつから|附則|経過措置|改[正定]|別に定め"
)
_OF_PURPOSE = re.compile(
    r"^\W*(?:第\d+条\W*(?:\([^()]*\))?\W*)?(?:この|本)[^\s、。は]{1,8}は、?.*(?:を定める|について定める|を目的とする)(?:ものとする|ものである)?。?$"
    r"|^\W*this (?:[\w-]+ )?(?:policy|schedule|document|standard|guide|handbook|procedure|page|manual) "
    r"(?:says|describes|sets out|defines|explains|lays down|outlines|covers)\b"
)
_PURPOSE_ASKED = re.compile(
    r"目的|何のため|何を定め|どんな(?:規|文書|内容)|何について|とは|\b(?:purpose|about|cover|what (?:is|does) (?:the|this))\b"
)
_TRANSITIONAL = re.compile(r"附 ?則")
_ON_THE_RULE_BEFORE = re.compile(
    r"\W*(?:[\d(]{1,3}[.)）]? ?)?(?:前[\d二三四五六七各]{0,2}[項条号]|第\d+[項条](?:第\d+項)?)(?:[^。、]{0,12})?"
    r"(?:に(?:かかわらず|より|よらず)|によらず|の場合|については)"
)
_LESS, _LESS_AFTER = 0.12, 0.06


def less_telling(asked: str, normal: str, section: tuple[str, ...]) -> float:
    """What is taken off the score of a sentence that a rule has for its own sake, unless the question is about that."""
    if asked.isascii() or normal.isascii() or _asks_for_rules(asked):
        return 0.0
    transitional = any(_TRANSITIONAL.match(heading) for heading in section)
    less = _LESS * (transitional + (_ON_RULES.search(normal) is not None))
    return less + (_LESS_AFTER if _ON_THE_RULE_BEFORE.match(normal) else 0.0)


@lru_cache(maxsize=256)
def _asks_for_rules(asked: str) -> bool:
    return _ASKED.search(normalise(asked)) is not None


def says_the_purpose(asked: str, normal: str) -> bool:
    """Whether a sentence only says what its document is for, unless the question asks for that."""
    return has(_OF_PURPOSE, normal) and not has(_PURPOSE_ASKED, asked)
