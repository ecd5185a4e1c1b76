"""The wiring of the agent for general questions."""

from pathlib import Path

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.configured_agent import configured_agent
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.settings import AgentSettings
from a2a_hub.grounding.settings import configured_composer
from a2a_hub.http.messages import Handler
from functions.general.almanac import Almanac, Model, answered_by
from functions.general.knowledge import load
from functions.general.language_model import LanguageModel

KNOWLEDGE = Path(__file__).with_name("facts")

SKILL = AgentSkill(
    id="general-questions",
    name="General questions",
    description="Answers questions of general knowledge in English and Japanese.",
    tags=("general", "knowledge", "一般"),
    examples=(
        "What is the height of Mount Fuji?",
        "What is the capital of Australia?",
        "富士山の高さは",
        "日本で一番長い川は何ですか",
    ),
)


def build(config: AgentSettings) -> Handler:
    """Return the handler of the whole function."""
    composer, almanac = configured_composer(config.answer_model), Almanac(load(KNOWLEDGE))
    answering: Model = LanguageModel(composer, almanac) if composer else almanac
    model = composer.model if composer else None
    answer = in_conversation(answered_by(answering), alone_first=False, model=model)
    return configured_agent(
        "general",
        answer,
        name="General questions",
        description="Answers what no other agent is asked for, in the language of the question.",
        skill=SKILL,
        config=config,
        composer=composer,
    )
