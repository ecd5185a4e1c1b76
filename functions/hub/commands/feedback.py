"""Ratings of answers: /good and /bad, kept with the turn and its route, in the log and with the conversation."""

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.call import Call
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.redaction import redacted
from functions.hub.conversations import Conversation, Conversations

_MOST_KEPT = 20


class Feedback(Struct, frozen=True):
    """The ratings of all conversations."""

    conversations: Conversations
    log: Log

    def rate(self, verdict: str, comment: str, call: Call, context_id: str | None) -> bool:
        """Keep the rating of this conversation's last answer; False if there is none. Only a log with texts has the comment.

        Another instance may have answered, and only the log knows the turn then: by the conversation's id. An id that the hub
        minted for this caller came with an answer.
        """
        if context_id is None:
            return False
        owner = call.owner
        ids = self.conversations.ids_of(owner, context_id)
        turn = self.conversations.last_turn(owner, ids)
        memory = self.conversations.open(owner, ids)
        is_minted = ids.downstream == context_id if owner else ids.has_memory
        if turn is None and memory.conversation is None and not is_minted:
            return False
        conversation = memory.conversation or Conversation()
        turn_id, route_id = turn or ("", conversation.route_id)
        kept = {**conversation.feedback, turn_id or call.request_id: verdict}
        memory.keep(replace(conversation, feedback=dict(list(kept.items())[-_MOST_KEPT:])))
        self.log.line(
            "INFO",
            f"An answer was rated as {verdict}",
            feedback=verdict,
            turn=turn_id or None,
            route=route_id or None,
            conversation=ids.downstream,
            requestId=call.request_id,
            principal=owner or None,
            **({"comment": redacted(comment)} if comment and self.log.with_text else {}),
        )
        return True
