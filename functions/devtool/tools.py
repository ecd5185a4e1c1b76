"""The tools: the approval that each call needs, and its execution in a workspace."""

import shlex
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.extensions.development_tool import (
    ConfirmationOption,
    ConfirmationRequest,
    ExecuteDetails,
    FileDiff,
    ToolOutput,
)
from a2a_hub.http.messages import Cancellation
from a2a_hub.text.diffs import unified_diff
from a2a_hub.text.language import Language
from functions.devtool import actions
from functions.devtool.actions import AnyAction, Edit
from functions.devtool.programs import AllowedPrograms
from functions.devtool.texts import DEVTOOL_TEXTS, Fault, ToolFailed
from functions.devtool.workspace import Workspace, printable

ONCE, ALWAYS, CANCEL = "proceed_once", "proceed_always", "cancel"
_EDITS = "edit"
_MAX_SHOWN_CHARACTERS = 80
_MAX_ENTRIES = 500
_MAX_VISITED = 20_000
_MAX_CHARACTERS = 20_000_000
_MAX_FOUND = 200
_MAX_LINE_CHARACTERS = 300
# Folders of tools, which no search means.
_SKIPPED = frozenset({".git/", ".venv/", "node_modules/", "__pycache__/", ".mypy_cache/", ".ruff_cache/"})


class Tools(Struct, frozen=True):
    """The tools of one turn, in its workspace; their texts are in its language."""

    programs: AllowedPrograms
    workspace: Workspace
    language: Language

    def approval_request(self, action: AnyAction) -> ConfirmationRequest | None:
        """Return the approval that the action needs; None for one that changes nothing. Raises ToolFailed."""
        match action:
            case actions.RunCommand():
                # The person approves exactly what runs.
                command = shlex.join(self.programs.parse(action.command))
                details = ExecuteDetails(command=command, working_directory=self.workspace.shown or None)
                always = DEVTOOL_TEXTS.always_this_command.render(self.language)
                return ConfirmationRequest(options=_options(self.language, always), execute_details=details)
            case actions.WriteFile() | actions.Replace() | actions.AddLine():
                change, files = _change(action, self.workspace), _similar_files(action, self.workspace)
                always = DEVTOOL_TEXTS.always_these_files.render(self.language, files=printable(files)) if files else ""
                return ConfirmationRequest(options=_options(self.language, always), file_edit_details=change)
            case _:
                return None

    def execute(
        self, action: AnyAction, *, approved: ConfirmationRequest | None, cancellation: Cancellation
    ) -> Generator[str, None, tuple[ToolOutput, str]]:
        """Yield the output so far while it runs. Return the output, and its text for the person. Raises ToolFailed.

        `approved` is the result of `approval_request`, with the person's changes.
        """
        match action:
            case actions.ListFiles():
                text = list_folder(self.workspace, action.path, self.language)
            case actions.ReadFile():
                text = self.workspace.read(action.path)
                shown = text if text.strip() else DEVTOOL_TEXTS.empty_file.render(self.language, path=action.path)
                return ToolOutput(text=text), shown
            case actions.SearchText():
                text = search_text(self.workspace, action.text, action.path, self.language)
            case actions.RunCommand():
                assert approved is not None
                return (yield from self._run(approved, cancellation))
            case actions.WriteFile() | actions.Replace() | actions.AddLine():
                assert approved is not None
                return self._write(action, approved)
        return ToolOutput(text=text), text

    def permission(self, action: AnyAction, request: ConfirmationRequest) -> str:
        """Return what "always" permits: this one command, or changes of files of this kind in this folder; "" for nothing."""
        if isinstance(action, Edit):
            files = _similar_files(action, self.workspace)
            return files and f"{_EDITS}: {files}"
        details = request.execute_details
        return f"{action.tool}: {details.command}" if details else ""

    def _run(
        self, approved: ConfirmationRequest, cancellation: Cancellation
    ) -> Generator[str, None, tuple[ToolOutput, str]]:
        assert approved.execute_details is not None
        command = approved.execute_details.command
        # Checked again: the allowed programs may have changed while it waited.
        output = yield from self.programs.run(command, folder=self.workspace.root, cancellation=cancellation)
        text = (DEVTOOL_TEXTS.ran if output else DEVTOOL_TEXTS.ran_silently).render(
            self.language, command=command, output=output
        )
        return ToolOutput(text=output), text

    def _write(self, action: Edit, approved: ConfirmationRequest) -> tuple[ToolOutput, str]:
        diff = approved.file_edit_details
        assert diff is not None
        place = self.workspace.resolve(action.path)
        if self.workspace.path_shown(place) != diff.file_path:
            # A link on the way leads elsewhere by now.
            raise ToolFailed(Fault.CHANGED, path=action.path)
        self.workspace.write(place, diff.new_content, expected=diff.old_content)
        text = DEVTOOL_TEXTS.created if diff.old_content is None else DEVTOOL_TEXTS.changed
        return ToolOutput(diff=diff), text.render(self.language, path=action.path)


def with_content(approved: ConfirmationRequest, diff: FileDiff, new_content: str, path: str) -> ConfirmationRequest:
    """Return the approval of a change with the person's content instead."""
    return replace(approved, file_edit_details=_diff(diff, path, new_content))


def _similar_files(action: Edit, workspace: Workspace) -> str:
    """Return a pattern of files; "" for a hidden file, or one in a hidden folder: it may be the settings of a program."""
    path = PurePosixPath(workspace.resolve(action.path))
    if any(part.startswith(".") for part in path.parts):
        return ""
    return str(path.with_name(f"*{path.suffix}" if path.suffix else path.name))


def _change(action: Edit, workspace: Workspace) -> FileDiff:
    place = workspace.resolve(action.path)
    old = workspace.text_or_none(place)
    match action:
        case actions.WriteFile():
            new = action.content
        case actions.Replace():
            if old is None:
                raise ToolFailed(Fault.NOT_FOUND, path=action.path)
            if not action.old_text or action.old_text not in old:
                raise ToolFailed(Fault.TEXT_NOT_FOUND, path=action.path, text=action.old_text[:_MAX_SHOWN_CHARACTERS])
            new = old.replace(action.old_text, action.new_text)
        case actions.AddLine():
            gap = "\n" if old and not old.endswith("\n") else ""
            new = f"{old or ''}{gap}{action.line}\n"
    if new == old:
        raise ToolFailed(Fault.NOTHING_TO_CHANGE, path=action.path)
    workspace.check_writable(place, new)
    diff = FileDiff(
        file_name=printable(place.rpartition("/")[2]), file_path=workspace.path_shown(place), old_content=old
    )
    return _diff(diff, place, new)


def _diff(diff: FileDiff, place: str, new: str) -> FileDiff:
    return replace(diff, new_content=new, formatted_diff=unified_diff(place, diff.old_content, new))


def _options(language: Language, always: str) -> tuple[ConfirmationOption, ...]:
    """Return the choices; `always` says what a lasting permission would cover, "" offers none."""
    once = ConfirmationOption(id=ONCE, name=DEVTOOL_TEXTS.once.render(language))
    lasting = ConfirmationOption(id=ALWAYS, name=DEVTOOL_TEXTS.always.render(language), description=always)
    cancel = ConfirmationOption(id=CANCEL, name=DEVTOOL_TEXTS.cancel.render(language))
    return (once, lasting, cancel) if always else (once, cancel)


def list_folder(workspace: Workspace, path: str, language: Language) -> str:
    """Return the entries of a folder, one per line. Raises ToolFailed."""
    entries = workspace.entries(path)
    if not entries:
        return DEVTOOL_TEXTS.empty_folder.render(language, path=path)
    lines = [
        printable(entry.name) if entry.name.endswith("/") else f"{printable(entry.name)} ({entry.bytes} B)"
        for entry in entries[:_MAX_ENTRIES]
    ]
    if len(entries) > _MAX_ENTRIES:
        lines.append(DEVTOOL_TEXTS.more_entries.render(language, count=len(entries) - _MAX_ENTRIES))
    return "\n".join(lines)


def search_text(workspace: Workspace, text: str, path: str, language: Language) -> str:
    """Return the lines with the text, in any case, as `file:number: line`. Raises ToolFailed."""
    wanted = text.casefold()
    lines: list[str] = []
    searched = 0
    for file in _files(workspace, workspace.resolve(path)):
        if len(lines) > _MAX_FOUND or searched > _MAX_CHARACTERS:
            return "\n".join([*lines[:_MAX_FOUND], DEVTOOL_TEXTS.search_cut.render(language)])
        try:
            content = workspace.read(file)
        except ToolFailed:
            # Not text, too large, or deleted meanwhile.
            continue
        searched += len(content)
        if wanted in content.casefold():
            lines += (
                f"{printable(file)}:{number}: {line.strip()[:_MAX_LINE_CHARACTERS]}"
                for number, line in enumerate(content.split("\n"), start=1)
                if wanted in line.casefold()
            )
    if len(lines) > _MAX_FOUND:
        return "\n".join([*lines[:_MAX_FOUND], DEVTOOL_TEXTS.search_cut.render(language)])
    return "\n".join(lines) or DEVTOOL_TEXTS.nothing_found.render(language, text=text, path=path)


def _files(workspace: Workspace, place: str) -> Iterator[str]:
    """Yield the files under a folder, up to a limit; of a file, itself."""
    try:
        folders = [(place, workspace.entries(place))]
    except ToolFailed as failed:
        if failed.fault is not Fault.NOT_A_FOLDER:
            raise
        yield place
        return
    visited = 0
    while folders:
        folder, entries = folders.pop()
        inner = [each.name if folder == "." else f"{folder}/{each.name}" for each in entries]
        visited += len(entries) + 1
        if visited > _MAX_VISITED:
            return
        yield from (name for name in inner if not name.endswith("/"))
        for name in reversed(inner):
            if name.endswith("/") and f"{name.rpartition('/')[0].rpartition('/')[2]}/" not in _SKIPPED:
                with suppress(ToolFailed):
                    folders.append((name[:-1], workspace.entries(name)))
