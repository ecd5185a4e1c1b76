"""The settings of composed answers: the model that writes them, and the judge of what it writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from a2a_hub.grounding.composer import Composer, Entailment
from a2a_hub.grounding.model_entailment import ModelEntailment
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.language_models.settings import ModelSettings, language_model, read_answer_model
from a2a_hub.settings.reader import Settings

BY_MODEL, BY_NOBODY = "model", "none"
_JUDGE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposerSettings:
    """The model (`ANSWER_MODEL`), and what judges its sentences beyond the deterministic checks (`ANSWER_CHECK`)."""

    model: ModelSettings
    check: str


def read_composer(settings: Settings, *, more_checks: Sequence[str] = ()) -> ComposerSettings | None:
    """Return these settings; None without a model. Errors are recorded in `settings`."""
    model = read_answer_model(settings)
    check = settings.choice("ANSWER_CHECK", BY_MODEL, (BY_MODEL, BY_NOBODY, *more_checks))
    return ComposerSettings(model=model, check=check) if model else None


def configured_composer(settings: ComposerSettings | None, *, entailment: Entailment | None = None) -> Composer | None:
    """Return the composer of the settings, None without a model; see `composer`."""
    return composer(language_model(settings.model), check=settings.check, entailment=entailment) if settings else None


def composer(model: LanguageModel, *, check: str, entailment: Entailment | None = None) -> Composer:
    """Return the composer with this model. `entailment` is the judge of a check of the agent's own."""
    own = {BY_MODEL: ModelEntailment(model, timeout_seconds=_JUDGE_SECONDS), BY_NOBODY: None}
    return Composer(model, entailment=own.get(check, entailment))
