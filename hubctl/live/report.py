"""The tables of `hubctl evaluate --live`, and docs/paper.md."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from hubctl.console import row, table_head
from hubctl.live.paper import Finding, Outcome

_LIVE_HEADER = ("", "question", "route", "agent", "answer", "cited", "UI ms", "REST ms")
_LIVE_WIDTHS = (1, 40, 8, 24, 48, 5, 7, 7)
_HEADER = ("", "case", "query", "JSON-RPC: one text part", "REST: /tools/query", "cited")
_WIDTHS = (1, 22, 8, 66, 28, 5)
_REFERENCE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST = 110
_INTRODUCTION = """# The paper, reproduced

“Mind the Boundary: Stabilizing Gemini Enterprise A2A via a Cloud Run Hub Across Projects and Accounts” asks four queries over
two paths, and reports the results with missing permissions. This page repeats its evaluation over the local cloud: the
real functions, the unmodified Google libraries, and stand-ins for Cloud Run's IAM check, Discovery Engine, Cloud Storage and
the metadata server. The stand-ins follow the services' documentation. This is an assumption: nothing here was run on Google
Cloud. The answers come from the sample agents and the sample corpus.

```sh
make run CLOUD=local                                              # in another terminal; it prints a token
HUB_DEV_TOKEN=… .venv/bin/hubctl evaluate --live --paper           # the table; exit status 0 if all is as the paper reports
HUB_DEV_TOKEN=… .venv/bin/hubctl evaluate --live --paper --markdown > docs/paper.md   # this page
```

After each fault, the command asks the case's question again and expects an answer."""
_LESSON = """Without `storage.objects.get` the search still returns passages, some of them from editions that are no longer in
force. The hub shows them as unverified, and never as the answer: retrieval and evidence are two permissions
(the paper's lesson 4)."""
_ELSEWHERE = """## Further statements of the paper

| the paper | here |
|---|---|
| §3.2: one text part for the UI, structure for `POST /tools/query` | the two columns above |
| §3.3: rules choose the route, no model does | `hubctl check --text '…'` names the rule and the words |
| §3.3, §4.2: the text of `params.message.parts`, else `params.text` | `curl` with `"params": {"text": "…"}` |
| §3.4, §5.4: each boundary has its credential | `hubctl doctor` names account, audience and role at each |
| §4.1: the endpoints | [the README's table](../README.md#the-path-of-a-request) |
| §4.3: exceptions become a text, never HTTP 500 | `tests/integration/test_containment.py` |
| §6: the experiments were in Japanese | `hubctl evaluate --live` asks in both languages |

On Google Cloud: [deploy it](deployment.md); `hubctl evaluate --live --url https://HUB --token TOKEN` asks the same there.
Create the faults yourself there: remove a role, or set an `audience` in `routes.toml`."""


def answers_table(outcomes: Sequence[Outcome]) -> Iterable[str]:
    """Yield the table, the faults, and the count of right answers."""
    yield from table_head(_LIVE_HEADER, _LIVE_WIDTHS)
    for each in outcomes:
        record = each.record
        cells = (
            "✗" if each.wrong else "✓",
            each.question.text,
            str(record.get("route")),
            str(record.get("agent")),
            each.inspected.text,
            str(len(record.get("citations", []))),
            f"{each.ui.milliseconds:.1f}",
            f"{each.inspected.milliseconds:.1f}",
        )
        yield row(cells, _LIVE_WIDTHS)
    yield ""
    for each in outcomes:
        for fault in each.wrong:
            yield f"wrong: {each.question.text}: {fault}"
    right = sum(not each.wrong for each in outcomes)
    yield f"{right} of {len(outcomes)} right on both paths"


def findings_table(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the table, the paper's text on each case, the differences, and the count."""
    yield from table_head(_HEADER, _WIDTHS)
    for each in findings:
        citations = str(len(each.record.get("citations", [])))
        mark = "✗" if each.wrong else "✓"
        yield row((mark, each.case.id, each.question.route, each.ui.text, _rest(each), citations), _WIDTHS)
    yield ""
    for case, _ in groupby(findings, key=lambda each: each.case):
        yield f"the paper on “{case.id}”: {case.paper}"
    yield ""
    for each in findings:
        for fault in each.wrong:
            yield f"wrong: {each.case.id}: {each.question.text}: {fault}"
    yield _count(findings)


def findings_page(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the page, without anything that differs from run to run."""
    yield _INTRODUCTION
    for case, group in groupby(findings, key=lambda each: each.case):
        yield f"\n## {case.id[0].upper()}{case.id[1:]}\n"
        yield f"The paper, {case.paper}\n"
        yield "| query | JSON-RPC: one text part | REST | cited | as the paper reports |"
        yield "|---|---|---|---|---|"
        for each in group:
            verdict = "; ".join(each.wrong) or "yes"
            citations = len(each.record.get("citations", []))
            yield f"| {each.question.text} | {_shortened(each.ui.text)} | {_rest(each)} | {citations} | {verdict} |"
        if case.unread:
            yield f"\n{_LESSON}"
    yield f"\n{_count(findings)}\n"
    yield _ELSEWHERE


def _rest(finding: Finding) -> str:
    route = str(finding.record.get("route"))
    boundary = finding.record.get("boundary")
    if finding.status is not None:
        return f"{route} ({boundary}): HTTP {finding.status}"
    grounded = (finding.record.get("data") or {}).get("grounded")
    return f"{route} ({boundary}){': unverified' if grounded is False else ''}"


def _shortened(text: str) -> str:
    flat = " ".join(_REFERENCE.sub("…", text).split()).replace("|", "\\|")
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1].rstrip() + "…"


def _count(findings: Sequence[Finding]) -> str:
    right = sum(not each.wrong for each in findings)
    return f"{right} of {len(findings)} as the paper reports, each over both paths"
