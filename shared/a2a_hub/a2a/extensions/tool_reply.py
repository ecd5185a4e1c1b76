"""Reads a person's reply to a question about a tool call. What is not clear is no consent: it is not understood."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from a2a_hub.a2a.extensions.tool_options import names_of, options_of
from a2a_hub.a2a.extensions.tool_state import Option, ToolQuestion

_LONGEST = 200
_YES = """
yes, y, yep, yeah, ok, okay, sure, allow, allow it, approve, approved, accept, agree, agreed, confirm, confirmed,
proceed, go ahead, go for it, do it, please do, please, yes please, run it, allow once, once, just once, only once,
this time only, はい, うん, ええ, オーケー, オッケー, 許可, 許可する, 許可します, 許可して, 許可してください, 承認,
承認する, 承認します, 同意, 同意します, 実行, 実行する, 実行します, 実行して, 実行してください, お願い, お願いします,
おねがいします, どうぞ, やって, やってください, 進めて, 進めてください, 続けて, 続けてください, 続行, いいよ,
いいですよ, 今回だけ, 今回のみ, 一度だけ, 一回だけ, 1回だけ, 一度だけ許可
"""
_NO = """
no, n, nope, nah, no thanks, no thank you, cancel, cancel it, reject, reject it, deny, denied, decline, refuse, stop,
stop it, abort, skip, skip it, don't, do not, don't do it, do not do it, please don't, never, never mind, don't allow,
do not allow, いいえ, いや, いえ, だめ, ダメ, 駄目, だめです, ダメです, 駄目です, やめて, やめる, やめます,
やめてください, 止めて, 止めてください, 中止, 中止する, 中止して, 中止してください, キャンセル, キャンセルする,
キャンセルします, キャンセルして, キャンセルしてください, 取り消し, 取消, 取り消して, 取り消してください, 拒否,
拒否する, 拒否します, 拒否して, 却下, 却下します, 不許可, 許可しない, 許可しません, 許可しないで, 実行しない,
実行しません, 実行しないで, 実行しないでください, しないで, しないでください, ストップ, 不要, 不要です
"""
# The ids and names of the choices that a "yes" or a "no" stands for. None that holds longer than once is among them.
_ONCE = """
proceed_once, allow_once, approve_once, once, proceed, allow, approve, accept, yes, ok, confirm, run, allow once, approve once
"""
_REJECT = "cancel, reject, reject_once, deny, decline, abort, no, reject once, don't allow"
_APART = re.compile(r"[,.;:!、。\n]+\s*")
_NUMBER = re.compile(
    r"(?:(?:option|choice|number|番号|選択肢)\s*|#)?[(\[]?(\d{1,3})[)\].:]?(?:番目?)?"
    r"(?:です|で|でお願いします|をお願いします|を選びます|を選択します|にします)?"
)


def chosen(reply: str, question: ToolQuestion) -> str | None:
    """The id of the choice; None where the reply is not understood. What allows more than this once is chosen by its number or
    its name, never by a "yes".
    """
    text = _plain(reply[: _LONGEST + 1])
    options = options_of(question)
    if not text or len(reply) > _LONGEST:
        return None
    whole = _one(text, options)
    if whole is not None:
        return whole
    # "Yes, please.": each piece has to say the same.
    said = {_one(piece, options) for each in _APART.split(text) if (piece := each.strip())}
    return said.pop() if len(said) == 1 else None


def plain_choices(question: ToolQuestion) -> tuple[str | None, str | None]:
    """The ids that "yes" and "no" stand for; None where there is none, or more than one."""
    options = options_of(question)
    return _single(options, _ONCE_WORDS), _single(options, _REJECT_WORDS)


def _one(text: str, options: tuple[Option, ...]) -> str | None:
    number = _NUMBER.fullmatch(text)
    if number:
        place = int(number[1])
        return options[place - 1].id if 1 <= place <= len(options) else None
    bare = _bare(text)
    if bare in _NO_WORDS:
        # An agent that has no such choice does not know this one either, which is no consent.
        return _single(options, _REJECT_WORDS) or "cancel"
    if bare in _YES_WORDS and (once := _single(options, _ONCE_WORDS)):
        return once
    named = {each.id for each in options if bare in _all_names(each)}
    return named.pop() if len(named) == 1 else None


def _single(options: Iterable[Option], words: frozenset[str]) -> str | None:
    ids = {each.id for each in options if not words.isdisjoint((_bare(each.id), _bare(_plain(each.name))))}
    return ids.pop() if len(ids) == 1 else None


def _all_names(option: Option) -> set[str]:
    return {_bare(_plain(name)) for name in (option.id, *names_of(option))}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'").strip()


def _bare(text: str) -> str:
    """Without quotation marks and what ends a sentence, the spaces single. A question mark stays: who asks has not decided."""
    return " ".join(re.sub(r"""^[\s"'“”「『]+|[\s"'“”」』.,!;:。、~]+$""", "", text).split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_bare(_plain(word)) for word in text.split(",") if word.strip())


_YES_WORDS, _NO_WORDS, _ONCE_WORDS, _REJECT_WORDS = map(_words, (_YES, _NO, _ONCE, _REJECT))
