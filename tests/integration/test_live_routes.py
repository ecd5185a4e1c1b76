"""The route table in a bucket: hubs follow it, and `hubctl routes` compares, replaces and restores it."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.routing.bucket_file import BucketFile, BucketRefused
from a2a_hub.routing.table_file import RouteFile, RouteSource
from a2a_hub.settings import hub
from a2a_hub.settings.reader import Settings, SettingsError
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.log import Log
from hubctl.main import main
from local.cloud.accounts import Accounts
from local.cloud.buckets import Bucket
from local.cloud.cloud_storage import CloudStorage
from local.cloud.policies import OBJECT_VIEWER, Policy
from local.cloud.program import Server
from tests.unit.route_tables import DEFAULT, route_text

URI = "gs://tables/prod/routes.toml"
HUB, OPERATOR = "hub@my-hub-project.iam.gserviceaccount.com", "operator@example.com"


def table(*keywords: str, id_: str = "pm") -> str:
    return route_text(id_, f"keywords = {json.dumps(keywords)}", priority=1) + DEFAULT


@dataclass
class Scene:
    """The bucket behind its API, a folder with the operator's files, and hubctl."""

    bucket: Bucket
    url: str
    folder: Path

    def file(self, token: str = "hub") -> BucketFile:
        return BucketFile(URI, http=HttpClient(), access_token=lambda: token, endpoint=self.url)

    def store(self, text: str) -> None:
        self.bucket.put("prod/routes.toml", text.encode())

    @property
    def stored(self) -> str:
        found = self.bucket.get("prod/routes.toml")
        return found.content.decode() if found else ""

    def hubctl(
        self, action: str, *options: str, new: str = "", token: str = "operator", audit_log: Path | None = None
    ) -> tuple[int, str]:
        (self.folder / "new.toml").write_text(new)
        (self.folder / "questions.tsv").write_text("A WBS\tpm\nGantt, please\tpm\nWho are you?\tother\n")
        files = ("--routes", str(self.folder / "new.toml"), "--questions", str(self.folder / "questions.tsv"))
        out = io.StringIO()
        environment = {"ROUTES_FILE": URI, "STORAGE_EMULATOR_HOST": self.url, "CLOUDSDK_AUTH_ACCESS_TOKEN": token}
        environment |= {"AUDIT_LOG": str(audit_log)} if audit_log else {}
        return main(["routes", action, *files, *options], environment=environment, out=out), out.getvalue()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    bucket = Bucket("tables", versioning=True)
    bucket.policy = Policy([{"role": OBJECT_VIEWER, "members": [f"serviceAccount:{HUB}"]}])
    accounts = Accounts({"hub": HUB, "operator": OPERATOR}, operators=[OPERATOR])
    with Server(CloudStorage([bucket], accounts=accounts).handle) as server:
        yield Scene(bucket, server.url, tmp_path)


def test_a_file_is_read_when_it_has_changed(scene: Scene) -> None:
    file = scene.file()
    with pytest.raises(BucketRefused) as refused:
        file.changed()
    assert refused.value.status == 404
    scene.store("one")
    assert [file.changed(), file.changed()] == ["one", None]
    scene.store("two")
    assert file.changed() == "two"


def test_a_file_is_replaced_only_by_who_has_seen_it(scene: Scene) -> None:
    file = scene.file("operator")
    first = file.write("--=a2a-hub=--\r\n", replaces=0)
    assert scene.stored == "--=a2a-hub=--\r\n"
    assert file.write("表", replaces=first) > first
    with pytest.raises(BucketRefused) as refused:
        file.write("three", replaces=first)
    assert (refused.value.status, scene.stored) == (412, "表")


def test_a_hub_follows_the_bucket_and_survives_its_errors(scene: Scene, tmp_path: Path) -> None:
    deployed = tmp_path / "routes.toml"
    deployed.write_text(table("deployed"))
    source = RouteFile(deployed, {}, fetch=scene.file().changed)
    now, lines, seen = [0.0], list[bytes](), list[Any]()
    start = source.start()
    assert start is not None
    assert start[0].by_id["pm"].keywords == ("deployed",)
    log = Log(lines.append, clock=lambda: 0.0, new_id=lambda: "", function="test")
    reload = RouteSource(
        source,
        seconds=300,
        changed=lambda table, _: seen.append(table.by_id["pm"].keywords),
        log=log,
        clock=lambda: now[0],
        run=lambda work: work(),
    )
    assert b"HTTP 404" in lines[0]
    scene.store(table("stored"))
    reload.reload_if_due()
    for text in ("no TOML [", table("again")):
        scene.store(text)
        now[0] += 300
        reload.reload_if_due()
    assert seen == [("stored",), ("again",)]
    assert b"the last one stays in use" in b"".join(lines)


def test_who_changed_the_table_and_that_the_hub_uses_it_is_in_the_audit_log(scene: Scene, tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    try:
        scene.hubctl("push", new=table("first"), audit_log=log)
        scene.hubctl("push", new=table("second"), audit_log=log)
        scene.hubctl("diff", new=table("third"), audit_log=log)
        scene.hubctl("rollback", audit_log=log)
        source = RouteFile(tmp_path / "absent.toml", {}, fetch=scene.file().changed)
        followed = RouteSource(
            source,
            seconds=0,
            changed=lambda *_: None,
            log=Log(lambda _: None, clock=lambda: 0.0, new_id=lambda: "", function="test"),
            clock=lambda: 0.0,
            run=lambda work: work(),
        )
        followed.reload_if_due()
    finally:
        audit.install(None)
    *made, used = (json.loads(line)["audit"] for line in log.read_text().splitlines())
    assert [(each["event"], each["action"], each["file"]) for each in made] == [
        ("changed", "push", URI),
        ("changed", "push", URI),
        ("changed", "rollback", URI),
    ]
    assert made[0]["subject"].startswith("operator:")
    assert made[0]["sha256"] == made[2]["sha256"] == used["sha256"] != made[1]["sha256"]
    assert (used["event"], used["object"], used["subject"]) == ("changed", "route table", "anonymous")
    main_status = main(["audit", "verify", str(log)], environment={}, out=io.StringIO())
    assert main_status == 0


def test_nothing_is_pushed_where_the_audit_log_cannot_be_written(scene: Scene, tmp_path: Path) -> None:
    assert scene.hubctl("push", new=table("first"), audit_log=tmp_path)[0] == 2
    assert scene.hubctl("push", new=table("first"), audit_log=Path("stdout"))[0] == 2
    assert scene.stored == ""


def test_settings_take_a_bucket_and_refuse_half_a_name(scene: Scene) -> None:
    def read(uri: str) -> hub.HubSettings:
        environ = {"ROUTES_FILE": uri, "HUB_PUBLIC_URL": "https://hub.example", "STORAGE_EMULATOR_HOST": scene.url}
        settings = Settings(environ)
        read = hub.read(settings, environ, needs_urls=False)
        settings.check()
        return read

    # Nobody's credentials are here: the table of this project stands in, and the log will say why.
    assert read(URI).routes_file.problem
    with pytest.raises(SettingsError, match="ROUTES_FILE names no object of a bucket"):
        read("gs://tables")


def test_a_first_push_makes_the_table_and_a_diff_shows_what_changes(scene: Scene) -> None:
    assert scene.hubctl("push", new=table("WBS"))[0] == 0
    assert scene.stored == table("WBS")
    status, said = scene.hubctl(
        "diff", "--json", new=table("WBS", "gantt") + route_text("hr", 'keywords = ["leave"]', priority=2)
    )
    assert (status, scene.stored) == (0, table("WBS"))
    change = json.loads(said)
    assert (change["written"], change["added"], change["changed"]) == (False, ["hr"], {"pm": ["keywords"]})
    assert change["moved"] == [{"line": 2, "text": "Gantt, please", "expected": "pm", "before": "other", "after": "pm"}]
    assert "nothing to push" in scene.hubctl("push", new=table("WBS"))[1]


def test_a_push_that_makes_a_labelled_question_worse_has_to_be_meant(scene: Scene) -> None:
    scene.store(table("WBS"))
    status, said = scene.hubctl("push", new=table("plan"))
    assert (status, scene.stored) == (1, table("WBS"))
    assert "1: pm → other (labelled pm): A WBS" in said
    assert "not pushed" in said
    assert scene.hubctl("push", "--force", new=table("plan"))[0] == 0
    assert scene.stored == table("plan")


def test_questions_of_the_log_are_shown_and_hinder_no_push(scene: Scene) -> None:
    scene.store(table("WBS"))
    log = scene.folder / "hub.log"
    lines = [{"route": "other", "text": "My roadmap"}, {"route": "other"}, {"text": "a roadmap"}]
    log.write_text("".join(json.dumps(each) + "\n" for each in [*lines, lines[0]]))
    status, said = scene.hubctl("push", "--log", str(log), new=table("WBS", "roadmap"))
    assert status == 0
    assert "1: other → pm (from the log): My roadmap" in said
    assert "1 of 4 questions change their route" in said


def test_rollbacks_go_further_back_each_time(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    for keyword in ("one", "two", "three"):
        scene.store(table(keyword))
    assert scene.hubctl("rollback")[0] == 0
    assert scene.stored == table("two")
    scene.hubctl("rollback")
    assert scene.stored == table("one")
    assert scene.hubctl("rollback")[0] == 2
    assert "gcloud storage buckets update gs://tables --versioning" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "new", "token", "message"),
    [
        (("--bucket", "tables/routes.toml"), table("WBS"), "operator", "gs://bucket/routes.toml"),
        ((), "[[routes]]\n", "operator", "the table has errors"),
        ((), table("plan", "WBS"), "hub", "--role=roles/storage.objectUser"),
        ((), table("WBS"), "nobody", "are your credentials valid?"),
    ],
)
def test_what_cannot_be_pushed_is_told_with_the_way_out(
    scene: Scene, options: tuple[str, ...], new: str, token: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.store(table("WBS"))
    assert scene.hubctl("push", *options, new=new, token=token)[0] == 2
    assert message in capsys.readouterr().err
    assert scene.stored == table("WBS")
