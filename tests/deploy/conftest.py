"""One gcloud for all tests of the deployment in a process: loading it takes longer than what it is asked."""

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.deploy.warm_gcloud.lifecycle import warm_gcloud


@pytest.fixture(scope="package", autouse=True)  # in each process: it takes seconds, and the folder minutes
def gcloud_on_path() -> Iterator[None]:
    """`gcloud` is the resident one, where one is installed."""
    installed = shutil.which("gcloud")
    if installed is None:
        yield
        return
    with warm_gcloud(installed) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield
