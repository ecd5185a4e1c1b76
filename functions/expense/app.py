"""The expense agent's wiring."""

from pathlib import Path

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.composition import composed
from a2a_hub.agents.configured_agent import configured_agent
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.settings import AgentSettings
from a2a_hub.grounding.settings import configured_composer
from a2a_hub.http.messages import Handler
from functions.expense.desk import ExpenseDesk, load

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
    composer, desk = configured_composer(config.answer_model), ExpenseDesk(load(KNOWLEDGE))
    answer = in_conversation(composed(desk.answer, desk, composer), model=composer.model if composer else None)
    return configured_agent(
        "expense",
        answer,
        name="Expense desk",
        description="Answers questions on the company's expense policy, in the language of the question.",
        skill=SKILL,
        config=config,
        composer=composer,
    )
