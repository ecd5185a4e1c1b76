"""The project management agent's wiring."""

from pathlib import Path

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.composition import composed
from a2a_hub.agents.configured_agent import configured_agent
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.settings import AgentSettings
from a2a_hub.grounding.settings import configured_composer
from a2a_hub.http.messages import Handler
from functions.pm.advisor import Advisor, load

KNOWLEDGE = Path(__file__).with_name("practices")

SKILL = AgentSkill(
    id="project-management",
    name="Project management advice",
    description="Lists the tasks of planning and running a project in English and Japanese: WBS, schedule, "
    "milestones, risks, estimates, reports.",
    tags=("project management", "planning", "プロジェクト管理"),
    examples=(
        "List three tasks for creating a project WBS.",
        "How do I find the critical path?",
        "プロジェクトのWBSを作成するためのタスクを3つ挙げて",
        "進捗報告のテンプレートを作って",
    ),
)


def build(config: AgentSettings) -> Handler:
    """Return the handler of the whole function."""
    composer, advisor = configured_composer(config.answer_model), Advisor(load(KNOWLEDGE))
    # "Two more" goes on in a list by its question: the advisor completes questions by rules.
    answer = in_conversation(composed(advisor.answer, advisor, composer))
    return configured_agent(
        "pm",
        answer,
        name="Project management advisor",
        description="Helps to plan and run projects, in the language of the question.",
        skill=SKILL,
        config=config,
        composer=composer,
    )
