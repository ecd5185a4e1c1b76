"""A form of gateway/openapi.yaml without custom verbs after a variable, which API Gateway may refuse: `/tasks/{id}:cancel`.

A variable is one segment whatever is in it, so `/tasks/{id}` matches `/tasks/1:cancel` too; the gate tells them apart.
"""

import re

_PATH = re.compile(r"(?m)^(?=  /\S*:$)")
_METHOD = re.compile(r"(?m)^(?=    (?:get|post|put|patch|delete):$)")
_VERB = re.compile(r"  (/\S*\}):[a-z]+:\n")
_SHORT, _LONG = "x-google-backend: gate\n", "x-google-backend: gate_agents\n"


def plain(text: str) -> str:
    """Return the document with the operations of each verb on the path before it. One that is there already has the longer
    deadline of the two.
    """
    head, *blocks = _PATH.split(text)
    *blocks, last = blocks
    last, separator, rest = last.partition("\ncomponents:")
    paths: dict[str, dict[str, str]] = {}
    for block in (*blocks, last + ("\n" if separator else "")):
        opening, *methods = _METHOD.split(block)
        verb = _VERB.match(opening)
        there = paths.setdefault(f"  {verb[1]}:\n" if verb else opening.partition("\n")[0] + "\n", {"": opening})
        for method in methods:
            name = method.split(":")[0]
            if name in there and _LONG in method:
                there[name] = there[name].replace(_SHORT, _LONG)
            there.setdefault(name, method)
    joined = "".join("".join(parts.values()) for parts in paths.values())
    return head + joined.removesuffix("\n") + separator + rest if separator else head + joined
