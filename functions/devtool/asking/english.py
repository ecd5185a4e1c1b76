"""The English sentences that are understood."""

from __future__ import annotations

import re
from functools import cache

from functions.devtool.asking.patterns import CONTENT, FILE, PATH, TEXT, Kind, Table
from functions.devtool.asking.quoted import QUOTED

_COURTESY = (
    r"(?:(?:please|ok(?:ay)?|now|hi|hello|hey|then|can you|could you|would you|will you|can i|let me|just|go ahead and"
    r"|i(?: would|'d|’d)? (?:like|want|need)(?: you)? to|kindly)[,:]? )*"
)
_END = r"(?:,? (?:please|for me|now|thanks|thank you))*[ .!?]*"
_THE = r"(?:the |a |an |my |our )?"
_NAMED = rf"{_THE}(?:new )?(?:text )?(?:file )?(?:called |named )?"
_IN = r"(?:in|inside|under|within|of|from)"
_FOLDER = rf"(?: (?:there )?{_IN} {_THE}(?:folder |directory )?{PATH}(?: folder| directory)?| here)?"
_ALL_FILES = r"(?:(?:all |the |my |our )*(?:files|folders|directories|file list|files and folders))"
_HELD = r"(?: the)?(?: (?:following|whole|new))?(?: (?:content|contents|text|line|words|code))?:?"
_WITH = r"(?: (?:with|containing|to contain|to be|(?:that|which) (?:contains|says|holds)|saying))?"
_STANDS = r"(?:used|defined|mentioned|appear|occur|found|called|stand)"
_WORD = rf"{_THE}(?:text |word |string |all )?(?:occurrences of )?{TEXT}"
_OLD_NEW = (
    rf"(?:the (?:word |text |string |line )?)?(?P<old>{QUOTED}|\S+) (?:with|by|to|into|for) (?P<new>{QUOTED}|\S+?)"
)

ROOT = re.compile(
    r"\.|\.?/|here|(?:the |this |my |our )?(?:workspace|project|repository|folder|directory|root)",
    re.IGNORECASE,
)

_TABLE = (
    (
        Kind.HELP,
        r"help|/\?|\?|what can (?:you|i) do(?: here)?|how (?:do|does) (?:you|this|it) work|what are you",
    ),
    (Kind.LIST, rf"(?:list|show|display|give|print)(?: me)?(?: a list of)? {_ALL_FILES}{_FOLDER}"),
    (
        Kind.LIST,
        rf"(?:what|which) (?:files|folders)(?: and folders)?(?: are(?: there)?| do (?:we|you|i) have| exist)?{_FOLDER}",
    ),
    (Kind.LIST, rf"what(?:'s|’s| is) {_IN} {_THE}(?:folder|directory) {PATH}|what(?:'s|’s| is) here"),
    (Kind.LIST, rf"what(?:'s|’s| is)(?: there)? {_IN} (?P<path>{ROOT.pattern})"),
    (Kind.LIST, rf"(?:list|show|display)(?: me)?(?: the)? contents of {_THE}(?:folder|directory) {PATH}"),
    (Kind.LIST, rf"list(?: the)? contents(?: of {_THE}{PATH})?|list everything"),
    (Kind.LIST, rf"list (?:the )?(?:(?:folder|directory)|everything {_IN}) {_THE}{PATH}"),
    (Kind.LIST, rf"(?:show|give)(?: me)? (?:the |a )?(?:folder|directory|file) listing{_FOLDER}"),
    (Kind.LIST, rf"(?:ls|dir)(?: {PATH})?"),
    (
        Kind.REPLACE,
        rf"(?:replace|change|substitute)(?: all| every)?(?: occurrences? of)? {_OLD_NEW} {_IN} {_NAMED}{PATH}",
    ),
    (
        Kind.REPLACE,
        rf"in {_NAMED}{PATH},? (?:please )?(?:replace|change|substitute)(?: all)?(?: occurrences of)? {_OLD_NEW}",
    ),
    (Kind.ADD, rf"(?:add|append){_HELD} (?P<line>{QUOTED}) (?:to|at) (?:the end of )?{_NAMED}{PATH}"),
    (
        Kind.WRITE,
        rf"(?:create|make|write|add) (?:a |an )?(?:new )?empty (?:text )?file (?:called |named )?{PATH}",
    ),
    (
        Kind.WRITE,
        rf"(?:create|make|add|write|overwrite|save|fill) {_NAMED}{PATH}:?{_WITH}{_HELD} {CONTENT}(?: in it| inside)?",
    ),
    (
        Kind.WRITE,
        rf"(?:replace|set) the (?:whole |entire )?contents? of {_NAMED}{PATH} (?:with|by|to){_HELD} {CONTENT}",
    ),
    (Kind.WRITE, rf"(?:write|save|put|store){_HELD} {CONTENT} (?:to|into|in|as) {_NAMED}{PATH}"),
    (Kind.SEARCH, rf"(?:(?:search|grep)(?: (?:in|through))?|look (?:in|through)) {_THE}{PATH} for {_WORD}"),
    (Kind.SEARCH, rf"(?:search|look)(?: {_ALL_FILES})? for {_WORD}{_FOLDER}"),
    (Kind.SEARCH, rf"(?:search|grep)(?: for)? (?!for\b){TEXT}{_FOLDER}"),
    # Without quotes, what is to be found may be anything: "find the bug".
    (Kind.SEARCH, rf"find(?: {_THE}(?:text|word|string))? (?P<text>{QUOTED}){_FOLDER}"),
    (Kind.SEARCH, rf"find (?:all |the |every )?(?:occurrences?|mentions?) of {TEXT}{_FOLDER}"),
    (Kind.SEARCH, rf"(?:where|in (?:which|what) files?) (?:is|are|does|do) {TEXT} {_STANDS}"),
    (
        Kind.SEARCH,
        rf"(?:which|what) files? (?:contains?|mentions?|uses?|holds?|has|have|includes?) {_THE}(?:text |word )?{TEXT}",
    ),
    (Kind.READ, rf"(?:read|cat|print|type)(?: me| out)?(?: the)?(?: contents? of)? {_NAMED}{PATH}"),
    (Kind.READ, rf"(?:show|open|display|view|see)(?: me)?(?: the)?(?: contents? of)? {_NAMED}{FILE}"),
    (Kind.READ, rf"(?:show|open|display|view)(?: me)? the file {PATH}"),
    (Kind.READ, rf"what(?:'s|’s| is)(?: written)? {_IN} {_NAMED}{FILE}"),
    (Kind.READ, rf"what does {_NAMED}{FILE} (?:say|contain|hold|look like)"),
)
# A full stop at the end may be an argument; one behind a word is none.
_COMMANDS = (
    r"(?:run|execute|start) (?:the )?(?:command|program):? (?P<command>.+?)",
    r"(?:run|execute):? (?P<command>(?!(?:the|a|an|my|all|some|it|this|that|them|our|every\w*)\b).+?)",
    r"\$ ?(?P<command>.+?)",
)


@cache
def table() -> Table:
    """The patterns, compiled for the first sentence."""
    return [
        *((kind, _compiled(f"(?:{each}){_END}")) for kind, each in _TABLE),
        *((Kind.RUN, _compiled(rf"{each}(?:,? please)?(?:(?<=[\w\ue001])[.!?])?")) for each in _COMMANDS),
    ]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"{_COURTESY}{pattern}", re.IGNORECASE)
