"""What is printed for pasting into a shell means there what it says, wherever the project stands."""

import subprocess
from pathlib import Path

from local.run import welcome
from local.settings import Settings


def test_the_line_for_the_clouds_gcloud_can_be_pasted_from_a_folder_with_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "my clone's" / ".run"
    settings = Settings(port=8080, dev_token="token", folder=folder, has_cloud=True)
    told = welcome(settings, cloud={"metadata-hub": "http://127.0.0.1:9"}, urls={})
    line = next(line for line in told.splitlines() if "PATH=" in line)
    pasted = line[line.index("PATH=") :]
    ended = subprocess.run(
        ["/bin/sh", "-c", f'{pasted}; printf %s "$PATH"'], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split(":")[0] == f"{folder}/bin"
