"""The extension's two methods: the list of commands, and the execution of one as a task."""

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
from functions.devtool import texts
from functions.devtool.asking import slash
from functions.devtool.asking.patterns import Help
from functions.devtool.asking.slash import COMMANDS, Wrong
from functions.devtool.conversation import Conversations
from functions.devtool.planner import usage_text


class SlashCommands:
    """See `a2a_hub.a2a.extensions.slash_commands.SlashCommands`."""

    def __init__(self, conversations: Conversations, sending: Sending, *, message_factory: MessageFactory) -> None:
        self._conversations = conversations
        self._sending = sending
        self._message_factory = message_factory

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:  # noqa: ARG002 - the protocol's
        """See `SlashCommands.commands`: the same for everybody."""
        return GetAllSlashCommandsResponse(commands=slash.shown(COMMANDS))

    def execute(self, request: ExecuteSlashCommandRequest, call: Call) -> ExecuteSlashCommandResponse:
        """See `SlashCommands.execute`."""
        typed = command_line(request)
        language = language_of(typed)
        action = slash.found(typed)
        if isinstance(action, Wrong):
            return not_started(usage_text(action, language))
        needs_workspace = not isinstance(action, Help)
        names_workspace = in_metadata(request.metadata) is not None
        if needs_workspace and not names_workspace and not self._conversations.has_default:
            return not_started(texts.NO_WORKSPACE.render(language))
        return start_execution(request, call, self._sending, new_id=self._message_factory.new_id)
