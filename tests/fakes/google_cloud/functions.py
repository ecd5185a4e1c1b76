"""Cloud Run functions, the API of `gcloud functions deploy --gen2`: each function has a Cloud Run service of its name."""

import io
import zipfile

from tests.fakes.google_cloud.cloud import DOMAIN, Call, Cloud, JsonObject, Refused, Route
from tests.fakes.google_cloud.run import Run

_LOCATION = "/v2/projects/{project}/locations/{location}"
_RUNTIMES = ("python311", "python312", "python313")


class Functions:
    """`functions` are by name, as the API shows them; the source of each is among the uploads of `run`."""

    def __init__(self, cloud: Cloud, run: Run) -> None:
        self.cloud = cloud
        self.run = run
        self.functions: dict[str, JsonObject] = {}

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        api, one = "cloudfunctions", f"{_LOCATION}/functions/{{function}}"
        return [
            Route("GET", api, f"{_LOCATION}/runtimes", self._runtimes, reads=True),
            Route("GET", api, one, self._function, reads=True),
            Route("POST", api, f"{_LOCATION}/functions:generateUploadUrl", self._upload_url, reads=True),
            Route("PUT", "upload", "/{function}", self._upload),
            Route("POST", api, f"{_LOCATION}/functions", self._create),
            Route("PATCH", api, one, self._update),
            Route("GET", api, f"{_LOCATION}/operations/{{id}}", self._operation, reads=True),
        ]

    def _name(self, call: Call, function: str) -> str:
        return f"projects/{call.names['project']}/locations/{call.names['location']}/functions/{function}"

    def _runtimes(self, _: Call) -> JsonObject:
        return {"runtimes": [{"name": name, "environment": "GEN_2", "stage": "GA"} for name in _RUNTIMES]}

    def _function(self, call: Call) -> JsonObject:
        name = self._name(call, call.names["function"])
        if name not in self.functions:
            raise Refused(404, "NOT_FOUND", f"Resource '{name}' was not found")
        return self.functions[name]

    def _upload_url(self, call: Call) -> JsonObject:
        storage = {"bucket": "gcf-v2-uploads", "object": "source.zip"}
        return {"uploadUrl": f"http://upload.{DOMAIN}/{call.names['project']}", "storageSource": storage}

    def _upload(self, call: Call) -> JsonObject:
        with zipfile.ZipFile(io.BytesIO(call.body)) as files:
            self.run.uploads[call.names["function"]] = files.namelist()
        return {}

    def _create(self, call: Call) -> JsonObject:
        return self._keep(call, call.query["functionId"])

    def _update(self, call: Call) -> JsonObject:
        return self._keep(call, call.names["function"])

    def _keep(self, call: Call, function: str) -> JsonObject:
        name = self._name(call, function)
        self.functions[name] = {**self.functions.get(name, {}), **call.body, "name": name, "state": "ACTIVE"}
        self.functions[name]["environment"] = "GEN_2"
        key = f"{call.names['project']}/{function}"
        service = f"projects/{call.names['project']}/locations/{call.names['location']}/services/{function}"
        self.functions[name]["serviceConfig"]["service"] = service
        self.run.services[key] = {"metadata": {"name": function}, "spec": {}, "status": {}}
        return self._done(call, function)

    def _done(self, call: Call, function: str) -> JsonObject:
        location = f"projects/{call.names['project']}/locations/{call.names['location']}"
        kind = "type.googleapis.com/google.cloud.functions.v2.Function"
        metadata = {"@type": "type.googleapis.com/google.cloud.functions.v2.OperationMetadata", "stages": []}
        response = {"@type": kind, **self.functions[self._name(call, function)]}
        return {
            "name": f"{location}/operations/{function}",
            "done": True,
            "response": response,
            "metadata": metadata,
        }

    def _operation(self, call: Call) -> JsonObject:
        return self._done(call, call.names["id"])
