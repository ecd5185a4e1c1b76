"""The Workspace worker acts for a person in each of the ways that its documentation describes, and says what is missing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.fakes.metadata_server import claims_of
from tests.fakes.token_issuers import TokenIssuers
from tests.fakes.workspace import OWNER, SCOPE, Workspace
from workers.workspace.failures import Cause, GoogleFailed
from workers.workspace.google import Api, Google, credentials_of

ACCOUNT = "workspace-worker@my-hub-project.iam.gserviceaccount.com"
DEVELOPER = "developer@my-hub-project.iam.gserviceaccount.com"
SCOPES = [SCOPE + "drive.readonly", SCOPE + "gmail.readonly"]


class Issuers(TokenIssuers):
    """They also sign for an account, and give out tokens for whom that may act for, one by one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.given: list[tuple[str, str, str]] = []

    def answer(self, path: str, authorization: str, body: bytes) -> dict[str, Any]:
        """Return what is given out."""
        if path.endswith(":signJwt"):
            self.asked.append((path.rpartition("/")[2], authorization))
            return {
                "keyId": self.key.id,
                "signedJwt": self.key.signed(json.loads(json.loads(body)["payload"])),
            }
        form = parse_qs(body.decode())
        if form.get("grant_type") == ["refresh_token"]:
            return self._token(SCOPES[0])
        if path.endswith("/token"):
            claims = {name: str(value) for name, value in claims_of(form["assertion"][0]).items()}
            self.given.append((claims["iss"], claims.get("sub", ""), claims["scope"]))
            return self._token(claims["scope"])
        return super().answer(path, authorization, body)

    @staticmethod
    def _token(scope: str) -> dict[str, Any]:
        return {"access_token": f"ya29.{scope}", "expires_in": 3600, "token_type": "Bearer"}


@pytest.fixture
def issuers(tmp_path: Path) -> Iterator[Issuers]:
    with Issuers(tmp_path) as issuers:
        yield issuers


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    workspace = Workspace()
    with workspace.server:
        yield workspace


def use(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    *,
    user: str = "",
    account: str = "",
) -> None:
    """A file and a mail are looked for."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    google = Google(
        credentials_of(user=user, account=account),
        endpoint=workspace.server.url,
        seconds=5,
        first_wait_seconds=0.01,
    )
    google.get(Api.DRIVE, "/files", scope=SCOPES[0], q="trashed = false")
    google.get(Api.GMAIL, "/messages", scope=SCOPES[1])


def test_an_account_without_a_key_acts_for_a_person_with_one_scope_at_a_time(
    workspace: Workspace, issuers: Issuers, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = issuers.environment(issuers.service_account_key(DEVELOPER))
    use(workspace, monkeypatch, environment, user=OWNER, account=ACCOUNT)
    assert issuers.asked == [(f"{ACCOUNT}:signJwt", f"Bearer ya29.{SCOPE}iam")] * 2
    assert [each for each in issuers.given if each[0] == ACCOUNT] == [(ACCOUNT, OWNER, scope) for scope in SCOPES]


def test_an_account_with_a_key_acts_for_a_person(
    workspace: Workspace, issuers: Issuers, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(workspace, monkeypatch, issuers.environment(issuers.service_account_key(ACCOUNT)), user=OWNER)
    assert issuers.given == [(ACCOUNT, OWNER, scope) for scope in SCOPES]


def test_ones_own_account_has_the_scopes_that_it_was_given_and_no_other(
    workspace: Workspace, issuers: Issuers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    own = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
    with pytest.raises(GoogleFailed) as failed:
        use(workspace, monkeypatch, issuers.environment(own))
    assert [each.path.split("?")[0] for each in workspace.server.received] == [
        "/drive/v3/files",
        "/gmail/v1/users/me/messages",
    ]
    assert failed.value.cause is Cause.SETTING_UP
    assert "grant https://www.googleapis.com/auth/gmail.readonly" in caplog.text


def test_ones_own_account_cannot_act_for_another_person(
    workspace: Workspace, issuers: Issuers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    own = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
    with pytest.raises(GoogleFailed) as failed:
        use(workspace, monkeypatch, issuers.environment(own), user=OWNER)
    assert failed.value.cause is Cause.SETTING_UP
    assert "WORKSPACE_USER needs WORKSPACE_ACCOUNT" in caplog.text


def test_without_any_account_it_is_told(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    environment = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "nothing.json")}
    with pytest.raises(GoogleFailed) as failed:
        use(workspace, monkeypatch, environment)
    assert failed.value.cause is Cause.SETTING_UP
    assert "docs/workspace-worker.md" in caplog.text
