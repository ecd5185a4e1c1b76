"""`python3 -m deploy`: the plan and its parts, printed for `deploy.sh`. Needs only Python, since nothing is installed yet."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from a2a_hub.toml.checked_table import VARIABLE
from a2a_hub.toml.document import parse
from deploy import advice, config_reader, keys, lifecycle, plan, shell
from deploy.config import ConfigError, Routes
from deploy.functions import functions
from deploy.gcloud import Gcloud
from deploy.plan import Plan

ROOT = Path(__file__).resolve().parent.parent
# Each with its own arguments, in order.
_QUESTIONS = {
    "plan": ("Bash declarations of everything that is to be", ""),
    "environment": (
        "writes a function's variables to a file, and prints a hash of them and of all it is made of",
        "function target bundle NAME=URL",
    ),
    "api-config": ("writes the gateway's OpenAPI file, and prints its id", "target account NAME=URL"),
    "missing-indexes": ("the flags of indexes that are not in the list on standard input", ""),
    "missing-fields": ("the same of fields that are to have no index", ""),
    "check-store": (
        "fails if the services on standard input have tasks elsewhere",
        "database --exists --empty-store",
    ),
    "preflight": ("what would stop the deployment", "--json --dry-run"),
    "delete": ("deletes what a deployment made", "--json --dry-run --data --yes"),
    "rollback": ("undoes the last deployment", "--json --dry-run"),
    "monitoring": ("makes the dashboard and the alert policies, or deletes them", "folder --dry-run"),
    "rotate-key": ("gives a signer a new key (hubctl keys rotate)", "key --retire --dry-run"),
    "outcome": ("a deployment as JSON; the refused grants are on standard input", "url NAME=OUTCOME"),
    "advice": ("what to do about the failure described on standard input", ""),
}
_PATHS = ("target", "bundle", "folder")


def main(arguments: Sequence[str]) -> int:
    """Return 0, or 2 with the errors on standard error."""
    parser = argparse.ArgumentParser(prog="python3 -m deploy", description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "deploy.toml")
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--mode", choices=("run", "functions"), default="run")
    questions = parser.add_subparsers(dest="question", required=True)
    for name, (help_text, own) in _QUESTIONS.items():
        question = questions.add_parser(name, help=help_text)
        for each in own.split():
            if each.startswith("--"):
                question.add_argument(each, action="store_true")
            elif "=" in each:
                question.add_argument("pairs", nargs="*", metavar=each)
            else:
                question.add_argument(each, type=Path if each in _PATHS else str)
    # After `--` comes the command in question, never an option of this one.
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
            addresses = _pairs(parsed.pairs)
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
            addresses = {f"{name.upper()}_URL": url for name, url in _pairs(parsed.pairs).items()}
            gateway = _plan(parsed).config.gateway
            source = ROOT / "gateway" / ("openapi-plain.yaml" if gateway.plain_paths else "openapi.yaml")
            text = shell.render(source.read_text(encoding="utf-8"), addresses=addresses, streaming=gateway.streaming)
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
            plan.check_store(
                json.loads(sys.stdin.read().strip() or "[]"),
                plan=_plan(parsed),
                database=parsed.database,
                exists=parsed.exists,
                empty_store=parsed.empty_store,
            )
        case "preflight":
            # Imported here, since it loads an HTTP client that the frequent subcommands do not need.
            from deploy import preflight

            if not parsed.dry_run:
                print("# reading what would stop the deployment: this takes up to a minute", file=sys.stderr)
            found = preflight.findings(_plan(parsed), Gcloud(dry_run=parsed.dry_run, quiet=True))
            if parsed.json or not parsed.dry_run:
                print(preflight.render(found, as_json=parsed.json))
            return 1 if any(finding.level == "error" for finding in found) else 0
        case "delete" | "rollback":
            return _undo(parsed)
        case "monitoring":
            settings, gcloud = _plan(parsed), Gcloud(dry_run=parsed.dry_run)
            failed = lifecycle.carry_out(list(lifecycle.monitoring_steps(settings, gcloud, parsed.folder)), gcloud)
            return _report_failed(failed)
        case "rotate-key":
            keys.rotate(_plan(parsed), Gcloud(dry_run=parsed.dry_run), parsed.key, retire=parsed.retire)
        case "outcome":
            functions, refused = _pairs(parsed.pairs), sys.stdin.read().splitlines()
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
        steps = list(lifecycle.rollback(settings, gcloud))
        end = "the revisions before serve all requests; ./deploy.sh --canary 100 ends the rollback"
        end = end if steps else "there is nothing before the last deployment"
    else:
        prefix = settings.config.name_prefix
        if not (parsed.dry_run or parsed.yes):
            kept = "and its database, with all tasks" if parsed.data else "but not its database"
            print(f"This deletes the environment {prefix}, {kept}. To go on, type {prefix}", file=sys.stderr)
            if sys.stdin.readline().strip() != prefix:
                raise ConfigError("Nothing was deleted. Without a question: --yes")
        watching = lifecycle.monitoring_steps(settings, gcloud, ROOT / "build" / "monitoring", removes=True)
        steps = [*watching, *lifecycle.deletion(settings, gcloud, data=parsed.data)]
        end = "deleted" if parsed.data else "deleted, except for the databases (--data)"
    failed = lifecycle.carry_out(steps, gcloud)
    if parsed.json:
        print(json.dumps({"done": len(steps) - len(failed), "failed": failed}, indent=2))
    elif not (failed or parsed.dry_run):
        print(f"# {end}", file=sys.stderr)
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
    routes = _routes()
    loaded = config_reader.load(text, name=str(parsed.config), routes=routes, direct=parsed.direct, mode=parsed.mode)
    return Plan(config=loaded, direct=parsed.direct, mode=parsed.mode, roles=routes.roles)


def _routes() -> Routes:
    """Read the route table, which is checked in its form only; `hubctl check` does the rest."""
    try:
        table = parse((ROOT / "routes.toml").read_text(encoding="utf-8"))
    except ValueError as problem:
        raise ConfigError(f"routes.toml is no TOML: {problem}") from None
    routes = table.get("routes", ())
    if not all(isinstance(route, dict) for route in routes):
        raise ConfigError("routes.toml: write each route under a [[routes]] line")
    boundaries = {route.get("url"): route.get("boundary", "") for route in routes}
    return Routes(
        variables=sorted(set(_variables(table))),
        roles=sorted({route["role"] for route in routes if route.get("role")}),
        boundaries={name: boundaries[url] for name in functions() if (url := f"${{{name.upper()}_URL}}") in boundaries},
        passes_tokens=any(route.get("boundary") == "user" for route in routes),
    )


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
