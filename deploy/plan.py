"""The plan that follows from deploy.toml: names, accounts, invokers, environments, secrets, databases and topics. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from deploy.config import Config, ConfigError, FunctionConfig
from deploy.functions import Function, Invoker, functions, store

_DEFAULT_DATABASE = "(default)"
# Wake-ups that also go through topics of the Hedera network.
_HEDERA = "hcs,"
_HUB_TOPIC, _WEBHOOKS_TOPIC = "tasks", "webhooks"
CLIENTS_PATH = "/secrets/clients.toml"
CORPUS_PATH = "/corpus"
WORKSPACES_PATH = "/workspaces"
_RUN_APIS = ("run", "cloudbuild", "artifactregistry", "iam", "cloudresourcemanager", "storage")
_FUNCTIONS_APIS = ("cloudfunctions",)
# They are not one of our service accounts.
_OTHERS = (Invoker.EVERYBODY, Invoker.GEMINI_ENTERPRISE, Invoker.WORKERS)
# Callers from outside reach first the functions that these invoke.
_OUTSIDE = (Invoker.GATEWAY, Invoker.GEMINI_ENTERPRISE)
_GATEWAY_APIS = ("apigateway", "servicemanagement", "servicecontrol")


def database_of(variables: Mapping[str, str]) -> str:
    """Return the Firestore database that a function's variables name; empty: none."""
    kind, _, name = variables.get("TASK_STORE", "").partition(":")
    return (name or _DEFAULT_DATABASE) if kind == "firestore" else ""


def missing_indexes(wanted: Mapping[str, Any], there: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the flags of each composite index of firestore.indexes.json that is not in the list of the API."""
    known = {_shape(_collection(index["name"]), index) for index in there}
    for index in wanted["indexes"]:
        collection, scope, fields = shape = _shape(index["collectionGroup"], index)
        if shape not in known:
            configs = (f"--field-config=field-path={path},order={order.lower()}" for path, order in fields)
            scope_word = scope.lower().replace("_", "-")
            yield f"--collection-group={collection} --query-scope={scope_word} {' '.join(configs)}"


def missing_fields(wanted: Mapping[str, Any], there: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each field of firestore.indexes.json whose index is to be removed: its name, and the flag of its collection."""
    known = {
        (_collection(field["name"]), field["name"].rpartition("/")[2])
        for field in there
        if not field.get("indexConfig", {}).get("indexes")
    }
    for field in wanted["fieldOverrides"]:
        assert not field["indexes"], "a field's own indexes have other flags"
        if (field["collectionGroup"], field["fieldPath"]) not in known:
            yield f"{field['fieldPath']} --collection-group={field['collectionGroup']}"


def _shape(collection: str, index: Mapping[str, Any]) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    # Firestore adds the document's name to every index.
    fields = [(each["fieldPath"], each["order"]) for each in index["fields"] if each["fieldPath"] != "__name__"]
    return collection, index["queryScope"], tuple(fields)


def _collection(name: str) -> str:
    return name.partition("/collectionGroups/")[2].partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A deployment of `config`: `direct` is one without a gateway, `mode` is `run` or `functions`; `roles` are the routes'."""

    config: Config
    direct: bool
    mode: str
    roles: Sequence[str] = ()

    def wanted(self) -> tuple[FunctionConfig, ...]:
        """Return the functions that this deployment has, in the order of deployment."""
        settings = self.config.functions["hub"].settings
        return tuple(
            function
            for function in self.config.functions.values()
            if function.is_wanted
            and not (self.direct and function.function.only_with_gateway)
            and any(setting.startswith(function.function.only_with) for setting in ("", *settings))
        )

    def deployed(self) -> tuple[FunctionConfig, ...]:
        """Return the functions that are deployed; others are only called."""
        return tuple(function for function in self.wanted() if function.url is None)

    def invokers(self, function: Function) -> tuple[Invoker, ...]:
        """Return the invokers of `function`."""
        direct_invokers = function.direct_invokers if self.direct else ()
        invokers = direct_invokers or function.invokers
        left_out: set[str] = self.config.functions.keys() - {wanted.function.name for wanted in self.wanted()}
        if not self.topics():
            left_out.add(Invoker.WAKEUPS)
        if self.config.functions[function.name].private:
            invokers = tuple(Invoker.HUB if invoker is Invoker.EVERYBODY else invoker for invoker in invokers)
        return tuple(invoker for invoker in invokers if invoker not in left_out)

    def databases(self, functions: Iterable[FunctionConfig]) -> Mapping[str, str]:
        """Return the Firestore databases that are made, by the function that keeps its tasks there."""
        found = {
            each.function.name: database_of(self._apart({**each.function.settings, **each.environment}))
            for each in functions
        }
        return {name: database for name, database in found.items() if database}

    def _apart(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        """Return `variables` with the database and the topics of this environment, which no other one has."""
        named, prefix = {}, self.config.name_prefix
        if variables.get("TASK_STORE") == "firestore":
            named["TASK_STORE"] = f"firestore:{prefix}tasks"
        wakeups = variables.get("WAKEUPS", "")
        kind, _, own = wakeups.removeprefix(_HEDERA).partition(":")
        if kind == "pubsub":
            named["WAKEUPS"] = f"{_HEDERA if wakeups.startswith(_HEDERA) else ''}pubsub:{prefix}{own}"
        return {**variables, **named}

    def topics(self) -> Mapping[str, tuple[str, ...]]:
        """Return the topics of wake-ups, one a role and one of notifications, and the workers that may subscribe to each; see
        shared/a2a_hub/queue.
        """
        hub = self._apart(self.config.functions["hub"].environment)
        kind, _, prefix = hub.get("WAKEUPS", "").removeprefix(_HEDERA).partition(":")
        if kind != "pubsub" or not database_of(hub):
            return {}
        workers = self.config.functions["tasks"].workers
        of_roles = {f"{_HUB_TOPIC}-{quote(role, safe='-_.~')}": workers.get(role, ()) for role in self.roles}
        own: dict[str, tuple[str, ...]] = {_HUB_TOPIC: (), _WEBHOOKS_TOPIC: ()}
        return {prefix + topic: accounts for topic, accounts in (own | of_roles).items()}

    def service(self, name: str) -> str:
        """Return the name of a function's service; neither Cloud Run nor Cloud Run functions take an underscore."""
        return self.config.name_prefix + name.replace("_", "-")

    def service_account(self, name: str) -> str:
        """Return the service account of a function, or of the `gateway`."""
        function = self.config.functions.get(name)
        project = (function or self.config).place.project
        return f"{self.service(name)}@{project}.iam.gserviceaccount.com"

    def accounts(self) -> Mapping[str, tuple[str, ...]]:
        """Return the service accounts of each project, without their domains: one for builds, one a function, and the
        callers'.
        """
        found: dict[str, dict[str, None]] = {}
        for function in self.deployed():
            names = found.setdefault(function.place.project, {self.service("build"): None})
            names[self.service(function.function.name)] = None
        home = found.setdefault(self.config.place.project, {})
        for function in self.deployed():
            for invoker in self.invokers(function.function):
                if invoker not in (*_OTHERS, *self.config.functions):
                    home[self.service(invoker)] = None
        return {project: tuple(names) for project, names in found.items()}

    def members(self, function: Function) -> tuple[str, ...]:
        """Return the IAM members that hold roles/run.invoker on `function`."""
        found = (member for invoker in self.invokers(function) for member in self._members(invoker, function))
        return tuple(dict.fromkeys(found))

    def _members(self, invoker: Invoker, function: Function) -> tuple[str, ...]:
        match invoker:
            case Invoker.EVERYBODY:
                return ("allUsers",) if self.config.functions[function.name].invoker_iam_check else ()
            case Invoker.WORKERS:
                workers = self.config.functions[function.name].workers
                return tuple(f"serviceAccount:{account}" for accounts in workers.values() for account in accounts)
            case Invoker.GEMINI_ENTERPRISE:
                number = self.config.gemini_enterprise_project_number
                return (f"serviceAccount:service-{number}@gcp-sa-discoveryengine.iam.gserviceaccount.com",)
            case _:
                return (f"serviceAccount:{self.service_account(invoker)}",)

    def services(self) -> Mapping[str, tuple[str, ...]]:
        """Return the APIs that each project needs, by project."""
        home = self.config.place.project
        needed: dict[str, set[str]] = {}
        for function in self.deployed():
            apis = needed.setdefault(function.place.project, set())
            apis.update(_RUN_APIS, _FUNCTIONS_APIS if self.mode == "functions" else ())
            apis.update(need.api for need in function.needs)
        if self.secrets():
            needed.setdefault(home, set()).add("secretmanager")
        if not self.direct:
            needed.setdefault(home, set()).update(_GATEWAY_APIS)
        if self.config.monitoring:
            needed.setdefault(home, set()).add("monitoring")
        return {project: tuple(sorted(f"{api}.googleapis.com" for api in apis)) for project, apis in needed.items()}

    def roles_of(self, function: FunctionConfig) -> tuple[str, ...]:
        """Return the roles that a function needs in its project."""
        shares = function.function.checks_callers and database_of(self.config.functions["hub"].environment)
        needs = (*function.needs, store()) if shares else function.needs
        return tuple(dict.fromkeys(need.role for need in needs if need.role))

    def database(self, function: FunctionConfig) -> str:
        """Return the database that a function keeps something in, its own or the hub's; empty: none."""
        hub = self.config.functions["hub"]
        return next(iter(self.databases((function, hub)).values()), "")

    def secrets_of(self, function: Function) -> Mapping[str, str]:
        """Return a function's secrets: the variable or the path where it finds each, and the secret's name."""
        secrets = self.config.secrets
        found = dict(self.config.functions[function.name].secrets)
        for signer, (private, public) in self.key_pairs().items():
            if signer == function.name:
                found["SIGNING_KEY"] = private
            elif function.name in self.config.functions[signer].function.signs_for:
                found[f"{signer.upper()}_PUBLIC_KEYS"] = public
        if function.takes_workers and secrets.webhook_key:
            found["WEBHOOK_SIGNING_KEY"] = secrets.webhook_key
        if self._is_first(function):
            if secrets.gateway_token:
                found["A2A_GATEWAY_TOKEN"] = secrets.gateway_token
            if secrets.clients:
                found[CLIENTS_PATH] = secrets.clients
        return found

    def key_pairs(self) -> Mapping[str, tuple[str, str]]:
        """Return the secrets with the private key and the public keys of each function that signs principal headers."""
        wanted = {each.function.name: each.function for each in self.wanted()}
        receivers = {each.function.name for each in self.deployed()}
        return {
            name: (f"{self.service(name)}-private-key", f"{self.service(name)}-public-keys")
            for name, function in wanted.items()
            if not receivers.isdisjoint(function.signs_for)
        }

    def secrets(self) -> Mapping[str, tuple[str, ...]]:
        """Return every secret, and the functions that read it."""
        readers: dict[str, tuple[str, ...]] = {}
        for function in self.deployed():
            for secret in self.secrets_of(function.function).values():
                readers[secret] = (*readers.get(secret, ()), function.function.name)
        return readers

    def environment(self, name: str, *, urls: Mapping[str, str], public_url: str, commit: str) -> Mapping[str, str]:
        """Return the variables of a function. `urls` has the address of every function; no secret is among them."""
        config = self.config
        function = config.functions[name]
        kind = function.function
        hub = config.functions["hub"].environment
        variables = {
            "GOOGLE_CLOUD_PROJECT": function.place.project,
            "THREADS": str(function.resources.threads),
            # A block of memory as large as a body goes back to the system when it is free (docs/decisions/event-loop.md).
            "MALLOC_MMAP_THRESHOLD_": "131072",
            "LOG_TEXT": str(config.log_text).lower(),
            "COMMIT_SHA": commit,
            **kind.settings,
        }
        if kind.is_agent:
            variables["PUBLIC_URL"] = urls[name]
        if kind.reads_routes and "grpc" in {other.function.name for other in self.wanted()}:
            variables["GRPC_URL"] = urls["grpc"].removeprefix("https://") + ":443"
        if kind.container:
            variables["HUB_URL"] = public_url
        if kind.serves_people:
            domains = {"GOOGLE_TOKEN_DOMAINS": ",".join(config.identity.domains)} if config.identity.domains else {}
            variables |= {"PUBLIC_URL": urls[name], "HUB_PUBLIC_URL": public_url, **domains}
        if name == "hub":
            variables["MAX_INSTANCES"] = str(function.resources.max_instances)
        if function.workspace_bucket:
            variables |= dict.fromkeys(("DEVTOOL_WORKSPACES", "DEVTOOL_DEFAULT_WORKSPACE"), WORKSPACES_PATH)
        elif function.mounts:
            variables["CORPUS_DIR"] = CORPUS_PATH
        called = kind.calls
        if kind.reads_routes:
            variables["HUB_PUBLIC_URL"] = public_url
            variables["CARD_SECURITY"] = ",".join(self._card_security())
            called += tuple(other.function.name for other in self.wanted() if other.function.is_agent)
        variables |= {f"{other.upper()}_URL": urls[other] for other in called}
        if self._is_first(kind):
            variables.update(self._identity_variables())
            # The gate accepts the hub's operators at /doctor, and its instances share quotas in the hub's store.
            variables |= {name: value for name, value in hub.items() if name in ("OPERATORS", "TASK_STORE")}
        if kind.publishes_wakeups and self.topics():
            place, account = config.place, self.service_account(Invoker.WAKEUPS)
            queue = f"projects/{place.project}/locations/{place.region}/queues/{self.service(Invoker.WAKEUPS)}"
            variables |= {"WAKEUP_QUEUE": queue, "WAKEUP_ACCOUNTS": account, "TASKS_URL": urls["tasks"]}
        if kind.takes_workers:
            variables.update(self._worker_variables(function, audience=urls[name]))
        # Whatever reads the route table needs the operator's own variables of it.
        table = hub if kind.reads_routes else {}
        return self._apart({**variables, **function.observability, **table, **function.environment})

    def _is_first(self, function: Function) -> bool:
        return function.checks_callers and not set(self.invokers(function)).isdisjoint(_OUTSIDE)

    def _card_security(self) -> tuple[str, ...]:
        """Return the authentication methods on the card: its publisher need not be the function that checks them."""
        config = self.config
        google = ("google",) if config.identity.oauth_client_ids else ()
        other = config.identity.id_token_audiences or config.secrets.clients or config.secrets.gateway_token
        return google + (("bearer",) if other or not google else ())

    def _worker_variables(self, function: FunctionConfig, *, audience: str) -> Mapping[str, str]:
        variables = {}
        if function.workers:
            variables["WORKER_ACCOUNTS"] = ",".join(
                f"{account}={role}" for role, accounts in function.workers.items() for account in accounts
            )
        return {"ID_TOKEN_AUDIENCES": audience, **variables} if variables or self.topics() else {}

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


def check_store(
    services: Sequence[Mapping[str, Any]], *, plan: Plan, database: str, exists: bool, empty_store: bool
) -> None:
    """Raise ConfigError where one of the project's `services` is of another environment and has this `database`, or where
    tasks would stay in another one; with `empty_store` they may.
    """
    own = {plan.service(name) for name in functions()}
    stores = {service["metadata"]["name"]: database_of(_variables_of(service)) for service in services}
    stores = {name: store for name, store in stores.items() if store}
    for name in sorted(stores.keys() - own):
        if stores[name] == database:
            raise ConfigError(
                f"The service {name} of another environment keeps its tasks in the database {database}. "
                'Name another one: TASK_STORE = "firestore:NAME", or "firestore" for one with the name_prefix.'
            )
    if exists or empty_store:
        return
    before = {stores[name] for name in own & stores.keys()}
    if before:
        raise ConfigError(
            f"The tasks of this deployment are in the database {' and '.join(sorted(before))}; {database} would begin empty. "
            f'To keep them: TASK_STORE = "firestore:{min(before)}". To begin without them: --empty-store'
        )
    if stores:
        name = min(stores)
        raise ConfigError(
            f"There is no database {database}, but the service {name} has tasks in {stores[name]}. If you changed "
            "name_prefix, they would be left behind: change it back. For an environment of its own: --empty-store"
        )


def _variables_of(service: Mapping[str, Any]) -> Mapping[str, str]:
    spec = service.get("spec", {}).get("template", {}).get("spec", {})
    return {
        variable["name"]: variable.get("value", "")
        for container in spec.get("containers", ())
        for variable in container.get("env", ())
    }
