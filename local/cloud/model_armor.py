"""Model Armor, as far as the hub uses it: a template's filters over a text or document; here they know a few words."""

import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

from a2a_hub.http.messages import Request, Response
from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.reader import read
from local.cloud.accounts import Accounts
from local.cloud.google_api import ProjectApi
from local.cloud.policies import ARMOR_ADMIN, ARMOR_USER, SANITIZE
from local.cloud.program import ApiError, json_body, json_response

DENIED, DISABLED = "deny-sanitize", "disable-api"
_PATH = re.compile(r"/v1/(projects/[^/]+/locations/[^/]+/templates/[^/]+):(sanitizeUserPrompt|sanitizeModelResponse)")
_FIELDS = {"sanitizeUserPrompt": "userPromptData", "sanitizeModelResponse": "modelResponseData"}
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_WORDS = {
    "pi_and_jailbreak": re.compile(r"ignore (?:(?:all|your) )?(?:previous )?instructions|指示を無視", re.IGNORECASE),
    "malicious_uris": re.compile(r"malicious\.example"),
    "sdp": _MAIL,
}
_RESULTS = {"pi_and_jailbreak": "piAndJailbreakFilterResult", "malicious_uris": "maliciousUriFilterResult"}
_SUFFIXES = {"PDF": ".pdf", "WORD_DOCUMENT": ".docx", "EXCEL_DOCUMENT": ".xlsx", "POWERPOINT_DOCUMENT": ".pptx"}
_STATES = {False: "NO_MATCH_FOUND", True: "MATCH_FOUND"}


class ModelArmor(ProjectApi):
    """One `template`, which `users` may use."""

    service = "modelarmor.googleapis.com"
    user_role, admin_role = ARMOR_USER, ARMOR_ADMIN
    faults_of, denied_fault, disabled_fault = "model-armor", DENIED, DISABLED

    def __init__(self, *, template: str, users: Sequence[str], accounts: Accounts) -> None:
        super().__init__(users=users, accounts=accounts)
        self._template = template

    def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if match is None or request.method != "POST":
            raise ApiError("NOT_FOUND", f"The requested URL {request.path} was not found on this server.")
        self._require_enabled()
        self._require(request, SANITIZE, match[1])
        if match[1] != self._template:
            raise ApiError("NOT_FOUND", f"Template {match[1]} not found.")
        try:
            text = _text_of(json_body(request)[_FIELDS[match[2]]])
        except (ValueError, TypeError, KeyError, Unreadable):
            raise ApiError("INVALID_ARGUMENT", "Data item is required.") from None
        if "garbled" in self.faults:
            return Response(headers={"content-type": "application/json"}, body=b"<html>")
        return json_response({"sanitizationResult": self._result(text)})

    def _result(self, text: str) -> dict[str, Any]:
        for fault in ("failure", "partial"):
            if fault in self.faults:
                # As the service does, which does not tell a skipped filter from one without a match here.
                return {"filterMatchState": "NO_MATCH_FOUND", "invocationResult": fault.upper(), "filterResults": {}}
        found = {name: bool(words.search(text)) for name, words in _WORDS.items()}
        results = {name: _filtered(name, each, text) for name, each in found.items()}
        return {
            "filterMatchState": _STATES[any(found.values())],
            "invocationResult": "SUCCESS",
            "filterResults": results,
        }


def _text_of(item: Any) -> str:
    if "byteItem" not in item:
        text: str = item["text"]
        return text
    kind, data = item["byteItem"]["byteDataType"], item["byteItem"]["byteData"]
    return read(f"a{_SUFFIXES[kind]}", "", b64decode(data)).text


def _filtered(name: str, found: bool, text: str) -> Mapping[str, Any]:
    result: dict[str, Any] = {"executionState": "EXECUTION_SUCCESS", "matchState": _STATES[found]}
    if name != "sdp":
        return {_RESULTS[name]: result}
    if found:
        result |= {"data": {"text": _MAIL.sub("[EMAIL_ADDRESS]", text)}, "infoTypes": ["EMAIL_ADDRESS"]}
    return {"sdpFilterResult": {"deidentifyResult": result}}
