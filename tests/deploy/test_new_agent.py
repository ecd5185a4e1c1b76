"""The agent that `hubctl new agent` writes, deployed by its own script with the real gcloud."""

import subprocess
from pathlib import Path

from tests.deploy.deployments import PROJECTS
from tests.deploy.tools import program
from tests.fakes.google_cloud.all_apis import GoogleCloud
from tests.fakes.google_cloud.cloud import serving
from tests.unit.test_hubctl_check import hubctl

PROJECT = "my-finance-project"
HUB = "a2a-hub@my-hub-project.iam.gserviceaccount.com"


def test_it_runs_and_is_built_as_accounts_of_its_own_and_leaves_its_tools_behind(tmp_path: Path) -> None:
    program("gcloud")
    folder = tmp_path / "desk"
    assert hubctl("new", "agent", "pm", "--folder", folder)[0] == 0
    (folder / ".venv").mkdir()
    (folder / ".venv" / "large").touch()
    google = GoogleCloud(PROJECTS)
    google.cloud.accounts.add(HUB)
    with serving(google.cloud, folder=tmp_path) as environment:
        environment |= {"PROJECT": PROJECT, "HUB_ACCOUNT": HUB}
        for _ in range(2):
            command = [folder / "deploy.sh"]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    spec = google.run.services[f"{PROJECT}/pm"]["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] == f"agent-pm@{PROJECT}.iam.gserviceaccount.com"
    builder = f"build-agents@{PROJECT}.iam.gserviceaccount.com"
    assert google.run.builds[0]["serviceAccount"].endswith(builder)
    assert google.cloud.members(f"projects/{PROJECT}", "roles/run.builder") == [f"serviceAccount:{builder}"]
    assert google.cloud.members(f"{PROJECT}/pm", "roles/run.invoker") == [f"serviceAccount:{HUB}"]
    files = next(iter(google.run.uploads.values()))
    assert {file for file in files if not file.endswith("/")} == {"main.py", "requirements.txt"}
