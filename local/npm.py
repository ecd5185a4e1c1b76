"""Programs that npm has, at the versions that a folder's package-lock.json pins."""

import contextlib
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

_RUN = Path(__file__).parents[1] / ".run" / "npm"


def installed(npm: str, packages: Path) -> Path:
    """The folder `node_modules` with what `packages` pins; fetched once, by the program `npm`."""
    lock = packages / "package-lock.json"
    folder = _RUN / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    found = folder / "node_modules"
    if not found.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            for file in (packages / "package.json", lock):
                shutil.copyfile(file, Path(fresh, file.name))
            command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=fresh, check=True)
            # Another run at the same time may have been faster; what is there already is the same.
            with contextlib.suppress(OSError):
                Path(fresh, "node_modules").rename(found)
    return found
