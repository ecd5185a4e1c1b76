"""cloudbuild.yaml is what Cloud Build takes, and what checks that can fail."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy import config_reader
from tests.deploy.tools import ROOT

FILE = ROOT / "cloudbuild.yaml"


def build() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return loaded


def step(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(step for step in document["steps"] if step["id"] == name)


def schema_accepts(file: Path) -> bool:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.cloudbuild", str(file)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_the_schema_accepts_the_build() -> None:
    assert schema_accepts(FILE)


def test_the_schema_refuses_a_key_that_there_is_not(tmp_path: Path) -> None:
    document = build()
    step(document, "bundle")["waitfor"] = ["test"]
    broken = tmp_path / "cloudbuild.yaml"
    broken.write_text(yaml.safe_dump(document))
    assert not schema_accepts(broken)


def test_each_step_has_an_id_of_its_own_and_waits_for_named_steps_before_it() -> None:
    earlier: list[str] = []
    for each in build()["steps"]:
        # Without waitFor, Cloud Build waits for every step before it; "-" is for none.
        assert set(each["waitFor"]) <= {"-", *earlier}, each["id"]
        earlier.append(each["id"])
    assert len(set(earlier)) == len(earlier)


def test_each_image_is_pinned_by_its_digest() -> None:
    document = build()
    images = {name: each for name, each in document["substitutions"].items() if name not in ("_CONFIG", "_DEPLOYER")}
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", image) for image in images.values())
    assert {each["name"] for each in document["steps"]} <= {f"${{{name}}}" for name in images}
    for file in ROOT.glob("services/*/Dockerfile"):
        assert re.findall(r"^FROM (.*)$", file.read_text(), re.MULTILINE) == [images["_PYTHON"]], file


def test_the_build_has_an_account_of_its_own_and_logs_where_that_account_may() -> None:
    document = build()
    assert document["serviceAccount"] == "projects/${PROJECT_ID}/serviceAccounts/${_DEPLOYER}"
    assert document["options"]["logging"] == "CLOUD_LOGGING_ONLY"
    assert "cloudbuild.gserviceaccount.com" not in FILE.read_text()


# What Google's Dockerfiles put into its images of gcloud, beside Debian's own programs (GoogleCloudPlatform/cloud-sdk-docker).
PROGRAMS = {
    "slim": ("curl", "docker", "gcloud", "git", "python3"),
    "stable": ("gcloud",),
}
# Of Debian's slim image those that deploy.sh starts.
DEBIAN = ("bash", "cat", "dirname", "env", "grep", "mkdir", "mktemp", "rm", "sed", "sort", "tail", "tee")


def bundled_in(image: str, folder: Path, **others: str) -> subprocess.CompletedProcess[str]:
    """deploy.sh where there are only the programs of that image, and others by their names and paths."""
    found = {"python3": sys.executable} | {name: shutil.which(name) for name in DEBIAN} | others
    for name in (*DEBIAN, *PROGRAMS[image], *others):
        # What a dry run asks for, and does not start.
        (folder / name).symlink_to(found.get(name) or "/bin/true")
    command = ["./deploy.sh", "--config", "deploy.example.toml", "--dry-run", "--only", "bundle"]
    return subprocess.run(command, cwd=ROOT, env={"PATH": str(folder)}, capture_output=True, text=True, check=False)


def test_the_images_of_the_build_have_what_its_steps_start(tmp_path: Path) -> None:
    images = {name: image.partition("@")[0] for name, image in build()["substitutions"].items()}
    assert images["_EMULATORS"].endswith("-emulators")
    assert {each["name"] for each in build()["steps"]} == {"${_GCLOUD}", "${_PYTHON}"}
    assert step(build(), "test")["entrypoint"] in PROGRAMS["slim"]
    done = bundled_in(images["_GCLOUD"].rpartition("-")[2], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_bundles_are_made_by_the_python_of_the_functions() -> None:
    text = (ROOT / "deploy.example.toml").read_text()
    config = config_reader.load(text, name="deploy.toml", direct=False, mode="run")
    version = config.runtime.removeprefix("python3")
    assert build()["substitutions"]["_PYTHON"].startswith(f"python:3.{version}-slim@")
    assert step(build(), "bundle")["name"] == "${_PYTHON}"


# One that does not run is pyenv's stand-in for a version that is not chosen.
@pytest.mark.parametrize(("program", "made_by"), [("/bin/true", "python3.13"), ("/bin/false", "python3")])
def test_deploy_sh_makes_bundles_by_that_python_where_it_runs(program: str, made_by: str, tmp_path: Path) -> None:
    done = bundled_in("slim", tmp_path, **{"python3.13": program})
    assert f"\n{made_by} -m local.bundle docqa " in done.stdout


def test_an_image_without_python_is_found_out(tmp_path: Path) -> None:
    done = bundled_in("stable", tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "deploy.sh: python3 is needed, and not installed (docs/deployment.md)\n",
    )


def test_the_tests_of_the_build_have_no_token_of_the_deployer_and_a_copy_of_what_is_deployed() -> None:
    *docker, image, _, _, commands = step(build(), "test")["args"]
    # Cloud Build answers for credentials in its network `cloudbuild` alone.
    assert docker == ["run", "--rm", "--network=bridge", "--volume=/workspace:/source:ro"]
    assert image == "${_EMULATORS}"
    assert commands.startswith("cp -r /source /tests && cd /tests && ")
    # The image has neither make nor what `python3 -m venv` needs on Debian.
    assert "make python3-venv && make test" in commands
