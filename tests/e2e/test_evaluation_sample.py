"""The output of `hubctl evaluate --live` in docs/routes.md is the command's own."""

import io
import re

from hubctl.main import main
from tests.e2e.hubs import ROOT, Hub

# They differ from run to run.
_TIMES = re.compile(r" +\d+\.\d +\d+\.\d$", re.MULTILINE)


def test_the_page_shows_what_an_evaluation_prints(hub: Hub) -> None:
    page = (ROOT / "docs/routes.md").read_text(encoding="utf-8")
    (sample,) = re.findall(r"hubctl evaluate --live\n(.*?)```", page, re.DOTALL)
    out = io.StringIO()
    status = main(["evaluate", "--live", "--url", hub.url, "--token", hub.tokens[0]], environment={}, out=out)
    assert status == 0
    assert _TIMES.sub("", out.getvalue()) == _TIMES.sub("", sample)
