"""The project management agent's wiring."""

from pathlib import Path

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.agents.phrasing import with_phrasing
from a2a_hub.agents.settings import AgentSettings
from a2a_hub.diagnosis.report import with_doctor
from a2a_hub.gemini.examination import examiner
from a2a_hub.http.messages import Handler
from a2a_hub.runtime.function import stdout_log
from functions.pm.advisor import Advisor
from functions.pm.knowledge import load

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
    card = agent_card(
        name="Project management advisor",
        description="Helps to plan and run projects, in the language of the question.",
        version="1.0.0",
        url=config.public_url,
        skills=(SKILL,),
    )
    log = stdout_log("pm", project=config.google_cloud_project, with_text=config.log_text)
    answer = in_conversation(with_phrasing(config.phrasing, Advisor(load(KNOWLEDGE)).answer))
    return with_doctor(agent_function(answer, card=card, log=log), examiner(config.phrasing))
