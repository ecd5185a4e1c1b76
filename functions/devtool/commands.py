"""The extension's two methods: the commands that there are, and executing one as a task."""

from __future__ import annotations

from a2a_hub.a2a.agent import Sending
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions.development_tool import (
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    in_metadata,
)
from a2a_hub.a2a.extensions.slash_commands import command_line, not_started, start_execution
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.text.language import language_of
from functions.devtool.asking import slash
from functions.devtool.asking.patterns import Help
from functions.devtool.asking.slash import COMMANDS, Wrong
from functions.devtool.conversations import Conversations
from functions.devtool.rules import told
from functions.devtool.texts import Key, say


class Commands:
    """See `a2a_hub.a2a.extensions.slash_commands.SlashCommands`."""

    def __init__(
        self, conversations: Conversations, sending: Sending, *, message_factory: MessageFactory
    ) -> None:
        self._conversations = conversations
        self._sending = sending
        self._message_factory = message_factory

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:  # noqa: ARG002 - the seam's
        """See `DevelopmentTool.commands`: the same for everybody."""
        return GetAllSlashCommandsResponse(commands=slash.shown(COMMANDS))

    def execute(self, request: ExecuteSlashCommandRequest, call: Call) -> ExecuteSlashCommandResponse:
        """See `DevelopmentTool.execute`."""
        typed = command_line(request)
        language = language_of(typed)
        action = slash.found(typed)
        if isinstance(action, Wrong):
            return not_started(told(action, language))
        needs_workspace = not isinstance(action, Help)
        names_workspace = in_metadata(request.metadata) is not None
        if needs_workspace and not names_workspace and not self._conversations.has_default:
            return not_started(say(Key.NO_WORKSPACE, language))
        return start_execution(request, call, self._sending, new_id=self._message_factory.new_id)
