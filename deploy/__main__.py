"""`python3 -m deploy`: the plan and its parts, printed for `deploy.sh`. Needs only Python, since nothing is installed yet."""

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from a2a_hub.toml.checked_table import VARIABLE
from deploy import advice, config_reader, environments, keys, life, monitoring, plan, shell
from deploy.config import ConfigError
from deploy.functions import BY_NAME
from deploy.gcloud import Gcloud
from deploy.plan import Plan

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str]) -> int:
    """Return 0, or 2 with the errors on standard error."""
    parser = argparse.ArgumentParser(prog="python3 -m deploy", description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "deploy.toml")
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--mode", choices=("run", "functions"), default="run")
    questions = parser.add_subparsers(dest="question", required=True)
    questions.add_parser("plan", help="Bash declarations of everything that is to be")
    environment = questions.add_parser(
        "environment",
        help="writes a function's variables to a file, and prints a hash of them and of all it is made of",
    )
    environment.add_argument("function")
    environment.add_argument("target", type=Path)
    environment.add_argument("bundle", type=Path)
    environment.add_argument("addresses", nargs="*", metavar="NAME=URL")
    rendered = questions.add_parser("api-config", help="writes the gateway's OpenAPI file, and prints its id")
    rendered.add_argument("target", type=Path)
    rendered.add_argument("account")
    rendered.add_argument("addresses", nargs="*", metavar="NAME=URL")
    questions.add_parser("missing-indexes", help="the flags of indexes that are not in the list on standard input")
    questions.add_parser("missing-fields", help="the same of fields that are to have no index")
    store = questions.add_parser("check-store", help="fails if the services on standard input have tasks elsewhere")
    store.add_argument("database")
    store.add_argument("--exists", action="store_true")
    store.add_argument("--empty-store", action="store_true")
    reading = questions.add_parser("preflight", help="what would stop the deployment")
    reading.add_argument("--json", action="store_true")
    reading.add_argument("--dry-run", action="store_true")
    undoing = {
        "delete": questions.add_parser("delete", help="deletes what a deployment made"),
        "rollback": questions.add_parser("rollback", help="undoes the last deployment"),
    }
    for each in undoing.values():
        each.add_argument("--json", action="store_true")
        each.add_argument("--dry-run", action="store_true")
    undoing["delete"].add_argument("--data", action="store_true")
    undoing["delete"].add_argument("--yes", action="store_true")
    watching = questions.add_parser("monitoring", help="makes the dashboard and the alert policies, or deletes them")
    watching.add_argument("folder", type=Path)
    watching.add_argument("--dry-run", action="store_true")
    rotation = questions.add_parser("rotate-key", help="gives a signer a new key (hubctl keys rotate)")
    rotation.add_argument("key")
    rotation.add_argument("--retire", action="store_true")
    rotation.add_argument("--dry-run", action="store_true")
    outcome = questions.add_parser("outcome", help="a deployment as JSON; the refused grants are on standard input")
    outcome.add_argument("url")
    outcome.add_argument("functions", nargs="*", metavar="NAME=OUTCOME")
    questions.add_parser("advice", help="what to do about the failure described on standard input")
    # What follows `--` is a command that the question is about, never options of this one.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parsed, command = parser.parse_args(arguments[:end]), arguments[end + 1 :]
    try:
        return _answer(parsed, command)
    except (ConfigError, shell.UnknownAddress, OSError) as problem:
        print(problem, file=sys.stderr)
        return 2


def _answer(parsed: argparse.Namespace, command: Sequence[str]) -> int:
    match parsed.question:
        case "plan":
            print("\n".join(shell.declarations(_plan(parsed))))
        case "environment":
            addresses = _pairs(parsed.addresses)
            variables = _plan(parsed).environment(
                parsed.function,
                urls=addresses,
                public_url=addresses.get("public", ""),
                commit=os.environ.get("COMMIT_SHA", "unknown"),
            )
            # JSON is YAML as well, which is what `--env-vars-file` reads.
            text = json.dumps(variables, indent=2, sort_keys=True, ensure_ascii=False)
            parsed.target.write_text(f"{text}\n", encoding="utf-8")
            print(shell.fingerprint(parsed.bundle, environment=variables, flags=command))
        case "api-config":
            addresses = {f"{name.upper()}_URL": url for name, url in _pairs(parsed.addresses).items()}
            source = (ROOT / "gateway" / "openapi.yaml").read_text(encoding="utf-8")
            gateway = _plan(parsed).config.gateway
            text = shell.render(
                source, addresses=addresses, streaming=gateway.streaming, plain_paths=gateway.plain_paths
            )
            parsed.target.parent.mkdir(parents=True, exist_ok=True)
            parsed.target.write_text(text, encoding="utf-8")
            print(shell.config_id(text, service_account=parsed.account))
        case "missing-indexes" | "missing-fields" as question:
            wanted = json.loads((ROOT / "firestore.indexes.json").read_text(encoding="utf-8"))
            there = json.loads(sys.stdin.read().strip() or "[]")
            missing = plan.missing_indexes if question == "missing-indexes" else plan.missing_fields
            for line in missing(wanted, there):
                print(line)
        case "check-store":
            environments.check_store(
                json.loads(sys.stdin.read().strip() or "[]"),
                plan=_plan(parsed),
                database=parsed.database,
                exists=parsed.exists,
                empty_store=parsed.empty_store,
            )
        case "preflight":
            # It loads an HTTP client, and deploy.sh starts the other questions many times.
            from deploy import preflight

            found = preflight.findings(_plan(parsed), Gcloud(dry_run=parsed.dry_run, quiet=True))
            if parsed.json or not parsed.dry_run:
                print(preflight.render(found, as_json=parsed.json))
            return 1 if any(finding.level == "error" for finding in found) else 0
        case "delete" | "rollback":
            return _undo(parsed)
        case "monitoring":
            settings, gcloud = _plan(parsed), Gcloud(dry_run=parsed.dry_run)
            failed = life.carry_out(list(monitoring.steps(settings, gcloud, parsed.folder)), gcloud)
            return _report_failed(failed)
        case "rotate-key":
            keys.rotate(_plan(parsed), Gcloud(dry_run=parsed.dry_run), parsed.key, retire=parsed.retire)
        case "outcome":
            functions, refused = _pairs(parsed.functions), sys.stdin.read().splitlines()
            print(
                json.dumps({"url": parsed.url, "functions": functions, "refused": [*filter(None, refused)]}, indent=2)
            )
        case "advice":
            print(advice.advice(sys.stdin.read(), command=command))
    return 0


def _undo(parsed: argparse.Namespace) -> int:
    """Carry out what `delete` or `rollback` asks for. Return 1 if a step failed."""
    settings, gcloud = _plan(parsed), Gcloud(dry_run=parsed.dry_run)
    if parsed.question == "rollback":
        steps = list(life.rollback(settings, gcloud))
    else:
        prefix = settings.config.name_prefix
        if not (parsed.dry_run or parsed.yes):
            kept = "and its database, with all tasks" if parsed.data else "but not its database"
            print(f"This deletes the environment {prefix}, {kept}. To go on, type {prefix}", file=sys.stderr)
            if sys.stdin.readline().strip() != prefix:
                raise ConfigError("Nothing was deleted. Without a question: --yes")
        watching = monitoring.steps(settings, gcloud, ROOT / "build" / "monitoring", removes=True)
        steps = [*watching, *life.deletion(settings, gcloud, data=parsed.data)]
    failed = life.carry_out(steps, gcloud)
    if parsed.json:
        print(json.dumps({"done": len(steps) - len(failed), "failed": failed}, indent=2))
    elif not steps and not parsed.dry_run:
        print("# there is nothing before the last deployment", file=sys.stderr)
    return _report_failed(failed)


def _report_failed(failed: Sequence[str]) -> int:
    for message in failed:
        print(f"FAILED  {message}", file=sys.stderr)
    return 1 if failed else 0


def _plan(parsed: argparse.Namespace) -> Plan:
    try:
        text = parsed.config.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        message = f"There is no {parsed.config}: copy deploy.example.toml to it, and write your projects into it."
        raise ConfigError(message) from None
    except OSError as problem:
        raise ConfigError(f"{parsed.config} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{parsed.config} is not UTF-8: save it as UTF-8") from None
    table = _routes()
    roles = sorted({route["role"] for route in table.get("routes", ()) if route.get("role")})
    loaded = config_reader.load(
        text,
        name=str(parsed.config),
        route_variables=sorted(set(_variables(table))),
        passes_tokens=any(route.get("boundary") == "user" for route in table.get("routes", ())),
        roles=roles,
        boundaries=_boundaries(table),
        direct=parsed.direct,
        mode=parsed.mode,
    )
    return Plan(config=loaded, direct=parsed.direct, mode=parsed.mode, roles=roles)


def _routes() -> Mapping[str, Any]:
    """Return the route table, checked in its form only; `hubctl check` does the rest."""
    try:
        table = tomllib.loads((ROOT / "routes.toml").read_text(encoding="utf-8"))
    except ValueError as problem:
        raise ConfigError(f"routes.toml is no TOML: {problem}") from None
    if not all(isinstance(route, dict) for route in table.get("routes", ())):
        raise ConfigError("routes.toml: write each route under a [[routes]] line")
    return table


def _boundaries(table: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the boundary of each route to a function of the deployment, by the function's name."""
    routes = {route.get("url"): route.get("boundary", "") for route in table.get("routes", ())}
    return {name: routes[url] for name in BY_NAME if (url := f"${{{name.upper()}_URL}}") in routes}


def _variables(value: Any) -> Iterator[str]:
    """Return the names of all `${NAME}` in a TOML value."""
    if isinstance(value, str):
        yield from VARIABLE.findall(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _variables(item)


def _pairs(words: Sequence[str]) -> Mapping[str, str]:
    return {name: value for name, _, value in (word.partition("=") for word in words)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
