"""The texts of this agent for people, in English and Japanese (texts.toml), and the failures of its tools."""

from enum import StrEnum
from pathlib import Path
from typing import Any

from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.text.catalog import Catalog
from a2a_hub.text.language import Language

DEVTOOL_TEXTS = Catalog(Path(__file__).with_suffix(".toml"))

# It has no commands for tasks, and asks no other agent.
TASK_TEXTS = UiTexts(
    still_working=DEVTOOL_TEXTS.still_working,
    waits_for_worker=DEVTOOL_TEXTS.still_working,
    unnumbered=DEVTOOL_TEXTS.still_working,
    store_away=DEVTOOL_TEXTS.store_away,
    without_answer=DEVTOOL_TEXTS.without_answer,
    canceled=DEVTOOL_TEXTS.canceled,
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
        sentence = DEVTOOL_TEXTS[f"faults.{self.fault}"].render(language, **self.values)
        # Names of files may hold characters that no answer can carry.
        sentence = sentence.encode("utf-8", "replace").decode()
        return f"{sentence}\n\n{self.output}" if self.output else sentence
