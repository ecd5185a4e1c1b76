"""An organisation's decisions on its projects: policies, billing, quotas, and what the caller may do."""

from tests.fakes.google_cloud.cloud import Call, Cloud, JsonObject, Route

_PROJECT = "/v1/projects/{project}"


class Organisation:
    """Everything is allowed until a test says otherwise."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.policies: dict[str, JsonObject] = {}
        """The rules of constraints."""
        self.unbilled: set[str] = set()
        self.lacking: set[str] = set()
        """Permissions that the caller has not."""
        self.quotas: list[JsonObject] = []
        self.regions = ["asia-northeast1", "us-central1"]

    def routes(self) -> list[Route]:
        """The requests that these APIs answer."""
        policy = "/v2/projects/{project}/policies/{constraint}:getEffectivePolicy"
        quotas = f"{_PROJECT}/locations/global/services/{{service}}/quotaInfos"
        return [
            Route("GET", "orgpolicy", policy, self._policy, reads=True),
            Route("GET", "cloudbilling", f"{_PROJECT}/billingInfo", self._billing, reads=True),
            Route("GET", "cloudquotas", quotas, lambda _: {"quotaInfos": self.quotas}, reads=True),
            Route(
                "GET", "cloudquotas", quotas.replace("v1", "v1beta"), lambda _: {"quotaInfos": self.quotas}, reads=True
            ),
            Route("POST", "cloudresourcemanager", f"{_PROJECT}:testIamPermissions", self._permissions, reads=True),
            Route("GET", "run", f"{_PROJECT}/locations", self._locations, reads=True),
            Route("GET", "firestore", f"{_PROJECT}/locations", self._locations, reads=True),
        ]

    def _policy(self, call: Call) -> JsonObject:
        name = "projects/{project}/policies/{constraint}".format(**call.names)
        return {"name": name, "spec": self.policies.get(call.names["constraint"], {})}

    def _billing(self, call: Call) -> JsonObject:
        project = call.names["project"]
        return {"name": f"projects/{project}/billingInfo", "billingEnabled": project not in self.unbilled}

    def _permissions(self, call: Call) -> JsonObject:
        return {"permissions": [name for name in call.body["permissions"] if name not in self.lacking]}

    def _locations(self, call: Call) -> JsonObject:
        start = f"projects/{call.names['project']}/locations"
        return {"locations": [{"name": f"{start}/{name}", "locationId": name} for name in self.regions]}
