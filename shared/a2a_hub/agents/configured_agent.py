"""An agent with one skill and the settings of every agent, whose model, if there is one, is examined by its doctor."""

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.card import AgentSkill
from a2a_hub.a2a.extensions import memory
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.agents.settings import AgentSettings
from a2a_hub.diagnosis.report import with_doctor
from a2a_hub.grounding.composer import Composer
from a2a_hub.grounding.examination import examine
from a2a_hub.http.messages import Handler
from a2a_hub.runtime.function import stdout_log


def configured_agent(
    function: str,
    answer: Answer,
    *,
    name: str,
    description: str,
    skill: AgentSkill,
    config: AgentSettings,
    composer: Composer | None,
) -> Handler:
    """Return a handler for a function with one skill, which remembers conversations; its doctor examines the composer."""
    card = agent_card(
        name=name,
        description=description,
        version="1.0.0",
        url=config.public_url,
        skills=(skill,),
        extensions=(memory.EXTENSION,),
    )
    log = stdout_log(function, project=config.google_cloud_project, with_text=config.log_text)
    return with_doctor(
        agent_function(answer, card=card, log=log, seconds=config.answer_seconds), lambda: tuple(examine(composer))
    )
