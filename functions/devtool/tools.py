"""The tools: what each call would do, whether it has to be confirmed, and doing it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from a2a_hub.a2a.extensions.development_tool import (
    ConfirmationOption,
    ConfirmationRequest,
    ExecuteDetails,
    FileDiff,
    ToolOutput,
)
from a2a_hub.http.messages import Cancellation
from a2a_hub.text.language import Language
from functions.devtool import listing
from functions.devtool.actions import (
    AddLine,
    AnyAction,
    Edit,
    ListFiles,
    ReadFile,
    Replace,
    RunCommand,
    SearchText,
    WriteFile,
)
from functions.devtool.diffs import formatted
from functions.devtool.failure import Fault, ToolFailed
from functions.devtool.programs import Programs, written
from functions.devtool.texts import Key, say
from functions.devtool.workspace import Workspace, printable

ONCE, ALWAYS, CANCEL = "proceed_once", "proceed_always", "cancel"
_EDITS = "edit"
_LONGEST_SHOWN = 80


class Tools:
    """The tools over a workspace."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def question(
        self, action: AnyAction, workspace: Workspace, language: Language
    ) -> ConfirmationRequest | None:
        """What has to be confirmed before the action; None for one that changes nothing. Raises ToolFailed."""
        match action:
            case RunCommand():
                arguments = self._programs.arguments(action.command)
                folder = workspace.shown or None
                details = ExecuteDetails(command=written(arguments), working_directory=folder)
                return ConfirmationRequest(options=_options(language), execute_details=details)
            case WriteFile() | Replace() | AddLine():
                return ConfirmationRequest(
                    options=_options(language), file_edit_details=_change(action, workspace)
                )
            case _:
                return None

    def perform(
        self,
        action: AnyAction,
        workspace: Workspace,
        language: Language,
        *,
        confirmed: ConfirmationRequest | None,
        cancellation: Cancellation,
    ) -> Generator[str, None, tuple[ToolOutput, str]]:
        """Yields what there is to see meanwhile. Returns the output, and what a person reads of it. Raises ToolFailed.

        `confirmed` is what `question` gave for an action that has to be confirmed, with what the person changed about it.
        """
        match action:
            case ListFiles():
                text = listing.listed(workspace, action.path, language)
            case ReadFile():
                text = workspace.read(action.path)
                said = text if text.strip() else say(Key.EMPTY_FILE, language, path=action.path)
                return ToolOutput(text=text), said
            case SearchText():
                text = listing.found(workspace, action.text, action.path, language)
            case RunCommand():
                assert confirmed is not None
                return (yield from self._run(confirmed, workspace, language, cancellation))
            case WriteFile() | Replace() | AddLine():
                assert confirmed is not None
                return self._write(action, confirmed, workspace, language)
        return ToolOutput(text=text), text

    def _run(
        self,
        confirmed: ConfirmationRequest,
        workspace: Workspace,
        language: Language,
        cancellation: Cancellation,
    ) -> Generator[str, None, tuple[ToolOutput, str]]:
        assert confirmed.execute_details is not None
        command = confirmed.execute_details.command
        # Loaded for the first command that runs.
        from functions.devtool.command import Running

        # Once more: what may run may have changed while it waited.
        arguments = self._programs.arguments(command)
        running = Running(self._programs, arguments, folder=workspace.root, cancellation=cancellation)
        with closing(running):
            yield from running
            output = running.output
        text = say(Key.RAN if output else Key.RAN_SILENTLY, language, command=command, output=output)
        return ToolOutput(text=output), text

    def _write(
        self, action: Edit, confirmed: ConfirmationRequest, workspace: Workspace, language: Language
    ) -> tuple[ToolOutput, str]:
        diff = confirmed.file_edit_details
        assert diff is not None
        workspace.write(action.path, diff.new_content, expected=diff.old_content)
        key = Key.CREATED if diff.old_content is None else Key.CHANGED
        return ToolOutput(diff=diff), say(key, language, path=action.path)


def modified(confirmed: ConfirmationRequest, new_content: str, path: str) -> ConfirmationRequest | None:
    """What was asked, with the content that the person wants instead; None where no file is to be changed."""
    diff = confirmed.file_edit_details
    if diff is None:
        return None
    return ConfirmationRequest(options=confirmed.options, file_edit_details=_diff(diff, path, new_content))


def permission(action: AnyAction, question: ConfirmationRequest) -> str:
    """What "always" covers: all changes of files, but of commands this very one."""
    details = question.execute_details
    return f"{action.tool}: {details.command}" if details else _EDITS


def _change(action: Edit, workspace: Workspace) -> FileDiff:
    place = workspace.place(action.path)
    old = workspace.text_or_none(place)
    match action:
        case WriteFile():
            new = action.content
        case Replace():
            if old is None:
                raise ToolFailed(Fault.NOT_FOUND, path=action.path)
            if not action.old_text or action.old_text not in old:
                raise ToolFailed(
                    Fault.TEXT_NOT_FOUND, path=action.path, text=action.old_text[:_LONGEST_SHOWN]
                )
            new = old.replace(action.old_text, action.new_text)
        case AddLine():
            gap = "\n" if old and not old.endswith("\n") else ""
            new = f"{old or ''}{gap}{action.line}\n"
    if new == old:
        raise ToolFailed(Fault.NOTHING_TO_CHANGE, path=action.path)
    workspace.writable(place, new)
    diff = FileDiff(
        file_name=printable(place.rpartition("/")[2]), file_path=workspace.path_shown(place), old_content=old
    )
    return _diff(diff, place, new)


def _diff(diff: FileDiff, place: str, new: str) -> FileDiff:
    return FileDiff(
        file_name=diff.file_name,
        file_path=diff.file_path,
        old_content=diff.old_content,
        new_content=new,
        formatted_diff=formatted(place, diff.old_content, new),
    )


def _options(language: Language) -> tuple[ConfirmationOption, ...]:
    return (
        ConfirmationOption(id=ONCE, name=say(Key.ONCE, language)),
        ConfirmationOption(
            id=ALWAYS, name=say(Key.ALWAYS, language), description=say(Key.ALWAYS_MEANS, language)
        ),
        ConfirmationOption(id=CANCEL, name=say(Key.CANCEL, language)),
    )
