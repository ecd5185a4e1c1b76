"""deploy.sh in a copy of the project, with the real gcloud and a cloud of its own."""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.tools import ROOT, program
from tests.fakes.google_cloud.all_apis import GoogleCloud
from tests.fakes.google_cloud.cloud import serving

PROJECTS = {
    "my-hub-project": "111111111111",
    "my-finance-project": "222222222222",
    "partner-pm-project": "333333333333",
}
_PARTS = ("deploy", "gateway", "local", "services", "deploy.sh", "deploy.example.toml", "routes.toml")
_LONG_PARTS = ("functions", "shared", "firestore.indexes.json")
# What deploy.sh itself needs of these.
_NEEDED = ("functions/*.py", "functions/*/main.py", "functions/*/requirements.txt", "shared/a2a_hub/*.py")
_NEEDED_PACKAGES = ("shared/a2a_hub/routing", "shared/a2a_hub/toml")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


@dataclass
class Outcome:
    """How a run ended, what it printed, and what it changed in the cloud: `api method path`."""

    status: int
    out: str
    err: str
    changes: list[str]


@dataclass
class Deployment:
    """A copy of the project and the cloud that it is deployed to."""

    tree: Path
    google: GoogleCloud
    environment: dict[str, str]

    def deploy(self, *arguments: str) -> Outcome:
        """Runs `deploy.sh` with these arguments."""
        before = len(self.google.cloud.changes)
        done = subprocess.run(
            ["./deploy.sh", *arguments],
            cwd=self.tree,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr, self.google.cloud.changes[before:])


@contextlib.contextmanager
def deployment(folder: Path, *, config: str, whole: bool = False) -> Iterator[Deployment]:
    """A deployment with this deploy.toml. Nothing is deployed yet; the bundles are not made.

    Only a `whole` one has all code of the functions, and more than one index of the database.
    """
    program("gcloud")
    tree = copied_tree(folder, whole=whole)
    (tree / "deploy.toml").write_text(config)
    google = GoogleCloud(PROJECTS)
    with serving(google.cloud, folder=folder) as environment:
        yield Deployment(tree, google, environment | {"DEPLOY_PAUSE_SECONDS": "0", "COMMIT_SHA": "abc123"})


def copied_tree(folder: Path, *, whole: bool = True) -> Path:
    """Return what deploy.sh needs of the project, without what an earlier run left; a `whole` one has all that it deploys."""
    tree = folder / "tree"
    needed = [str(path.relative_to(ROOT)) for pattern in _NEEDED for path in ROOT.glob(pattern)]
    for part in (*_PARTS, *(_LONG_PARTS if whole else [*needed, *_NEEDED_PACKAGES])):
        source, target = ROOT / part, tree / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=_LEFT_OUT)
        else:
            shutil.copy(source, target)
    if not whole:
        wanted = json.loads((ROOT / "firestore.indexes.json").read_text())
        (tree / "firestore.indexes.json").write_text(json.dumps({key: values[:1] for key, values in wanted.items()}))
    return tree


def without_cloud(folder: Path) -> dict[str, str]:
    """An environment in which gcloud has no account, no cloud, and no file outside `folder`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CLOUDSDK_CONFIG": str(folder / "gcloud"),
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
    }
