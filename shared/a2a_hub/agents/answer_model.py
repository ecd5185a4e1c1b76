"""An agent with a model, as far as one is configured: what composes its answers, and what completes its questions."""

from collections.abc import Iterator
from dataclasses import dataclass

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.card import AgentSkill
from a2a_hub.a2a.extensions import memory
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.agents.rewriting import Rewriter
from a2a_hub.agents.settings import AgentSettings
from a2a_hub.diagnosis.report import Step, with_doctor
from a2a_hub.grounding.composer import Composer, Entailment
from a2a_hub.grounding.examination import examine
from a2a_hub.grounding.settings import ComposerSettings, composer
from a2a_hub.http.messages import Handler
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.language_models.settings import language_model
from a2a_hub.runtime.function import stdout_log


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerModel:
    """A model with its uses; all of them None where none is configured."""

    model: LanguageModel | None = None
    composer: Composer | None = None
    rewriter: Rewriter | None = None

    @classmethod
    def of(cls, settings: ComposerSettings | None, *, entailment: Entailment | None = None) -> "AnswerModel":
        """Return the model of the settings. `entailment` is the judge of an `ANSWER_CHECK` other than `model`."""
        if settings is None:
            return cls()
        model = language_model(settings.model)
        composing = composer(model, check=settings.check, entailment=entailment)
        return cls(model=model, composer=composing, rewriter=Rewriter(model))

    def examine(self) -> Iterator[Step]:
        """Yield the step of the model, which composes a small answer."""
        return examine(self.composer)


def configured_agent(
    function: str,
    answer: Answer,
    *,
    name: str,
    description: str,
    skill: AgentSkill,
    config: AgentSettings,
    model: AnswerModel,
) -> Handler:
    """Return a handler for a function with one skill, which answers in conversations, and whose doctor examines the model."""
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
        agent_function(answer, card=card, log=log, seconds=config.answer_seconds), lambda: tuple(model.examine())
    )
