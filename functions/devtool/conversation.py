"""The state that is saved with a task, for its next turn in any process and for the next task of its conversation."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.extensions import development_tool
from a2a_hub.a2a.extensions.slash_commands import command_of
from a2a_hub.a2a.model import Message, text_of
from a2a_hub.task_store.store import TaskQuery, TaskStore
from a2a_hub.tasks.resume_payload import decode_resume_payload
from a2a_hub.text.language import Language, answer_language
from functions.devtool.actions import AnyAction
from functions.devtool.workspace import Workspace, Workspaces

_NOTE = "devtool"
# The next task of a conversation remembers no more.
_MAX_REMEMBERED_TURNS = 6
_MAX_REMEMBERED_CHARACTERS = 2_000
# Longer texts hold a file: their beginning has the language.
_LANGUAGE_CHARACTERS = 4_000


class UserText(Struct, frozen=True, tag="asked"):
    """A text of the person."""

    text: str


class CalledTool(Struct, frozen=True, tag="called"):
    """A tool call that was planned, without an id until it is called. `by` is the model, "" for rules; the model gets its
    `signature` back.
    """

    call_id: str
    action: AnyAction
    by: str = ""
    signature: str = ""


class ToolResult(Struct, frozen=True, tag="returned"):
    """The result of a tool call, in words."""

    call_id: str
    text: str
    succeeded: bool


class AgentText(Struct, frozen=True, tag="answered"):
    """A text of the agent."""

    text: str


DialogueEntry = UserText | CalledTool | ToolResult | AgentText


class PendingApproval(Struct, frozen=True):
    """The tool call that waits for approval, as it was shown, and its action."""

    call: development_tool.ToolCall
    action: AnyAction


class State(Struct, kw_only=True, omit_defaults=True):
    """The state of a task. `workspace` is as the caller named it, "" for the default one.

    `allowed` are permissions for this conversation, `finished` the ids of finished tool calls, `dialogue` all texts and calls.
    """

    workspace: str = ""
    spelling: development_tool.Spelling = development_tool.Spelling.SNAKE
    language: Language = Language.EN
    allowed: tuple[str, ...] = ()
    pending: PendingApproval | None = None
    finished: tuple[str, ...] = ()
    dialogue: tuple[DialogueEntry, ...] = ()

    def for_next_task(self) -> State:
        """Return the initial state of the conversation's next task."""
        texts = tuple(
            type(each)(each.text[:_MAX_REMEMBERED_CHARACTERS])
            for each in self.dialogue
            if isinstance(each, UserText | AgentText)
        )
        return State(
            workspace=self.workspace,
            spelling=self.spelling,
            allowed=self.allowed,
            dialogue=texts[-2 * _MAX_REMEMBERED_TURNS :],
        )

    def save(self, task: CurrentTask) -> None:
        """Store the state with the task."""
        task.notes[_NOTE] = msgspec.to_builtins(self)


# msgspec analyses a type at its first use, and crashes if two threads do that at once.
msgspec.json.Decoder(State)


def load_state(notes: dict[str, Any]) -> State | None:
    """Return the state that was stored in a task's notes."""
    stored = notes.get(_NOTE)
    return None if stored is None else msgspec.convert(stored, State)


class Conversations(Struct, frozen=True):
    """The conversations of callers, each represented by its newest task in the store."""

    store: TaskStore
    workspaces: Workspaces

    @property
    def has_default(self) -> bool:
        """True if callers need not name a workspace."""
        return self.workspaces.default is not None

    def new_state(self, message: Message, call: Call) -> State:
        """Return the state of a new task, or of a completed one that goes on. An empty path in its settings leaves the workspace
        to the agent.

        Raises INVALID_PARAMS for missing settings, and for a workspace that may not be used.
        """
        settings = development_tool.settings_in(message)
        previous = self._previous(message, call)
        state = previous or State()
        state.language = answer_language(text_of(message)[:_LANGUAGE_CHARACTERS])
        if settings is not None:
            if settings.workspace_path != state.workspace:
                # The person saw the files and the folder of the other workspace.
                state.allowed = ()
            state.workspace = settings.workspace_path
            state.spelling = development_tool.spelling_of(development_tool.in_metadata(message.metadata))
            if self.workspace(state, call) is None:
                field = "workspace_path" if state.spelling is development_tool.Spelling.SNAKE else "workspacePath"
                raise invalid_field(
                    f"message.metadata.{development_tool.URI}.{field}",
                    "names no folder that may be worked in: use an absolute path inside one that the agent's operator has "
                    "opened",
                )
        elif previous is None:
            self._require_settings(message, call)
        return state

    def workspace(self, state: State, call: Call) -> Workspace | None:
        """Return the workspace of the state's task; None if this caller may not use it, or no longer."""
        workspaces = self.workspaces.of(call.principal.subject if call.principal else "")
        return workspaces.named(state.workspace) if state.workspace else workspaces.default

    def _previous(self, message: Message, call: Call) -> State | None:
        assert call.principal is not None, "without an owner nothing is stored"
        assert call.task is not None, "a turn belongs to a task"
        if call.task.turn > 1 and (state := load_state(call.task.notes)):
            return state.for_next_task()
        query = TaskQuery(context_id=message.context_id)
        page = self.store.list(call.principal.subject, query, size=2, after=None)
        for stored in page.tasks:
            if stored.task.id != call.task.id:
                state = load_state(decode_resume_payload(stored.payload).notes)
                return state.for_next_task() if state else None
        return None

    def _require_settings(self, message: Message, call: Call) -> None:
        """Raise INVALID_PARAMS, unless the client only forwards messages and there is a default workspace."""
        names_extension = development_tool.URI in message.extensions and command_of(call) is None
        if names_extension or (development_tool.URI in call.extensions and not self.has_default):
            raise invalid_field(
                f"message.metadata.{development_tool.URI}",
                "is required in the first message of a session: AgentSettings with workspace_path",
            )
