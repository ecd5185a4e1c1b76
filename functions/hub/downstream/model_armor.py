"""Google's Model Armor, which screens requests and answers by a template (cloud.google.com/security-command-center/docs)."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.diagnosis.report import Step, failed, ok
from a2a_hub.http.client import Budget, Http, HttpFailure
from a2a_hub.http.messages import JSON, Cancellation
from a2a_hub.identity.service_tokens import TokenUnavailable
from a2a_hub.settings.reader import Settings
from a2a_hub.text.decoding import Undecodable

_TEMPLATE = re.compile(r"projects/[^/]+/locations/(?P<location>[a-z0-9-]+)/templates/[^/]+")
_SECONDS, _MAX_BYTES = 10.0, 4 << 20
# Filters skip what is longer than some thousand tokens, and so do not screen it. Each piece is screened with the end of the one
# before, since what lies across their border is in neither.
_PIECE = re.compile(r"(?s).{1,3600}(?:(?<=\s)|$)|.{1,3600}")
_OVERLAP_CHARACTERS = 400
# Office documents are ZIP archives; the folder of a file in them tells their kind (APPNOTE.TXT 4.3.7).
_OFFICE = re.compile(rb"(?s)PK\x03\x04.{26}(word|xl|ppt)/")
_OFFICE_KINDS = {b"word": "WORD_DOCUMENT", b"xl": "EXCEL_DOCUMENT", b"ppt": "POWERPOINT_DOCUMENT"}
_FIXES = {
    403: "grant the hub's service account roles/modelarmor.user in the project of the template, and enable "
    "modelarmor.googleapis.com there",
    404: "create the template, or correct MODEL_ARMOR_TEMPLATE: gcloud model-armor templates list --location=LOCATION",
}


class Direction(StrEnum):
    """The way of a text: from the caller to the agent, or back."""

    REQUEST = "request"
    ANSWER = "answer"


_METHODS = {
    Direction.REQUEST: ("sanitizeUserPrompt", "userPromptData"),
    Direction.ANSWER: ("sanitizeModelResponse", "modelResponseData"),
}


class ModelArmorSettings(Struct, frozen=True, kw_only=True):
    """The template, and the address of its region. `fails_open`: what cannot be screened goes through."""

    template: str
    endpoint: str
    fails_open: bool


class Verdict(Struct, frozen=True, kw_only=True):
    """The names of the filters that matched, and the text without what the only matching filter, of personal data, found."""

    matches: tuple[str, ...] = ()
    redacted: str | None = None


class Unscreened(Exception):
    """The text was not screened, or not by every filter; `matches` are those that matched nevertheless.

    `cause` and `remedy` are for the operator; `status` is that of HTTP, if Model Armor has answered with an error.
    """

    def __init__(
        self, cause: str, remedy: str | None = None, *, matches: Iterable[str] = (), status: int | None = None
    ) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy
        self.matches = matches
        self.status = status


def read(settings: Settings) -> ModelArmorSettings | None:
    """Return the settings of Model Armor; None without a template. Mistakes become problems."""
    away = settings.choice("MODEL_ARMOR_AWAY", "closed", ("closed", "open"))
    endpoint, template = settings.endpoint("MODEL_ARMOR_ENDPOINT"), settings.optional("MODEL_ARMOR_TEMPLATE")
    if template is None:
        return None
    match = _TEMPLATE.fullmatch(template)
    if match is None:
        settings.problem("MODEL_ARMOR_TEMPLATE", "must be projects/PROJECT/locations/LOCATION/templates/TEMPLATE")
        return None
    google = f"https://modelarmor.{match['location']}.rep.googleapis.com"
    return ModelArmorSettings(template=template, endpoint=endpoint or google, fails_open=away == "open")


class ModelArmor:
    """The template's filters. `access_token` raises TokenUnavailable."""

    def __init__(self, settings: ModelArmorSettings, *, http: Http, access_token: Callable[[], str]) -> None:
        self.fails_open = settings.fails_open
        self._url = f"{settings.endpoint}/v1/{settings.template}"
        self._http = http
        self._access_token = access_token

    def screen(self, text: str, direction: Direction, cancellation: Cancellation) -> Verdict:
        """Return what the filters found in a text. Raises Unscreened, but not with `fails_open` where they found something."""
        method, field = _METHODS[direction]
        budget = Budget.within(_SECONDS, now=self._http.clock(), max_bytes=_MAX_BYTES)
        matches: dict[str, None] = {}
        pieces: list[str | None] = []
        before = ""
        for piece in _PIECE.findall(text):
            screened = before + piece
            value = {
                field: {"text": screened},
                "multiLanguageDetectionMetadata": {"enableMultiLanguageDetection": True},
            }
            try:
                found = self._send(method, value, budget, cancellation)
            except Unscreened as problem:
                matches |= dict.fromkeys(problem.matches)
                if matches and self.fails_open:
                    return Verdict(matches=tuple(matches))
                raise
            matches |= dict.fromkeys(found)
            passed = _redacted(found) if found else screened
            # What reaches into the piece before cannot be taken out of that any more.
            passed = passed.removeprefix(before) if passed is not None and passed.startswith(before) else None
            pieces.append(passed)
            before = (piece if passed is None else passed)[-_OVERLAP_CHARACTERS:]
        known = [each for each in pieces if each is not None]
        return Verdict(matches=tuple(matches), redacted="".join(known) if len(known) == len(pieces) else None)

    def screen_file(self, content: bytes, kind: str, direction: Direction, cancellation: Cancellation) -> Verdict:
        """Return what the filters found in a file of a kind that `document_kind` names. Raises Unscreened, and Undecodable for a
        file that is broken or too large for Model Armor.
        """
        method, field = _METHODS[direction]
        budget = Budget.within(_SECONDS, now=self._http.clock(), max_bytes=_MAX_BYTES)
        value = {field: {"byteItem": {"byteDataType": kind, "byteData": b64encode(content).decode()}}}
        try:
            return Verdict(matches=tuple(self._send(method, value, budget, cancellation)))
        except Unscreened as problem:
            if problem.status == HTTPStatus.BAD_REQUEST:
                raise Undecodable(problem.cause) from None
            raise

    def examine(self) -> Step:
        """Return the doctor's step: the template screens a text, or why not."""
        try:
            self.screen("Hello.", Direction.REQUEST, Cancellation())
        except Unscreened as problem:
            return failed(
                "template", problem.cause, remedy=problem.remedy or "ask again, or see status.cloud.google.com"
            )
        return ok("template", "Model Armor screens texts by the template of MODEL_ARMOR_TEMPLATE")

    def _send(self, method: str, value: object, budget: Budget, cancellation: Cancellation) -> Mapping[str, Any]:
        """Return the filters that matched, with their results. Raises Unscreened."""
        try:
            headers = {"authorization": f"Bearer {self._access_token()}", "content-type": JSON}
            body, url = msgspec.json.encode(value), f"{self._url}:{method}"
            answer = self._http.request(
                "POST", url, headers=headers, body=body, budget=budget, cancellation=cancellation
            )
            content = answer.read()
        except TokenUnavailable:
            raise Unscreened("there are no credentials for Model Armor") from None
        except HttpFailure as failure:
            raise Unscreened(f"Model Armor does not answer: {failure.detail}") from None
        if answer.status != 200:
            raise Unscreened(
                f"Model Armor answers HTTP {answer.status}", _FIXES.get(answer.status), status=answer.status
            )
        try:
            result = json.loads(content)["sanitizationResult"]
            outcome, state = result.get("invocationResult"), result.get("filterMatchState")
            found = {name: each for name, each in result.get("filterResults", {}).items() if _has_match(each)}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Unscreened("Model Armor answers in no known form") from None
        if outcome != "SUCCESS":
            raise Unscreened(f"Model Armor has screened nothing, or not by every filter: {outcome}", matches=found)
        return found if found or state == "NO_MATCH_FOUND" else {"unnamed": None}


def document_kind(content: bytes) -> str | None:
    """Return what Model Armor calls a file of this content (`ByteItemType`); None if it reads no such files."""
    # Readers take what stands before it for granted.
    if b"%PDF-" in content[:1024]:
        return "PDF"
    match = _OFFICE.search(content)
    return _OFFICE_KINDS[match[1]] if match else None


def _has_match(value: Any) -> bool:
    return isinstance(value, dict) and (
        value.get("matchState") == "MATCH_FOUND" or any(map(_has_match, value.values()))
    )


def _redacted(found: Mapping[str, Any]) -> str | None:
    """Return the text as the filter of personal data gives it back; None if others matched, or it only inspects."""
    try:
        text = found["sdp"]["sdpFilterResult"]["deidentifyResult"]["data"]["text"] if found.keys() == {"sdp"} else None
    except (KeyError, TypeError):
        return None
    return text if isinstance(text, str) else None
