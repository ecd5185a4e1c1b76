"""Gemini on Vertex AI, as the unmodified google-genai speaks to it.

`generateContent` and `streamGenerateContent` of publisher models, v1 and v1beta1 (cloud.google.com/vertex-ai/generative-ai/docs/
reference/rest). The model is `local.cloud.vertex_answers`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from a2a_hub.http.messages import EVENT_STREAM, Request, Response
from local.cloud import vertex_answers as answers
from local.cloud.accounts import Accounts
from local.cloud.google_api import ProjectApi
from local.cloud.policies import MODEL_ADMIN, MODEL_USER, PREDICT
from local.cloud.program import ApiError, json_body, json_response
from local.cloud.vertex_answers import answer, structured, tokens

DENIED, DISABLED = "deny-predict", "disable-api"
FAULTS = {
    DENIED: f"nobody has {MODEL_USER} any more",
    DISABLED: "the API is not enabled for the project",
    "block-question": "the question is blocked, for the `reason` (PROHIBITED_CONTENT)",
    "finish": "the answer ends after `tokens` (3) of it, with the finish reason `reason` (SAFETY)",
    "empty": "the model ends without a word",
    "stall": "nothing comes any more after `tokens` (3) of the answer",
    "cut": "the connection is closed after `tokens` (3) of the answer",
}
_PATH = re.compile(
    r"/(?:v1|v1beta1)/projects/([^/]+)/locations/([^/]+)/publishers/google/models/([^/:]+)"
    r":(generateContent|streamGenerateContent)"
)


class VertexAi(ProjectApi):
    """The `model` of one project, which `users` may ask."""

    service = "aiplatform.googleapis.com"
    user_role, admin_role = MODEL_USER, MODEL_ADMIN
    known_faults, denied_fault, disabled_fault = FAULTS, DENIED, DISABLED

    def __init__(self, *, project: str, model: str, users: Sequence[str], accounts: Accounts) -> None:
        super().__init__(users=users, accounts=accounts)
        self._project = project
        self._model = model

    def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if match is None or request.method != "POST":
            raise ApiError("NOT_FOUND", f"The requested URL {request.path} was not found on this server.")
        project, location, model, method = match.groups()
        name = f"projects/{project}/locations/{location}/publishers/google/models/{model}"
        self._require_enabled()
        self._require(request, PREDICT, name)
        if (project, model) != (self._project, self._model):
            message = f"Publisher Model `{name}` was not found or your project does not have access to it."
            raise ApiError("NOT_FOUND", message)
        try:
            body = json_body(request)
            text, most, call = answers.user_text(body), answers.most_tokens(body), answers.function_call(body)
            respond = str if answers.results(body) else partial(answer, unknown=answers.unknown_word(body))
            if schema := answers.json_schema(body):
                respond = partial(structured, schema=schema)
        except (ValueError, TypeError, AttributeError, KeyError):
            message = "Unable to submit request because it must have a text parameter."
            raise ApiError("INVALID_ARGUMENT", message) from None
        chunks = self._chunks(text, respond, model=model, most=most)
        if call:
            chunks = iter([answers.calling(call, model=model)])
        if method == "generateContent":
            return json_response(answers.whole(list(chunks)))
        return Response(headers={"content-type": EVENT_STREAM}, body=answers.events(chunks))

    def _chunks(self, text: str, respond: Callable[[str], str], *, model: str, most: int) -> Iterator[dict[str, Any]]:
        """Return the chunks of one answer: one for each token, and one that ends it."""
        prompt_tokens = len(tokens(text))
        if (blocked := self.faults.parameters("block-question")) is not None:
            reason = blocked.get("reason", "PROHIBITED_CONTENT")
            yield answers.blocked(reason, model=model, prompt_tokens=prompt_tokens)
            return
        pieces = [] if "empty" in self.faults else tokens(respond(text))
        finish = "STOP"
        for fault in ("finish", "stall", "cut"):
            if (parameters := self.faults.parameters(fault)) is not None:
                pieces = pieces[: int(parameters.get("tokens", 3))]
                finish = str(parameters.get("reason", "SAFETY")) if fault == "finish" else fault
        if len(pieces) > most:
            pieces, finish = pieces[:most], "MAX_TOKENS"
        for token in pieces:
            yield answers.chunk(token, model=model)
        match finish:
            case "stall":
                # For as long as nobody would wait.
                self.faults.wait("stall", seconds=600.0)
            case "cut":
                pass
            case _:
                yield answers.last_chunk(finish, model=model, prompt_tokens=prompt_tokens, answer_tokens=len(pieces))
