"""The texts of this agent for people, in English and Japanese (texts.toml), and the failures of its tools."""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.text.language import Language


class Text(Struct, frozen=True):
    """A text in both languages, with places for values, by the name of its table."""

    table: str

    def render(self, language: Language, **values: Any) -> str:
        """Return the text in one language, with the values in their places."""
        return self.translations[language].format(**values)

    @property
    def translations(self) -> Mapping[Language, str]:
        """The text in each language."""
        return _read()[self.table]


@cache
def _read() -> dict[str, dict[Language, str]]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    tables |= {f"faults.{name}": table for name, table in tables.pop("faults").items()}
    examples = tables["examples"]
    return {
        name: {each: table[each].replace("{examples}", examples[each]) for each in Language}
        for name, table in tables.items()
    }


AGENT_NAME = Text("agent_name")
ONCE = Text("once")
ALWAYS = Text("always")
ALWAYS_THIS_COMMAND = Text("always_this_command")
ALWAYS_THESE_FILES = Text("always_these_files")
CANCEL = Text("cancel")
CREATED = Text("created")
CHANGED = Text("changed")
RAN = Text("ran")
RAN_SILENTLY = Text("ran_silently")
EMPTY_FILE = Text("empty_file")
EMPTY_FOLDER = Text("empty_folder")
MORE_ENTRIES = Text("more_entries")
NOTHING_FOUND = Text("nothing_found")
SEARCH_CUT = Text("search_cut")
CANCELLED = Text("cancelled")
STILL_WAITING = Text("still_waiting")
ASKED_AGAIN = Text("asked_again")
HELP = Text("help")
EMPTY_REQUEST = Text("empty_request")
NOT_UNDERSTOOD = Text("not_understood")
UNKNOWN_COMMAND = Text("unknown_command")
WRONG_ARGUMENTS = Text("wrong_arguments")
NO_WORKSPACE = Text("no_workspace")
FAILED = Text("failed")
STILL_WORKING = Text("still_working")
STORE_AWAY = Text("store_away")
WITHOUT_ANSWER = Text("without_answer")
CANCELED = Text("canceled")


def task_texts() -> UiTexts:
    """Return the texts on tasks. The agent has no commands for them, and asks no other agent."""
    return UiTexts(
        still_working=STILL_WORKING.translations,
        waits_for_worker=STILL_WORKING.translations,
        unnumbered=STILL_WORKING.translations,
        store_away=STORE_AWAY.translations,
        without_answer=WITHOUT_ANSWER.translations,
        canceled=CANCELED.translations,
        trying_again=dict.fromkeys(Language, "{reason}"),
    )


class Fault(StrEnum):
    """The reason of a failure; its value is the error's type on the wire."""

    OUTSIDE = "outside_workspace"
    NOT_FOUND = "file_not_found"
    NOT_A_FILE = "not_a_file"
    A_FOLDER = "is_a_folder"
    NOT_A_FOLDER = "not_a_folder"
    TOO_LARGE = "file_too_large"
    NOT_TEXT = "not_a_text_file"
    NOT_ALLOWED = "permission_denied"
    PROTECTED = "protected_file"
    NO_SPACE = "no_space_left"
    UNUSABLE = "file_error"
    TEXT_NOT_FOUND = "text_not_found"
    NOTHING_TO_CHANGE = "nothing_to_change"
    CHANGED = "file_changed"
    NO_COMMANDS = "commands_not_configured"
    PROGRAM = "program_not_allowed"
    SHELL = "shell_syntax"
    NOT_A_COMMAND = "invalid_command"
    NOT_STARTED = "command_not_started"
    TIMEOUT = "command_timed_out"
    EXIT = "command_failed"
    INTERRUPTED = "interrupted"


class ToolFailed(Exception):
    """A failed tool call. `values`, the caller's words or numbers, fill the sentence of the fault; `output` is the program's."""

    def __init__(self, fault: Fault, *, status_code: int | None = None, output: str = "", **values: Any) -> None:
        super().__init__(fault)
        self.fault = fault
        self.status_code = status_code
        self.output = output
        self.values = values

    def text(self, language: Language) -> str:
        """Return what happened and what to do, in one or two sentences, with the output of the program."""
        sentence = Text(f"faults.{self.fault}").render(language, **self.values)
        # Names of files may hold characters that no answer can carry.
        sentence = sentence.encode("utf-8", "replace").decode()
        return f"{sentence}\n\n{self.output}" if self.output else sentence
