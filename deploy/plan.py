"""What follows from deploy.toml: names, service accounts, invokers, environments and secrets of each function. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from deploy.config import Config, FunctionConfig
from deploy.functions import Function, Invoker

CLIENTS_PATH = "/secrets/clients.toml"
CORPUS_PATH = "/corpus"

_RUN_APIS = ("run", "cloudbuild", "artifactregistry", "iam", "cloudresourcemanager", "storage")
_FUNCTIONS_APIS = ("cloudfunctions",)
_GATEWAY_APIS = ("apigateway", "servicemanagement", "servicecontrol")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A deployment of `config`: `direct` is one without a gateway, `mode` is `run` or `functions`."""

    config: Config
    direct: bool
    mode: str

    def wanted(self) -> tuple[FunctionConfig, ...]:
        """The functions that this deployment has, in the order of deployment."""
        functions = self.config.functions.values()
        return tuple(f for f in functions if not self.direct or f.function.direct_invoker is not None)

    def deployed(self) -> tuple[FunctionConfig, ...]:
        """Those that are deployed; the others are somebody else's."""
        return tuple(function for function in self.wanted() if function.url is None)

    def invoker(self, function: Function) -> Invoker:
        """Who may invoke `function`."""
        return function.direct_invoker or function.invoker if self.direct else function.invoker

    def service(self, name: str) -> str:
        """The name of a function's service; neither Cloud Run nor Cloud Run functions take an underscore."""
        return self.config.name_prefix + name.replace("_", "-")

    def service_account(self, name: str, project: str | None = None) -> str:
        """The service account of a function, or of `gateway` or `build`."""
        if project is None:
            function = self.config.functions.get(name)
            project = function.place.project if function else self.config.place.project
        return f"{self.service(name)}@{project}.iam.gserviceaccount.com"

    def member(self, function: Function) -> str:
        """The IAM member that holds roles/run.invoker on `function`."""
        match self.invoker(function):
            case Invoker.EVERYBODY:
                return "allUsers"
            case Invoker.GEMINI_ENTERPRISE:
                number = self.config.gemini_enterprise_project_number
                return f"serviceAccount:service-{number}@gcp-sa-discoveryengine.iam.gserviceaccount.com"
            case invoker:
                return f"serviceAccount:{self.service_account(invoker.value)}"

    def services(self) -> Mapping[str, tuple[str, ...]]:
        """The APIs that each project needs, by project."""
        home = self.config.place.project
        needed: dict[str, set[str]] = {}
        for function in self.deployed():
            apis = needed.setdefault(function.place.project, set())
            apis.update(_RUN_APIS, _FUNCTIONS_APIS if self.mode == "functions" else ())
        if self.secrets():
            needed.setdefault(home, set()).add("secretmanager")
        if not self.direct:
            needed.setdefault(home, set()).update(_GATEWAY_APIS)
        return {
            project: tuple(sorted(f"{api}.googleapis.com" for api in apis))
            for project, apis in needed.items()
        }

    def secrets_of(self, name: str) -> Mapping[str, str]:
        """A function's secrets: the variable or the path where it finds each, and the secret's name."""
        secrets = self.config.secrets
        found: dict[str, str] = {}
        if not self.direct and name in ("gate", "hub"):
            found["GATE_SIGNING_KEY"] = secrets.signing_key
        if self._reads_identity(name):
            if secrets.gateway_token:
                found["A2A_GATEWAY_TOKEN"] = secrets.gateway_token
            if secrets.clients:
                found[CLIENTS_PATH] = secrets.clients
        return found

    def secrets(self) -> Mapping[str, tuple[str, ...]]:
        """Every secret, and the functions that read it."""
        readers: dict[str, tuple[str, ...]] = {}
        for function in self.deployed():
            for secret in self.secrets_of(function.function.name).values():
                readers[secret] = (*readers.get(secret, ()), function.function.name)
        return readers

    def environment(
        self, name: str, *, urls: Mapping[str, str], public_url: str, commit: str
    ) -> Mapping[str, str]:
        """The variables of a function. `urls` has the address of every function; no secret is among them."""
        config = self.config
        function = config.functions[name]
        variables = {
            "GOOGLE_CLOUD_PROJECT": function.place.project,
            "THREADS": str(function.resources.threads),
            "LOG_TEXT": str(config.log_text).lower(),
            "COMMIT_SHA": commit,
        }
        if function.function.is_agent:
            variables["PUBLIC_URL"] = urls[name]
        if function.corpus_bucket:
            variables["CORPUS_DIR"] = CORPUS_PATH
        if name in ("hub", "agent_card"):
            variables["HUB_PUBLIC_URL"] = public_url
            agents = [agent for agent, other in config.functions.items() if other.function.is_agent]
            variables |= {f"{agent.upper()}_URL": urls[agent] for agent in agents}
        if name == "gate":
            # API Gateway puts its own token into Authorization, and the caller's here.
            variables |= {"HUB_URL": urls["hub"], "AGENT_CARD_URL": urls["agent_card"]}
            variables["CALLER_TOKEN_HEADER"] = "x-forwarded-authorization"  # noqa: S105 - a header's name
        if self._reads_identity(name):
            variables.update(self._identity_variables())
        # Both read the route table, which may have variables of the operator's own.
        table = config.functions["hub"].environment if name == "agent_card" else {}
        return {**variables, **table, **function.environment}

    def _reads_identity(self, name: str) -> bool:
        return name == ("hub" if self.direct else "gate")

    def _identity_variables(self) -> Mapping[str, str]:
        identity = self.config.identity
        listed = {
            "GOOGLE_TOKEN_AUDIENCES": identity.oauth_client_ids,
            "GOOGLE_TOKEN_DOMAINS": identity.domains,
            "ID_TOKEN_AUDIENCES": identity.id_token_audiences,
            "ID_TOKEN_CALLERS": identity.id_token_callers,
        }
        variables = {name: ",".join(values) for name, values in listed.items() if values}
        return variables | ({"CLIENTS_FILE": CLIENTS_PATH} if self.config.secrets.clients else {})
