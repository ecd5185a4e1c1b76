"""The wiring of the agent for general questions."""

from pathlib import Path

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.diagnosis.report import with_doctor
from a2a_hub.gemini.client import configured
from a2a_hub.gemini.examination import examine
from a2a_hub.http.messages import Handler
from a2a_hub.runtime.function import stdout_log
from functions.general.agent import GeneralAgent
from functions.general.almanac import Almanac
from functions.general.config import Config
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


def build(config: Config) -> Handler:
    """Return the handler of the whole function."""
    agent = config.agent
    card = agent_card(
        name="General questions",
        description="Answers what no other agent is asked for, in the language of the question.",
        version="1.0.0",
        url=agent.public_url,
        skills=(SKILL,),
    )
    log = stdout_log("general", project=agent.google_cloud_project, with_text=agent.log_text)
    gemini, almanac = configured(config.gemini), Almanac(load(KNOWLEDGE))
    model = LanguageModel(gemini, almanac=almanac) if gemini else almanac
    answer = in_conversation(GeneralAgent(model).answer, alone_first=False)
    function = agent_function(answer, card=card, log=log)
    return with_doctor(function, lambda: tuple(examine(gemini, without="none is configured: the almanac answers")))
