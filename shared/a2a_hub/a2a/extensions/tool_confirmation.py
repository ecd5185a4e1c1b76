"""Tool calls that wait for a decision, for people who can only read and write text: the question, the reply, the decision.

They are confirmed one by one: a "yes" is consent to what stands right above it, and to nothing else. A reply that is not clear is
no consent: it is not understood.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI, Spelling, ToolCallConfirmation, write
from a2a_hub.a2a.extensions.tool_updates import Action, Dialect, Option, ToolQuestion, ToolUpdate
from a2a_hub.a2a.model import Message, Part
from a2a_hub.text.catalog import Catalog
from a2a_hub.text.follow_up import is_small_talk
from a2a_hub.text.language import Language, language_of

TOOL_TEXTS = Catalog(Path(__file__).with_suffix(".toml"))
_INDENT = "    "
_WANTS = {each: TOOL_TEXTS[f"wants.{each.name.lower()}"] for each in Action}
_DOING = {each: TOOL_TEXTS[f"doing.{each.name.lower()}"] for each in Action}
_DEFAULT_OPTIONS = (Option("proceed_once", "Allow once"), Option("cancel", "Reject"))
_LASTING = ("proceed_always", "proceed_always_tool", "proceed_always_server", "proceed_always_and_save")
_OPTION_NAMES = {each: TOOL_TEXTS[f"options.{each}"] for each in ("proceed_once", *_LASTING, "cancel")}
_MAX_REPLY_LENGTH = 200
# Ids and names of the choices for a "yes" or a "no". None of them holds longer than once.
_ONCE_IDS = """
proceed_once, allow_once, approve_once, once, proceed, allow, approve, accept, yes, ok, confirm, run, allow once, approve once
"""
_REJECT_IDS = "cancel, reject, reject_once, deny, decline, abort, no, reject once, don't allow"
# Compiled when used: most texts decide on no tool call.
_APART = r"[,.;:!、。\n]+\s*"
_HESITATION = (
    r"^(?:(?:well|wait|actually|(?:on )?second thoughts?|i think|then)(?: |$))*"
    r"(?:やっぱり?|やはり|もう)?、?"
)
_NUMBER = (
    r"(?:(?:option|choice|number|番号|選択肢)\s*|#)?[(\[]?(\d{1,3})[)\].:]?(?:番目?)?"
    r"(?:です|で|でお願いします|をお願いします|を選びます|を選択します|にします)?"
)


def question_text(questions: Sequence[ToolQuestion], agent: str, language: Language) -> str:
    """Return the question about the first of the tool calls."""
    first, *others = questions
    options = options_of(first)
    names = {"agent": agent, "tool": first.tool, "subject": first.subject}
    paragraphs = [_WANTS[first.action][language].format(**names)]
    if first.action is Action.RUN and first.subject not in ("", "."):
        paragraphs[0] += f"\n{TOOL_TEXTS.where[language].format(**names)}"
    if first.body:
        # Indented, so that no line passes for one of the choices.
        paragraphs.append("\n".join(f"{_INDENT}{line}" for line in first.body.split("\n")))
    if first.unseen:
        paragraphs.append(TOOL_TEXTS.unseen[language].format(unseen=first.unseen))
    if others:
        paragraphs.append(TOOL_TEXTS.others[language].format(others=len(others)))
    paragraphs.append(
        "\n".join(f"{number}. {shown_name(option, language)}" for number, option in enumerate(options, 1))
    )
    numbers = {option.id: number for number, option in enumerate(options, 1)}
    how = TOOL_TEXTS.how[language]
    for choice, stands_for in zip(plain_choices(first), (TOOL_TEXTS.yes, TOOL_TEXTS.no), strict=True):
        if choice is not None:
            how += stands_for[language].format(number=numbers[choice])
    return "\n\n".join([*paragraphs, how])


def progress_text(update: ToolUpdate, language: Language) -> str:
    """Return one line about the running tool."""
    return _DOING[update.action][language].format(about=update.about, tool=update.tool).rstrip(": ：")


def confirmation(request: Message, question: ToolQuestion, option_id: str) -> Message:
    """Return the person's message as the agent gets it: their decision."""
    if question.dialect is Dialect.GEMINI_CLI:
        data: dict[str, Any] = {"callId": question.call_id, "outcome": option_id}
        return _with(request, data, extensions=())
    decision = ToolCallConfirmation(tool_call_id=question.call_id, selected_option_id=option_id)
    return _with(request, write(decision, Spelling(question.dialect.value)), extensions=(URI,))


def _with(request: Message, data: dict[str, Any], *, extensions: tuple[str, ...]) -> Message:
    return Message(
        message_id=request.message_id,
        role=request.role,
        parts=(Part(data=data, media_type="application/json"),),
        context_id=request.context_id,
        task_id=request.task_id,
        metadata=request.metadata,
        extensions=extensions,
    )


def options_of(question: ToolQuestion) -> tuple[Option, ...]:
    """Return the choices, in the order of their numbers."""
    return question.options or _DEFAULT_OPTIONS


def shown_name(option: Option, language: Language) -> str:
    """Return the choice's name in the question: in Japanese, followed by the agent's own name if that is English."""
    ours = _OPTION_NAMES[option.id][language] if option.id in _OPTION_NAMES else ""
    if not option.name or language in (Language.EN, language_of(option.name)):
        return option.name or ours or option.id
    return f"{ours} ({option.name})" if ours else option.name


def chosen(reply: str, question: ToolQuestion) -> str | None:
    """Return the id of the choice, None if the reply is not understood.

    A choice that allows more than this once is made by its number or its name, never by a "yes".
    """
    text = _plain(reply[: _MAX_REPLY_LENGTH + 1])
    options = options_of(question)
    if not text or len(reply) > _MAX_REPLY_LENGTH:
        return None
    whole = _one(text, options)
    if whole is not None:
        return whole
    # "Yes, please.": all pieces must agree. Before a "no" people hesitate, and nothing is done for it: "hmm, actually no".
    pieces = [piece for each in re.split(_APART, text) if (piece := each.strip())]
    said = [bare for piece in pieces if (bare := re.sub(_HESITATION, "", _bare(piece)))]
    refusals = [bare for bare in said if bare in _replies("no")]
    if refusals and all(bare in refusals or (is_small_talk(bare) and bare not in _replies("yes")) for bare in said):
        return _one(refusals[0], options)
    choices = {_one(piece, options) for piece in pieces}
    return choices.pop() if len(choices) == 1 else None


def plain_choices(question: ToolQuestion) -> tuple[str | None, str | None]:
    """Return the ids for "yes" and "no"; None if there is none, or more than one."""
    options = options_of(question)
    return _single(options, _words(_ONCE_IDS)), _single(options, _words(_REJECT_IDS))


def _one(text: str, options: tuple[Option, ...]) -> str | None:
    number = re.fullmatch(_NUMBER, text)
    if number:
        place = int(number[1])
        return options[place - 1].id if 1 <= place <= len(options) else None
    bare = _bare(text)
    first, _, rest = bare.partition(" ")
    if rest and any({first, rest} <= _replies(each) for each in ("yes", "no")):
        # "Ok go ahead", without a comma.
        bare = rest
    if bare in _replies("no"):
        # An agent without such a choice does not know this one either, which is no consent.
        return _single(options, _words(_REJECT_IDS)) or "cancel"
    if bare in _replies("yes") and (once := _single(options, _words(_ONCE_IDS))):
        return once
    named = {each.id for each in options if bare in _all_names(each)}
    return named.pop() if len(named) == 1 else None


def _single(options: Iterable[Option], words: frozenset[str]) -> str | None:
    ids = {each.id for each in options if not words.isdisjoint((_bare(each.id), _bare(_plain(each.name))))}
    return ids.pop() if len(ids) == 1 else None


def _all_names(option: Option) -> set[str]:
    ours = _OPTION_NAMES.get(option.id, {}).values()
    return {_bare(_plain(name)) for name in (option.id, option.name, *ours) if name}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'").strip()


def _bare(text: str) -> str:
    """Return the text without quotation marks and final punctuation, with single spaces. A question mark stays: it is no
    decision.
    """
    return " ".join(re.sub(r"""^[\s"'“”「『]+|[\s"'“”」』.,!;:。、~]+$""", "", text).split())


@cache
def _words(*lists: str) -> frozenset[str]:
    return frozenset(_bare(_plain(word)) for words in lists for word in words.split(","))


def _replies(answer: str) -> frozenset[str]:
    return _words(*TOOL_TEXTS[f"replies.{answer}"].values())
