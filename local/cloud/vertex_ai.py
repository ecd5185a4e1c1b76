"""`python -m local.cloud.vertex_ai`: Gemini on Vertex AI, as the unmodified google-genai speaks to it.

`generateContent` and `streamGenerateContent` of publisher models, v1 and v1beta1 (cloud.google.com/vertex-ai/generative-ai/docs/
reference/rest); of `responseSchema`, an array of integers. The model is `local.cloud.vertex_answers`. The account of an
access token comes from its issuer; `POST /__project {"grant": "serviceAccount:…"}` gives roles/aiplatform.user, as gcloud
does, `{"enable": true}` the API.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import EVENT_STREAM, JSON, Request, Response
from local.cloud import vertex_answers as answers
from local.cloud.accounts import Accounts, UnknownToken, member
from local.cloud.faults import LATENCY, LATENCY_HELP, Faults
from local.cloud.program import ApiError, CommandLine, json_body, json_response, pairs, recorded, serve
from local.cloud.vertex_answers import answer, numbers, tokens

PROJECT = "/__project"
ROLE = "roles/aiplatform.user"
DENIED, DISABLED, QUOTA, BROKEN = "deny-predict", "disable-api", "quota", "server-error"
FAULTS = {
    DENIED: f"nobody has {ROLE} any more",
    DISABLED: "the API is not enabled for the project",
    QUOTA: "requests are answered with 429; with {'times': 2}, the next two of them",
    BROKEN: "requests are answered with 503; with {'times': 2}, the next two of them",
    "block-question": "the question is blocked, for the `reason` (PROHIBITED_CONTENT)",
    "finish": "the answer ends after `tokens` (3) of it, with the finish reason `reason` (SAFETY)",
    "empty": "the model ends without a word",
    "stall": "nothing comes any more after `tokens` (3) of the answer",
    "cut": "the connection is closed after `tokens` (3) of the answer",
    LATENCY: LATENCY_HELP,
}
_PATH = re.compile(
    r"/(?:v1|v1beta1)/projects/([^/]+)/locations/([^/]+)/publishers/google/models/([^/:]+)"
    r":(generateContent|streamGenerateContent)"
)


class VertexAi:
    """The `models` of one project, which `users` may ask. `tokens_of` are access tokens with their accounts."""

    def __init__(
        self,
        *,
        project: str,
        models: Sequence[str],
        users: Sequence[str],
        issuers: Sequence[str] = (),
        tokens_of: Mapping[str, str] | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._project = project
        self._models = models
        self._granted = frozenset(map(member, users))
        self._users = self._granted
        self._accounts = Accounts(issuers, http=HttpClient(), known=tokens_of)
        self._sleep = sleep
        self._lock = threading.RLock()
        self.faults = Faults(FAULTS, changed=self._changed, sleep=sleep)

    def handle(self, request: Request) -> Response:
        """Return the answer to one request."""
        if request.path == PROJECT:
            return self._control(request)
        if (response := self.faults.handle(request)) is not None:
            return response
        self.faults.wait()
        try:
            return self._answer(request)
        except ApiError as error:
            return error.response()

    def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if match is None or request.method != "POST":
            raise answers.no_such_path(request.path)
        project, location, model, method = match.groups()
        self._require(request, f"projects/{project}/locations/{location}/publishers/google/models/{model}")
        if model not in self._models or project != self._project:
            raise answers.no_such_model(project, location, model)
        self._fail_if_asked_to()
        try:
            body = json_body(request)
            text, most = answers.user_text(body), answers.most_tokens(body)
            respond = numbers if answers.wants_numbers(body) else answer
        except (ValueError, TypeError, AttributeError, KeyError):
            raise answers.bad_request() from None
        chunks = self._chunks(text, respond, model=model, most=most)
        if method == "generateContent":
            return json_response(answers.whole(list(chunks)))
        if request.parameter("alt") == "sse":
            return Response(headers={"content-type": EVENT_STREAM}, body=answers.events(chunks))
        return Response(headers={"content-type": JSON}, body=answers.array(chunks))

    def _require(self, request: Request, resource: str) -> None:
        try:
            email = self._accounts.email(request)
        except UnknownToken:
            email = None
        if email is None:
            raise answers.unauthenticated()
        if DISABLED in self.faults:
            raise answers.disabled(self._project)
        if member(email) not in self._users:
            raise answers.denied(resource)

    def _fail_if_asked_to(self) -> None:
        for fault, refusal in ((QUOTA, answers.exhausted), (BROKEN, answers.unavailable)):
            with self._lock:
                parameters = self.faults.parameters(fault)
                if parameters is None:
                    continue
                left = parameters.get("times")
                if left is not None and left <= 1:
                    self.faults.switch_off(fault)
                elif left is not None:
                    self.faults.switch_on(fault, times=left - 1)
            raise refusal()

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
                # Until the other side leaves, or for as long as nobody would wait.
                self._sleep(600)
            case "cut":
                pass
            case _:
                yield answers.last_chunk(finish, model=model, prompt_tokens=prompt_tokens, answer_tokens=len(pieces))

    def _control(self, request: Request) -> Response:
        if request.method == "POST":
            for key, value in json_body(request).items():
                match key:
                    case "grant":
                        users = self._users | {value}
                        self.faults.switch_off(DENIED)
                        self._users = users
                    case "revoke":
                        self._users -= {value}
                    case "enable":
                        self.faults.switch_off(DISABLED)
                    case _:
                        return json_response({"error": f"nothing is called {key!r}"}, status=400)
        state = {"project": self._project, "models": list(self._models), "users": sorted(self._users)}
        return json_response(state)

    def _changed(self, name: str, parameters: Mapping[str, Any] | None) -> None:
        if name == DENIED:
            self._users = self._granted if parameters is None else frozenset()


def main() -> None:
    """Serve until stopped by a signal."""
    parser = CommandLine("vertex_ai")
    parser.add_argument("--project", default="my-hub-project")
    parser.add_list("--model", "a model that there is")
    parser.add_list("--user", f"an account that has {ROLE}")
    parser.add_tokens()
    given = parser.parse_args()
    service = VertexAi(
        project=given.project,
        models=given.model,
        users=given.user,
        issuers=given.issuer,
        tokens_of=pairs(given.token),
    )
    serve(recorded(service.handle), name="vertex_ai", port=given.port)


if __name__ == "__main__":
    main()
