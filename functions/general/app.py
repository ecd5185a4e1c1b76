"""The wiring of the agent for general questions."""

from collections.abc import Sequence
from pathlib import Path

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.diagnosis.report import Step, skipped, with_doctor
from a2a_hub.gemini.client import Gemini
from a2a_hub.gemini.examination import examine
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Handler
from a2a_hub.runtime.function import stdout_log
from functions.general.agent import GeneralAgent, Model
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
    gemini = _gemini(config)
    answer = in_conversation(GeneralAgent(_model(gemini)).answer, alone_first=False)
    function = agent_function(answer, card=card, log=log)
    return with_doctor(function, lambda: _examine(gemini))


def _gemini(config: Config) -> Gemini | None:
    if config.gemini is None:
        return None
    gemini = Gemini(config.gemini, http=HttpClient())
    gemini.warm_after_fork()
    return gemini


def _model(gemini: Gemini | None) -> Model:
    almanac = Almanac(load(KNOWLEDGE))
    return almanac if gemini is None else LanguageModel(gemini, almanac=almanac)


def _examine(gemini: Gemini | None) -> Sequence[Step]:
    if gemini is None:
        return [skipped("model", "none is configured: the almanac answers")]
    return tuple(examine(gemini))
