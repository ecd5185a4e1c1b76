"""The expense agent's wiring."""

from pathlib import Path

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.agents.phrasing import with_phrasing
from a2a_hub.agents.settings import AgentSettings
from a2a_hub.http.messages import Handler
from a2a_hub.runtime.function import stdout_log
from functions.expense.desk import ExpenseDesk
from functions.expense.knowledge import load

KNOWLEDGE = Path(__file__).with_name("policy")

SKILL = AgentSkill(
    id="expense-policy",
    name="Expense policy questions",
    description="Answers questions on expense claims in English and Japanese: deadlines, receipts, limits, "
    "approval, payment, business trips.",
    tags=("expense", "travel", "経費精算"),
    examples=(
        "What is the expense reimbursement submission deadline?",
        "I lost a receipt. What should I do?",
        "経費精算の申請期限はいつですか",
        "出張の日当はいくらですか",
    ),
)


def build(config: AgentSettings) -> Handler:
    """Return the handler of the whole function."""
    card = agent_card(
        name="Expense desk",
        description="Answers questions on the company's expense policy, in the language of the question.",
        version="1.0.0",
        url=config.public_url,
        skills=(SKILL,),
    )
    log = stdout_log("expense", project=config.google_cloud_project, with_text=config.log_text)
    answer = in_conversation(with_phrasing(config.phrasing, ExpenseDesk(load(KNOWLEDGE)).answer))
    return agent_function(answer, card=card, log=log)
