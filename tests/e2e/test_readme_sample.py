"""The output of `hubctl evaluate --live` in the README is the command's own."""

import io
import re

from hubctl.main import main
from tests.e2e.hubs import ROOT, Hub

# They differ from run to run.
_TIMES = re.compile(r" +\d+\.\d +\d+\.\d$", re.MULTILINE)


def test_the_readme_shows_what_an_evaluation_prints(hub: Hub) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (sample,) = re.findall(r"hubctl evaluate --live\n(.*?)```", readme, re.DOTALL)
    out = io.StringIO()
    status = main(["evaluate", "--live", "--url", hub.url, "--token", hub.tokens[0]], environment={}, out=out)
    assert status == 0
    assert _TIMES.sub("", out.getvalue()) == _TIMES.sub("", sample)
