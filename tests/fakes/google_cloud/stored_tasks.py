"""Firestore's administration, Pub/Sub, Cloud Tasks and Cloud Scheduler, as far as stored tasks use them."""

from typing import Any

from tests.fakes.google_cloud.cloud import Call, Cloud, JsonObject, Refused, Route

_DATABASES = "/v1/projects/{project}/databases"
_GROUP = f"{_DATABASES}/{{database}}/collectionGroups/{{group}}"
_TOPICS = "/v1/projects/{project}/topics"
_SUBSCRIPTION = "/v1/projects/{project}/subscriptions/{subscription}"
_QUEUES = "/v2/projects/{project}/locations/{location}/queues"
_JOBS = "/v1/projects/{project}/locations/{location}/jobs"
_METADATA = "type.googleapis.com/google.firestore.admin.v1"


class Firestore:
    """By name, as the API shows them. A database is there only after it was looked for `slow` times."""

    def __init__(self) -> None:
        self.databases: dict[str, JsonObject] = {}
        self.indexes: dict[str, JsonObject] = {}
        self.fields: dict[str, JsonObject] = {}
        self.slow = 0
        self.gone: set[str] = set()
        """The names of deleted databases, which Firestore keeps for some minutes."""

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        api = "firestore"
        return [
            Route("POST", api, _DATABASES, self._create),
            Route("GET", api, f"{_DATABASES}/{{database}}", self._database, reads=True),
            Route("PATCH", api, f"{_DATABASES}/{{database}}", self._patch),
            Route("DELETE", api, f"{_DATABASES}/{{database}}", self._delete),
            Route("GET", api, f"{_DATABASES}/{{database}}/operations/{{id}}", self._ended, reads=True),
            Route("GET", api, f"{_GROUP}/indexes", self._list_indexes, reads=True),
            Route("POST", api, f"{_GROUP}/indexes", self._create_index),
            Route("GET", api, f"{_GROUP}/fields", self._list_fields, reads=True),
            Route("PATCH", api, f"{_GROUP}/fields/{{field}}", self._update_field),
        ]

    def _create(self, call: Call) -> JsonObject:
        name = f"projects/{call.names['project']}/databases/{call.query['databaseId']}"
        if name in self.databases:
            raise Refused(409, "ALREADY_EXISTS", "Database already exists.")
        if name in self.gone:
            told = f"Database ID '{call.query['databaseId']}' is not available in project. Please retry in 120 seconds."
            raise Refused(400, "FAILED_PRECONDITION", told)
        self.databases[name] = {**call.body, "name": name}
        return _operation(f"{name}/operations/made", "CreateDatabase", self.databases[name])

    def _name(self, call: Call) -> str:
        name = f"projects/{call.names['project']}/databases/{call.names['database']}"
        if name not in self.databases:
            raise Refused(404, "NOT_FOUND", f"The database {call.names['database']} does not exist.")
        return name

    def _database(self, call: Call) -> JsonObject:
        name = self._name(call)
        if self.slow:
            self.slow -= 1
            raise Refused(404, "NOT_FOUND", f"The database {call.names['database']} does not exist.")
        return self.databases[name]

    def _patch(self, call: Call) -> JsonObject:
        database = self.databases[self._name(call)]
        database |= call.body
        return _operation(f"{database['name']}/operations/patched", "UpdateDatabase", database)

    def _delete(self, call: Call) -> JsonObject:
        database = self.databases[self._name(call)]
        if database.get("deleteProtectionState") == "DELETE_PROTECTION_ENABLED":
            raise Refused(400, "FAILED_PRECONDITION", "The database is protected from deletion.")
        del self.databases[database["name"]]
        self.gone.add(database["name"])
        return _operation(f"{database['name']}/operations/deleted", "DeleteDatabase", database)

    def _ended(self, call: Call) -> JsonObject:
        name = "projects/{project}/databases/{database}".format(**call.names)
        response = {"@type": f"{_METADATA}.Database", "name": name}
        return {"name": f"{name}/operations/{call.names['id']}", "done": True, "response": response}

    def _list_indexes(self, call: Call) -> JsonObject:
        start = self._name(call) + "/"
        return {"indexes": [index for name, index in self.indexes.items() if name.startswith(start)]}

    def _create_index(self, call: Call) -> JsonObject:
        collection = f"{self._name(call)}/collectionGroups/{call.names['group']}"
        name = f"{collection}/indexes/index-{len(self.indexes)}"
        fields = [*call.body["fields"], {"fieldPath": "__name__", "order": "ASCENDING"}]
        index = {**call.body, "fields": fields}
        if index in [{key: of[key] for key in of if key not in ("name", "state")} for of in self.indexes.values()]:
            raise Refused(409, "ALREADY_EXISTS", "index already exists")
        self.indexes[name] = {**index, "name": name, "state": "CREATING"}
        return _operation(f"{self._name(call)}/operations/index", "Index", self.indexes[name])

    def _list_fields(self, call: Call) -> JsonObject:
        start = self._name(call) + "/"
        everything = {
            "name": f"{start}collectionGroups/__default__/fields/*",
            "indexConfig": {"indexes": [{}]},
        }
        return {"fields": [everything, *(one for name, one in self.fields.items() if name.startswith(start))]}

    def _update_field(self, call: Call) -> JsonObject:
        collection = f"{self._name(call)}/collectionGroups/{call.names['group']}"
        name = f"{collection}/fields/{call.names['field']}"
        self.fields[name] = {**call.body, "name": name}
        return _operation(f"{self._name(call)}/operations/field", "Field", self.fields[name])


class Pubsub:
    """`topics` and `subscriptions` are by name, as the API shows them."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.topics: dict[str, JsonObject] = {}
        self.subscriptions: dict[str, JsonObject] = {}

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        api = "pubsub"
        return [
            Route("GET", api, _TOPICS, self._list, reads=True),
            Route("PUT", api, f"{_TOPICS}/{{topic}}", self._create),
            Route("DELETE", api, f"{_TOPICS}/{{topic}}", lambda call: _deleted(self.topics, call, _TOPICS, "topic")),
            Route("DELETE", api, _SUBSCRIPTION, lambda call: self.subscriptions.pop(self._name(call)) and {}),
            *self.cloud.policy_routes(
                api,
                f"{_TOPICS}/{{topic}}",
                resource="projects/{project}/topics/{topic}",
                exists=self.topics.__contains__,
            ),
            Route("GET", api, _SUBSCRIPTION, self._subscription, reads=True),
            Route("PUT", api, _SUBSCRIPTION, self._subscribe),
            Route("PATCH", api, _SUBSCRIPTION, self._update),
        ]

    def _list(self, call: Call) -> JsonObject:
        start = f"projects/{call.names['project']}/"
        return {"topics": [topic for name, topic in self.topics.items() if name.startswith(start)]}

    def _create(self, call: Call) -> JsonObject:
        name = f"projects/{call.names['project']}/topics/{call.names['topic']}"
        if name in self.topics:
            raise Refused(409, "ALREADY_EXISTS", f"Resource already exists in the project (resource={name}).")
        self.topics[name] = {"name": name}
        return self.topics[name]

    def _name(self, call: Call) -> str:
        name = f"projects/{call.names['project']}/subscriptions/{call.names['subscription']}"
        if name not in self.subscriptions:
            raise Refused(404, "NOT_FOUND", f"Resource not found (resource={name}).")
        return name

    def _subscription(self, call: Call) -> JsonObject:
        return self.subscriptions[self._name(call)]

    def _subscribe(self, call: Call) -> JsonObject:
        name = f"projects/{call.names['project']}/subscriptions/{call.names['subscription']}"
        if call.body["topic"] not in self.topics:
            raise Refused(404, "NOT_FOUND", f"Resource not found (resource={call.body['topic']}).")
        self._check(call.body["pushConfig"])
        self.subscriptions[name] = {**call.body, "name": name}
        return self.subscriptions[name]

    def _update(self, call: Call) -> JsonObject:
        subscription, new = self.subscriptions[self._name(call)], call.body["subscription"]
        self._check(new["pushConfig"])
        subscription.update({name: new[name] for name in call.body["updateMask"].split(",")})
        return subscription

    def _check(self, push: Any) -> None:
        account = push["oidcToken"]["serviceAccountEmail"]
        if account not in self.cloud.accounts:
            raise Refused(404, "NOT_FOUND", f"Service account {account} does not exist.")


class Queues:
    """Cloud Tasks: its queues by name, as the API shows them."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.queues: dict[str, JsonObject] = {}
        self.gone: set[str] = set()
        """The names of deleted queues: for three days, Cloud Tasks says that it makes them again, and does not."""

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        api, queue = "cloudtasks", f"{_QUEUES}/{{queue}}"
        return [
            Route("GET", api, queue, lambda call: _found(self.queues, call, _QUEUES, "queue"), reads=True),
            Route("POST", api, _QUEUES, self._create),
            Route("POST", api, f"{queue}:purge", lambda call: _found(self.queues, call, _QUEUES, "queue")),
            Route("DELETE", api, queue, self._delete),
            *self.cloud.policy_routes(api, queue, resource=queue.removeprefix("/v2/"), exists=self.queues.__contains__),
        ]

    def _create(self, call: Call) -> JsonObject:
        if call.body["name"] not in self.gone:
            self.queues[call.body["name"]] = call.body
        return dict(call.body)

    def _delete(self, call: Call) -> JsonObject:
        self.gone.add(_found(self.queues, call, _QUEUES, "queue")["name"])
        return _deleted(self.queues, call, _QUEUES, "queue")


class Scheduler:
    """Cloud Scheduler: its jobs by name, as the API shows them."""

    def __init__(self) -> None:
        self.jobs: dict[str, JsonObject] = {}

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        api = "cloudscheduler"
        return [
            Route("GET", api, f"{_JOBS}/{{job}}", lambda call: _found(self.jobs, call, _JOBS, "job"), reads=True),
            Route("POST", api, _JOBS, self._write),
            Route("DELETE", api, f"{_JOBS}/{{job}}", lambda call: _deleted(self.jobs, call, _JOBS, "job")),
            Route("PATCH", api, f"{_JOBS}/{{job}}", self._write),
        ]

    def _write(self, call: Call) -> JsonObject:
        self.jobs[call.body["name"]] = call.body
        return self.jobs[call.body["name"]]


def _found(resources: dict[str, JsonObject], call: Call, path: str, kind: str) -> JsonObject:
    name = f"{path}/{{{kind}}}".format(**call.names).split("/", 2)[2]
    if name not in resources:
        raise Refused(404, "NOT_FOUND", f"{name} was not found.")
    return resources[name]


def _deleted(resources: dict[str, JsonObject], call: Call, path: str, kind: str) -> JsonObject:
    del resources[_found(resources, call, path, kind)["name"]]
    return {}


def _operation(name: str, kind: str, of: JsonObject) -> JsonObject:
    """One that goes on: whoever makes something does not wait for it."""
    metadata = {"@type": f"{_METADATA}.{kind}OperationMetadata", kind.lower(): of["name"]}
    return {"name": name, "metadata": metadata}
