"""Cloud Monitoring: dashboards and alert policies."""

from itertools import count

from tests.fakes.google_cloud.cloud import Call, JsonObject, Refused, Route


class Monitoring:
    """By name, as the API shows them. A dashboard has an etag, by which it is replaced."""

    def __init__(self) -> None:
        self.dashboards: dict[str, JsonObject] = {}
        self.policies: dict[str, JsonObject] = {}
        self._ids = count(1)

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        found = []
        for path, field, things in (
            ("/v1/projects/{project}/dashboards", "dashboards", self.dashboards),
            ("/v3/projects/{project}/alertPolicies", "alertPolicies", self.policies),
        ):

            def create(call: Call, *, field: str = field, things: dict[str, JsonObject] = things) -> JsonObject:
                name = f"projects/{call.names['project']}/{field}/{next(self._ids)}"
                return self._put(things, name, call.body)

            def update(call: Call, *, field: str = field, things: dict[str, JsonObject] = things) -> JsonObject:
                name = f"projects/{call.names['project']}/{field}/{call.names['id']}"
                if name not in things:
                    raise Refused(404, "NOT_FOUND", f"{name} was not found.")
                if field == "dashboards" and call.body.get("etag") != things[name]["etag"]:
                    raise Refused(409, "ABORTED", "The etag is that of an older version.")
                return self._put(things, name, call.body)

            def delete(call: Call, *, field: str = field, things: dict[str, JsonObject] = things) -> JsonObject:
                things.pop(f"projects/{call.names['project']}/{field}/{call.names['id']}")
                return {}

            def listed(_: Call, *, field: str = field, things: dict[str, JsonObject] = things) -> JsonObject:
                return {field: [*things.values()]}

            def described(call: Call, *, field: str = field, things: dict[str, JsonObject] = things) -> JsonObject:
                return things[f"projects/{call.names['project']}/{field}/{call.names['id']}"]

            found += [
                Route("GET", "monitoring", path, listed, reads=True),
                Route("POST", "monitoring", path, create),
                Route("GET", "monitoring", f"{path}/{{id}}", described, reads=True),
                Route("PATCH", "monitoring", f"{path}/{{id}}", update),
                Route("DELETE", "monitoring", f"{path}/{{id}}", delete),
            ]
        return found

    def _put(self, things: dict[str, JsonObject], name: str, body: JsonObject) -> JsonObject:
        things[name] = {**body, "name": name, "etag": f"etag-{next(self._ids)}"}
        return things[name]
