"""Decides by rules: a text that is a request of a known form is done; of any other it is said that it was not understood."""

from __future__ import annotations

from collections.abc import Generator

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions.development_tool import AgentThought
from a2a_hub.text.language import Language
from functions.devtool.asking import slash
from functions.devtool.asking.patterns import Help
from functions.devtool.asking.slash import Wrong
from functions.devtool.asking.understanding import understood
from functions.devtool.planner import Act, Decision, Say
from functions.devtool.state import Asked, Returned, State
from functions.devtool.texts import Key, say


class Rules:
    """A `Mind` without a model: one step, whose result is the answer."""

    @property
    def model(self) -> str:
        """None."""
        return ""

    def decide(self, state: State, call: Call) -> Generator[AgentThought, None, Decision]:  # noqa: ARG002 - the seam's
        """See `Mind.decide`."""
        yield from ()
        match state.dialogue[-1]:
            case Returned(text=text):
                return Say(text)
            case Asked(text=text):
                return decided(text, state.language) or Say(say(Key.NOT_UNDERSTOOD, state.language))
            case _:
                return Say(say(Key.WITHOUT_ANSWER, state.language))


def decided(text: str, language: Language) -> Decision | None:
    """What the rules make of a text; None where they know nothing of it."""
    if not text.strip():
        return Say(say(Key.WHAT_IS_ASKED, language))
    match understood(text):
        case None:
            return None
        case Help():
            return Say(say(Key.HELP, language, commands="\n".join(slash.usages(slash.COMMANDS))))
        case Wrong() as wrong:
            return Say(told(wrong, language))
        case action:
            return Act(action)


def told(wrong: Wrong, language: Language) -> str:
    """Why a command cannot be executed, and what can."""
    key = Key.WRONG_ARGUMENTS if wrong.is_known else Key.UNKNOWN_COMMAND
    return say(key, language, command=" ".join(wrong.path)[:80].strip(), usages="\n".join(wrong.usages))
