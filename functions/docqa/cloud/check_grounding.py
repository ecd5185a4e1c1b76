"""The judge of a sentence by Discovery Engine: `groundingConfigs.check`.

cloud.google.com/generative-ai-app-builder/docs/check-grounding; a sentence is a claim, and one that its facts support in part
is not supported.
"""

from __future__ import annotations

from collections.abc import Sequence

from a2a_hub.gemini.failure import Cause, Failure, ModelFailed
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.http.messages import Cancellation
from functions.docqa.cloud.clients import Clients
from functions.docqa.cloud.config import CloudConfig

_CITATION_THRESHOLD = 0.6
_SECONDS = 5.0


class CheckGrounding:
    """An `Entailment`. Thread-safe."""

    def __init__(self, config: CloudConfig, clients: Clients) -> None:
        self._name = f"projects/{config.project}/locations/global/groundingConfigs/default_grounding_config"
        self._clients = clients

    def is_entailed(self, text: str, quotes: Sequence[Evidence], *, question: str, cancellation: Cancellation) -> bool:
        """See `Entailment.is_entailed`; this judge compares with facts only, so the question is ignored."""
        del question
        try:
            return self._is_grounded(text, quotes, timeout_seconds=min(_SECONDS, cancellation.seconds_left))
        except Exception as error:
            raise ModelFailed(Failure(cause=Cause.BROKEN, detail=f"check grounding: {type(error).__name__}")) from error

    def _is_grounded(self, text: str, quotes: Sequence[Evidence], *, timeout_seconds: float) -> bool:
        facts = ("\n".join([" > ".join(filter(None, each.context)), each.text]) for each in quotes)
        request = {
            "grounding_config": self._name,
            "answer_candidate": text,
            "facts": [{"fact_text": fact} for fact in facts],
            "grounding_spec": {"citation_threshold": _CITATION_THRESHOLD},
        }
        checked = self._clients.grounding.check_grounding(request=request, timeout=timeout_seconds)
        claims = [claim for claim in checked.claims if claim.grounding_check_required is not False]
        return bool(claims) and all(claim.citation_indices for claim in claims)
