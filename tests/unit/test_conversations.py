"""What the hub remembers of conversations is bounded, and each owner's own."""

from functions.hub.conversations import Conversation, Conversations

ALPHA, BETA = Conversation(route_id="alpha"), Conversation(route_id="beta", waiting_task_id="t-1")


def test_the_conversation_that_was_not_continued_for_longest_goes_first() -> None:
    conversations = Conversations(most=2)
    for context in ("one", "two", "one", "three"):
        conversations.put("hanako", context, ALPHA)
    assert [conversations.get("hanako", context) for context in ("one", "two", "three")] == [
        ALPHA,
        None,
        ALPHA,
    ]


def test_the_same_id_of_two_owners_is_two_conversations() -> None:
    conversations = Conversations()
    conversations.put("hanako", "one", ALPHA)
    conversations.put("taro", "one", BETA)
    conversations.forget_waiting("hanako", "one")
    assert conversations.get("hanako", "one") == ALPHA
    assert conversations.get("taro", "one") == BETA
