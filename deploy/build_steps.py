"""`python -m deploy.build_steps cloudbuild.yaml`: check what Cloud Build's schema cannot: waits for no step, images by tag."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

# Waits for no step.
_AT_ONCE = "-"
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


def problems(build: Mapping[str, Any]) -> Iterator[str]:
    """Yield the errors in the steps of a build: unknown or later steps in `waitFor`, ids that are repeated or missing, and
    images that are not pinned by digest.
    """
    earlier: set[str] = set()
    ids = [step.get("id", "") for step in build["steps"]]
    for step, name in zip(build["steps"], ids, strict=True):
        if not name:
            yield f"a step of {step['name']} has no id"
        elif name in earlier:
            yield f"two steps have the id {name}"
        if "waitFor" not in step:
            yield f"{name} does not say what it waits for: every step before it"
        for awaited in step.get("waitFor", ()):
            if awaited == _AT_ONCE or awaited in earlier:
                continue
            yield f"{name} waits for {awaited}, which {'comes later' if awaited in ids else 'is no step'}"
        earlier.add(name)
        substitutions = build.get("substitutions", {})
        # A step of docker runs another image.
        images = [
            step["name"],
            *(word for word in step.get("args", ()) if word.startswith("${_") and step.get("entrypoint") == "docker"),
        ]
        for image in (substitutions.get(each.strip("${}"), each) for each in images):
            if not _DIGEST.search(image):
                yield f"{name} runs {image}, whose tag may be moved: add its @sha256:…"


def main(arguments: Sequence[str]) -> int:
    """Print the errors; return 1 if there are any."""
    found = [
        f"{file}: {problem}"
        for file in arguments
        for problem in problems(yaml.safe_load(Path(file).read_text(encoding="utf-8")))
    ]
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
