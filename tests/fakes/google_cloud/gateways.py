"""API Gateway: APIs, configs that never change, and gateways."""

import base64

from tests.fakes.google_cloud.cloud import Call, Cloud, Handler, JsonObject, Refused, Route

_LOCATION = "/v1/projects/{project}/locations/{location}"
_API = f"{_LOCATION}/apis/{{api}}"


class Gateways:
    """`configs` holds the documents by the config's name; `things` everything by its name."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.things: dict[str, JsonObject] = {}
        self.documents: dict[str, str] = {}
        self._targets: list[str] = []
        self._in_the_making: dict[str, int] = {}

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        kinds = {"apis": _LOCATION, "configs": _API, "gateways": _LOCATION}
        routes = [
            Route("GET", "apigateway", f"{_LOCATION}/operations/{{id}}", self._operation, reads=True),
            Route("PATCH", "apigateway", f"{_LOCATION}/gateways/{{id}}", self._update),
            *(
                Route("DELETE", "apigateway", f"{parent}/{kind}/{{id}}", self._deleter(kind))
                for kind, parent in kinds.items()
            ),
        ]
        for kind, parent in kinds.items():
            routes += [
                Route("GET", "apigateway", f"{parent}/{kind}/{{id}}", self._reader(kind), reads=True),
                Route("GET", "apigateway", f"{parent}/{kind}", self._lister(kind), reads=True),
                Route("POST", "apigateway", f"{parent}/{kind}", self._creator(kind)),
            ]
        return routes

    def in_the_making(self, name: str, *, looks: int) -> None:
        """A config or gateway that is there, and ready after it was looked for `looks` times."""
        self.things[name] = {"name": name, **self.things.get(name, {}), "state": "CREATING"}
        self._in_the_making[name] = looks

    def _look(self, kind: str) -> None:
        for name, looks in self._in_the_making.items():
            if f"/{kind}/" in name:
                self._in_the_making[name] = looks - 1
                if looks == 0:
                    self.things[name]["state"] = "ACTIVE"

    def _parent(self, call: Call, kind: str) -> str:
        parent = f"projects/{call.names['project']}/locations/{call.names['location']}"
        return f"{parent}/apis/{call.names['api']}" if kind == "configs" else parent

    def _reader(self, kind: str) -> Handler:
        def read(call: Call) -> JsonObject:
            name = f"{self._parent(call, kind)}/{kind}/{call.names['id']}"
            if name not in self.things:
                raise Refused(404, "NOT_FOUND", f"Resource '{name}' was not found")
            if kind == "gateways":
                self._look(kind)
            return self.things[name]

        return read

    def _lister(self, kind: str) -> Handler:
        def list_all(call: Call) -> JsonObject:
            self._look(kind)
            start = f"{self._parent(call, kind)}/{kind}/"
            found = [
                thing for name, thing in self.things.items() if name.startswith(start) and "/" not in name[len(start) :]
            ]
            return {"apiConfigs" if kind == "configs" else kind: found}

        return list_all

    def _creator(self, kind: str) -> Handler:
        parameter = {"apis": "apiId", "configs": "apiConfigId", "gateways": "gatewayId"}[kind]

        def create(call: Call) -> JsonObject:
            name = f"{self._parent(call, kind)}/{kind}/{call.query[parameter]}"
            if name in self.things:
                raise Refused(409, "ALREADY_EXISTS", f"Resource '{name}' already exists")
            thing = {**(call.body or {}), "name": name, "state": "ACTIVE"}
            if kind == "configs":
                documents = thing.pop("openapiDocuments")
                self.documents[name] = base64.b64decode(documents[0]["document"]["contents"]).decode()
            if kind == "gateways":
                self._check_config(thing["apiConfig"])
                thing["defaultHostname"] = f"{call.query[parameter]}-0abc12de.an.gateway.dev"
            self.things[name] = thing
            return self._done(call, name)

        return create

    def _check_config(self, name: str) -> None:
        if name not in self.things:
            raise Refused(404, "NOT_FOUND", f"Resource '{name}' was not found")

    def _update(self, call: Call) -> JsonObject:
        name = f"{self._parent(call, 'gateways')}/gateways/{call.names['id']}"
        self._check_config(call.body["apiConfig"])
        self.things[name] |= {**call.body, "name": name, "updateTime": f"2026-11-27T19:00:{len(self._targets):02}Z"}
        return self._done(call, name)

    def _deleter(self, kind: str) -> Handler:
        def delete(call: Call) -> JsonObject:
            name = f"{self._parent(call, kind)}/{kind}/{call.names['id']}"
            if self.things.pop(name, None) is None:
                raise Refused(404, "NOT_FOUND", f"Resource '{name}' was not found")
            return self._done(call, name)

        return delete

    def _done(self, call: Call, target: str) -> JsonObject:
        location = f"projects/{call.names['project']}/locations/{call.names['location']}"
        self._targets.append(target)
        return self._described(f"{location}/operations/operation-{len(self._targets)}", target)

    def _described(self, name: str, target: str) -> JsonObject:
        response = {
            "@type": "type.googleapis.com/google.cloud.apigateway.v1.Thing",
            **self.things.get(target, {}),
        }
        return {"name": name, "done": True, "response": response, "metadata": {"target": target}}

    def _operation(self, call: Call) -> JsonObject:
        location = f"projects/{call.names['project']}/locations/{call.names['location']}"
        target = self._targets[int(call.names["id"].rpartition("-")[2]) - 1]
        return self._described(f"{location}/operations/{call.names['id']}", target)
