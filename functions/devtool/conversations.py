"""Where a task begins: with the settings of its message, and with what its conversation knows from the task before."""

from __future__ import annotations

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError, invalid_field
from a2a_hub.a2a.extensions.development_tool import URI, Spelling, in_metadata, settings_in, spelling_of
from a2a_hub.a2a.extensions.slash_commands import command_of
from a2a_hub.a2a.model import Message
from a2a_hub.a2a.text import text_of
from a2a_hub.task_store.store import TaskQuery, TaskStore
from a2a_hub.tasks.resume_payload import read_resume_payload
from a2a_hub.text.language import answer_language
from functions.devtool.state import State, state_in
from functions.devtool.workspace import Workspace
from functions.devtool.workspaces import Workspaces

# What is longer holds a file: its beginning tells the language.
_LONGEST_READ = 4_000


class Conversations:
    """The conversations of callers, each known by its newest task in the store."""

    def __init__(self, store: TaskStore, workspaces: Workspaces) -> None:
        self._store = store
        self._workspaces = workspaces

    @property
    def has_default(self) -> bool:
        """Whether callers who name no workspace have one."""
        return self._workspaces.default is not None

    def begun(self, message: Message, call: Call) -> State:
        """The state of a new task; an empty path in its settings leaves the workspace to the agent.

        Raises INVALID_PARAMS for settings that are missing or may not be used.
        """
        settings = settings_in(message)
        before = self._before(message, call)
        state = before or State()
        state.language = answer_language(text_of(message)[:_LONGEST_READ])
        if settings is not None:
            state.workspace = settings.workspace_path
            state.spelling = spelling_of(in_metadata(message.metadata))
            if self.workspace(state) is None:
                raise _not_usable(state.spelling)
        elif before is None:
            self._check_may_be_missing(message, call)
        return state

    def workspace(self, state: State) -> Workspace | None:
        """Where the state's task works; None where it may not, or no longer."""
        return self._workspaces.named(state.workspace) if state.workspace else self._workspaces.default

    def _before(self, message: Message, call: Call) -> State | None:
        assert call.principal is not None, "without an owner nothing is kept"
        assert call.task is not None, "who asks has a task in hand"
        query = TaskQuery(context_id=message.context_id)
        page = self._store.list(call.principal.subject, query, size=2, after=None)
        for stored in page.tasks:
            if stored.task.id != call.task.id:
                state = state_in(read_resume_payload(stored.work).notes)
                return state.following() if state else None
        return None

    def _check_may_be_missing(self, message: Message, call: Call) -> None:
        """A client of the extension names its workspace; one that only passes messages on may leave that to the default."""
        names_extension = URI in message.extensions and command_of(call) is None
        if names_extension or (URI in call.extensions and not self.has_default):
            raise invalid_field(
                f"message.metadata.{URI}",
                "is required in the first message of a session: AgentSettings with workspace_path",
            )


def _not_usable(spelling: Spelling) -> A2AError:
    field = "workspace_path" if spelling is Spelling.SNAKE else "workspacePath"
    return invalid_field(
        f"message.metadata.{URI}.{field}",
        "names no folder that may be worked in: use an absolute path inside one that the agent's operator has opened",
    )
