"""The same work on the official a2a-sdk: a message in, a message with a constant text out. Run by the SDK's own environment."""

import sys

import uvicorn
from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette


class Constant(AgentExecutor):
    """An agent that answers a constant."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """One message, in the caller's context."""
        await event_queue.enqueue_event(new_text_message("hello world", context_id=context.context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """There is never anything to cancel."""


def main(port: int) -> None:
    """Serve both protocol versions, without tasks, without access log: the least that the SDK can do."""
    url = f"http://127.0.0.1:{port}/"
    card = AgentCard(
        name="Constant",
        description="Answers a constant.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version) for version in ("1.0", "0.3")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="constant", name="Constant", description="A constant.", tags=["bench"])],
    )
    handler = DefaultRequestHandler(agent_executor=Constant(), task_store=InMemoryTaskStore(), agent_card=card)
    app = Starlette(routes=create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True))
    uvicorn.run(app, host="127.0.0.1", port=port, loop="uvloop", http="httptools", log_level="error", access_log=False)


if __name__ == "__main__":
    main(int(sys.argv[1]))
