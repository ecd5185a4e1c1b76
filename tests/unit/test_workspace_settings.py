"""The settings of the Workspace worker."""

import pytest

from workers.workspace import settings

ENVIRON = {"WORKSPACE_MODEL": "gemini-2.5-flash", "GOOGLE_CLOUD_PROJECT": "p"}


def test_without_a_word_it_only_reads() -> None:
    own = settings.read([], ENVIRON)
    assert (own.roles, own.may_write, str(own.zone)) == (("workspace",), frozenset(), "UTC")
    assert (own.project, own.location) == ("p", "global")


def test_each_kind_of_writing_is_allowed_by_itself() -> None:
    arguments = [
        "--role",
        "a",
        "--role",
        "b",
        "--may-write",
        "mail",
        "--may-write",
        "docs",
        "--time-zone",
        "Asia/Tokyo",
    ]
    own = settings.read(arguments, ENVIRON)
    assert (own.roles, own.may_write, str(own.zone)) == (
        ("a", "b"),
        frozenset({"mail", "docs"}),
        "Asia/Tokyo",
    )


@pytest.mark.parametrize(
    ("arguments", "changes", "told"),
    [
        ([], {"WORKSPACE_MODEL": ""}, "WORKSPACE_MODEL"),
        ([], {"GOOGLE_CLOUD_PROJECT": ""}, "GOOGLE_API_KEY"),
        ([], {"WORKSPACE_ACCOUNT": "a@p.iam.gserviceaccount.com"}, "WORKSPACE_USER"),
        ([], {"WORKSPACE_ENDPOINT": "http://example.com"}, "WORKSPACE_ENDPOINT"),
        ([], {"VERTEX_AI_ENDPOINT": "http://example.com"}, "VERTEX_AI_ENDPOINT"),
        (["--time-zone", "Tokyo"], {}, "there is no time zone 'Tokyo'"),
        (["--may-write", "everything"], {}, "--may-write"),
        (["--seconds", "0"], {}, "--seconds"),
    ],
)
def test_what_is_wrong_is_told(
    arguments: list[str], changes: dict[str, str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        settings.read(arguments, ENVIRON | changes)
    assert told in capsys.readouterr().err


def test_help_is_there_without_any_setting(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        settings.read(["--help"], {})
    told = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert "one person's Google Drive, Docs, Gmail and Calendar" in told
    assert "WORKER_TOKEN" in told
