"""Creates or updates the authorization and the agent, reads both back, and reports each change."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hubctl.main import CommandError
from hubctl.registration.api import Api, Refused
from hubctl.registration.oauth import CREDENTIALS_PAGE, Probe, probe_secret
from hubctl.registration.target import (
    Call,
    RegisteredAgent,
    Target,
    candidates,
    delete_agent,
    get_resource,
    read_agent,
    unlike,
    update_agent,
    written_agent,
)

_DELETION_SECONDS = 120.0
_FIRST_POLL_SECONDS = 0.05
_LONGEST_POLL_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredRegistration:
    """The desired registration. `oauth` is None if an existing authorization is used unchanged, or none at all."""

    card: dict[str, Any]
    oauth: dict[str, Any] | None
    shared: bool
    agent_id: str | None

    def body(self, target: Target) -> dict[str, Any]:
        """Return the agent as it is written."""
        return written_agent(self.card, authorization=target.authorization, shared=self.shared)


def dry_run(wanted: DesiredRegistration, target: Target) -> Iterator[tuple[str, Call]]:
    """Yield the requests in their order, each with its condition."""
    if wanted.agent_id is None:
        yield "Which agents have this card's name or url?", target.list_agents()
    name = agent_name(target, wanted.agent_id or "AGENT_ID")
    if wanted.agent_id is not None:
        yield "The agent:", get_resource(name)
    if target.authorization is not None:
        yield "Is the authorization there?", get_resource(target.authorization)
        if wanted.oauth is not None:
            yield "If not:", target.create_authorization(wanted.oauth, display_name=wanted.card["name"])
            when = "If it is (without updateMask this would answer 200 and change nothing):"
            yield when, target.update_authorization(wanted.oauth)
            yield "Then it is read back and compared:", get_resource(target.authorization)
    if wanted.agent_id is None:
        yield "If no agent has:", target.create_agent(wanted.body(target))
    yield "If one has:" if wanted.agent_id is None else "Then:", update_agent(name, wanted.body(target))
    yield "Then it is read back and compared:", get_resource(name)


def apply(api: Api, wanted: DesiredRegistration) -> Iterator[str]:
    """Make authorization and agent as wanted; yield a line for each change. Raises CommandError."""
    target = api.target
    agent = chosen_agent(api, wanted.card, agent_id=wanted.agent_id)
    if target.authorization is not None:
        if wanted.oauth is not None:
            yield _try_secret(api, wanted.oauth)
        yield f"authorization {target.authorization}: {_write_authorization(api, wanted)}"
    body = wanted.body(target)
    if agent is None:
        name, done = str(api.send(target.create_agent(body))["name"]), "created"
    else:
        name, done = agent.name, "updated"
        api.send(update_agent(name, body))
    held = api.send(get_resource(name))
    if differing := list(unlike(body, held)):
        raise CommandError(
            f"agent {name}: the API answered 200, and still holds other values of {', '.join(differing)}"
        )
    yield f"agent {name}: {done}, read back and compared"
    yield from _next_steps(read_agent(held), updated=agent is not None)


def chosen_agent(api: Api, card: dict[str, Any], *, agent_id: str | None) -> RegisteredAgent | None:
    """Return the agent with this id, else the one that has the card's name or url; None where there is none.

    Raises CommandError where several have.
    """
    if agent_id is not None:
        return read_agent(api.send(get_resource(agent_name(api.target, agent_id))))
    found = candidates(api.agents(), card)
    if len(found) > 1:
        listed = "\n".join(f"    {each.id}  {each.display_name}  {(each.card or {}).get('url')}" for each in found)
        raise CommandError(
            f"{len(found)} agents have this card's name or url:\n{listed}\n"
            "Choose one with --agent ID, and delete the others with: hubctl register delete ID …"
        )
    return found[0] if found else None


def dry_deletion(target: Target, agent_id: str | None) -> Iterator[tuple[str, Call]]:
    """Yield the requests of a deletion in their order, each with its condition."""
    if agent_id is None:
        yield "Which agents have this card's name or url?", target.list_agents()
    name = agent_name(target, agent_id or "AGENT_ID")
    yield "Then, until its operation is done:", delete_agent(name)


def agent_name(target: Target, agent_id: str) -> str:
    """Return the agent's resource name; a name is returned as it is."""
    return agent_id if "/" in agent_id else f"{target.assistant}/agents/{agent_id}"


def delete(api: Api, agent: RegisteredAgent) -> None:
    """Delete the agent and wait until it is gone. Raises CommandError."""
    operation = api.send(delete_agent(agent.name))
    deadline = api.http.clock() + _DELETION_SECONDS
    pause = _FIRST_POLL_SECONDS
    while operation.get("name") and not operation.get("done"):
        if api.http.clock() > deadline:
            raise CommandError(f"the deletion is still going on: {operation['name']}")
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_POLL_SECONDS)
        operation = api.send(get_resource(str(operation["name"])))
    if error := operation.get("error"):
        raise CommandError(f"agent {agent.name} was not deleted: {error.get('message')}")


def _try_secret(api: Api, oauth: dict[str, Any]) -> str:
    """Refuse a stale secret: it would begin the endless authorization loop. Raises CommandError."""
    probe, answer = probe_secret(api.http, api.endpoints, oauth, secret=oauth["clientSecret"])
    match probe:
        case Probe.BAD:
            raise CommandError(
                f"the client secret is not that of {oauth['clientId']}: the token URI answers {answer} to a throw-away code. "
                f"Nothing was written. Make a new secret: {CREDENTIALS_PAGE}"
            )
        case Probe.GOOD:
            return f"client {oauth['clientId']}: its secret is good"
        case Probe.UNKNOWN:
            return f"client {oauth['clientId']}: its secret could not be verified ({answer})"


def _write_authorization(api: Api, wanted: DesiredRegistration) -> str:
    target, oauth = api.target, wanted.oauth
    name = target.authorization or ""
    existing = api.found(name)
    if oauth is None:
        if existing is None:
            raise CommandError(
                f"there is no authorization {name}: to create it, give --client-id and the secret; if it is in another "
                "location, give --authorization-location"
            )
        return "is there, left as it is"
    done = "updated"
    if existing is None:
        try:
            api.tried(target.create_authorization(oauth, display_name=wanted.card["name"]))
            done = "created"
        except Refused as refused:
            # Somebody was faster, or may see less than they may write: what is there keeps its values until it is patched.
            if refused.code != 409:
                raise api.refusal(refused) from None
    if done == "updated":
        api.send(target.update_authorization(oauth))
    held = api.send(get_resource(name)).get("serverSideOauth2", {})
    differing = [field for field in oauth if field in held and held[field] != oauth[field]]
    differing += [field for field in ("clientId", "authorizationUri", "tokenUri") if field not in held]
    if differing:
        raise CommandError(
            f"authorization {name}: the API answered 200, and still holds other values of {', '.join(differing)}"
        )
    unseen = "" if "clientSecret" in held else " (the secret cannot be read back)"
    return f"{done}, read back and compared{unseen}"


def _next_steps(agent: RegisteredAgent, *, updated: bool) -> Iterator[str]:
    if agent.shared:
        yield "people see it: it is shared with all users"
    else:
        yield "people do not see it yet: register again without --not-shared, or share it in the console"
    if updated:
        yield "start a new conversation to see the change: an open one goes on with the card that it began with"
    host = urlsplit(str((agent.card or {}).get("url"))).hostname or ""
    if host.endswith(".run.app"):
        number = agent.name.split("/")[1]
        yield (
            "if its Cloud Run service asks for IAM, Gemini Enterprise needs the role there:\n"
            "    gcloud run services add-iam-policy-binding SERVICE --region=REGION --role=roles/run.invoker \\\n"
            f"        --member=serviceAccount:service-{number}@gcp-sa-discoveryengine.iam.gserviceaccount.com"
        )
