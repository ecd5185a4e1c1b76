"""The resident gcloud of these tests does what the installed one does."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.deploy.tools import program
from tests.fakes.google_cloud.all_apis import GoogleCloud
from tests.fakes.google_cloud.cloud import serving

SECRET = "projects/p-one/secrets/key"


@pytest.fixture
def google() -> GoogleCloud:
    one = GoogleCloud({"p-one": "1"})
    one.secrets.values[SECRET] = []
    return one


@pytest.fixture
def environment(google: GoogleCloud, tmp_path: Path) -> Iterator[Mapping[str, str]]:
    with serving(google.cloud, folder=tmp_path) as environment:
        yield environment


@pytest.mark.parametrize(
    "arguments",
    [
        ["projects", "describe", "p-one", "--format=value(projectNumber)"],
        ["projects", "describe", "p-one", "--account"],
        ["secrets", "describe", "other", "--project=p-one"],
        ["secrets", "versions", "add", "key", "--data-file=-", "--project=p-one"],
    ],
    ids=["answered", "misspelled", "not found", "standard input"],
)
def test_a_command_prints_answers_and_changes_what_it_does_when_it_is_started_by_itself(
    arguments: list[str], environment: Mapping[str, str], google: GoogleCloud, tmp_path: Path
) -> None:
    warm = program("gcloud")
    others = os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if folder != str(Path(warm).parent)
    )
    cold = shutil.which("gcloud", path=others)
    assert cold

    def outcome(gcloud: str) -> tuple[int, str, str, list[str]]:
        google.cloud.changes.clear()
        google.secrets.values[SECRET] = []
        done = subprocess.run(
            [gcloud, *arguments],
            env=environment,
            cwd=tmp_path,
            input="of a pipe",
            capture_output=True,
            text=True,
        )
        return (
            done.returncode,
            done.stdout,
            done.stderr,
            [*google.cloud.changes, *google.secrets.values[SECRET]],
        )

    assert outcome(warm) == outcome(cold)


def test_commands_at_the_same_time_do_not_meet(environment: Mapping[str, str]) -> None:
    command = [program("gcloud"), "projects", "describe", "--format=value(projectNumber)"]
    running = [
        subprocess.Popen([*command, name], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for name in ("p-one", "other", "p-one")
    ]
    assert [(*process.communicate(), process.returncode)[::2] for process in running] == [
        ("1\n", 0),
        ("", 1),
        ("1\n", 0),
    ]
