"""`hubctl corpus` as a program, on the bucket and the data store of `make run CLOUD=local`."""

import os
import subprocess
import sys

from local.cloud.wiring import BUCKET, DATA_STORE, HUB_PROJECT, OPERATOR_TOKEN
from tests.e2e.hubs import ROOT
from tests.e2e.local_clouds import LocalCloud

CORPUS = ROOT / "functions" / "docqa" / "corpus"


def hubctl(cloud: LocalCloud, *arguments: object) -> tuple[int, str]:
    """The exit status and what was written."""
    done = subprocess.run(
        [sys.executable, "-m", "hubctl", "corpus", *map(str, arguments)],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "CLOUDSDK_AUTH_ACCESS_TOKEN": OPERATOR_TOKEN,
            "DISCOVERY_ENGINE_PROJECT": HUB_PROJECT,
            "DISCOVERY_ENGINE_DATA_STORE": DATA_STORE,
            "DISCOVERY_ENGINE_ENDPOINT": cloud.urls["discovery-engine"],
            "STORAGE_EMULATOR_HOST": cloud.urls["storage"],
            "CORPUS_BUCKET": BUCKET,
        },
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_sample_documents_agree_with_their_folder_before_and_after_a_push(cloud: LocalCloud) -> None:
    before = hubctl(cloud, "status", CORPUS)
    pushed = hubctl(cloud, "push", CORPUS)
    after = hubctl(cloud, "status", CORPUS)
    assert [status for status, _ in (before, pushed, after)] == [0, 0, 0], (before, pushed, after)
    assert "uploaded" not in pushed[1]
    assert "unchanged" in hubctl(cloud, "push", CORPUS)[1]
