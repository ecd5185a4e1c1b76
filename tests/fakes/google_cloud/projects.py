"""Projects, their APIs, service accounts and secrets."""

from tests.fakes.google_cloud.cloud import Call, Cloud, JsonObject, Refused, Route

_KEY = "locations/{location}/keyRings/{ring}/cryptoKeys/{key}"
_SECRET = "/v1/projects/{project}/secrets/{secret}"


class Projects:
    """Cloud Resource Manager, Service Usage and IAM."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.enabled: dict[str, set[str]] = {project: set() for project in cloud.projects}

    def routes(self) -> list[Route]:
        """The requests that these APIs answer."""
        project = "/v1/projects/{project}"
        return [
            Route("GET", "cloudresourcemanager", project, self._project, reads=True),
            *self.cloud.policy_routes(
                "cloudresourcemanager",
                project,
                resource="projects/{project}",
                exists=lambda name: name.partition("/")[2] in self.cloud.projects,
            ),
            Route("GET", "serviceusage", f"{project}/services", self._services, reads=True),
            Route("GET", "serviceusage", f"{project}/services/{{service}}", self._service, reads=True),
            Route("POST", "serviceusage", f"{project}/services/{{service}}:enable", self._enable_one),
            Route("POST", "serviceusage", f"{project}/services:batchEnable", self._enable),
            Route(
                "POST",
                "serviceusage",
                "/v1beta1/projects/{project}/services/{service}:generateServiceIdentity",
                self._make_service_agent,
            ),
            # A key may be anybody's: nothing is known of the projects that have them.
            *self.cloud.policy_routes("cloudkms", f"{project}/{_KEY}", resource=_KEY, exists=lambda _: True),
            Route("GET", "iam", f"{project}/serviceAccounts", self._accounts, reads=True),
            Route("POST", "iam", f"{project}/serviceAccounts", self._create_account),
            Route("GET", "iam", f"{project}/serviceAccounts/{{email}}", self._account, reads=True),
            Route("DELETE", "iam", f"{project}/serviceAccounts/{{email}}", self._delete_account),
            *self.cloud.policy_routes(
                "iam",
                f"{project}/serviceAccounts/{{email}}",
                # gcloud reads it under the project -, and writes it under its own.
                resource="serviceAccounts/{email}",
                exists=lambda name: name.rpartition("/")[2] in self.cloud.accounts,
            ),
        ]

    def _project(self, call: Call) -> JsonObject:
        project = call.names["project"]
        if project not in self.cloud.projects:
            raise Refused(403, "PERMISSION_DENIED", f"The caller does not have permission on {project}")
        return {
            "projectId": project,
            "projectNumber": self.cloud.projects[project],
            "lifecycleState": "ACTIVE",
        }

    def _services(self, call: Call) -> JsonObject:
        services = [
            self._described(call.names["project"], name) for name in sorted(self.enabled[call.names["project"]])
        ]
        return {"services": services}

    def _service(self, call: Call) -> JsonObject:
        return self._described(call.names["project"], call.names["service"])

    def _described(self, project: str, name: str) -> JsonObject:
        state = "ENABLED" if name in self.enabled[project] else "DISABLED"
        return {
            "name": f"projects/{self.cloud.projects[project]}/services/{name}",
            "config": {"name": name},
            "state": state,
        }

    def _enable_one(self, call: Call) -> JsonObject:
        self.enabled[call.names["project"]].add(call.names["service"])
        return {"name": "operations/enabled", "done": True, "response": {}}

    def _enable(self, call: Call) -> JsonObject:
        self.enabled[call.names["project"]].update(call.body["serviceIds"])
        return {"name": "operations/enabled", "done": True, "response": {}}

    def _make_service_agent(self, call: Call) -> JsonObject:
        number, product = self.cloud.projects[call.names["project"]], call.names["service"].partition(".")[0]
        name = {"run": "serverless-robot-prod"}.get(product, f"gcp-sa-{product}")
        email = f"service-{number}@{name}.iam.gserviceaccount.com"
        self.cloud.accounts.add(email)
        return {"name": "operations/made", "done": True, "response": {"email": email}}

    def _accounts(self, call: Call) -> JsonObject:
        here = f"@{call.names['project']}."
        return {"accounts": [{"email": account} for account in sorted(self.cloud.accounts) if here in account]}

    def _account(self, call: Call) -> JsonObject:
        email = call.names["email"]
        if email not in self.cloud.accounts:
            raise Refused(404, "NOT_FOUND", f"Unknown service account {email}")
        return {"email": email, "name": f"projects/-/serviceAccounts/{email}"}

    def _delete_account(self, call: Call) -> JsonObject:
        self.cloud.accounts.remove(self._account(call)["email"])
        return {}

    def _create_account(self, call: Call) -> JsonObject:
        email = f"{call.body['accountId']}@{call.names['project']}.iam.gserviceaccount.com"
        if email in self.cloud.accounts:
            raise Refused(409, "ALREADY_EXISTS", f"Service account {email} already exists.")
        self.cloud.accounts.add(email)
        return {"email": email, "name": f"projects/{call.names['project']}/serviceAccounts/{email}"}


class Secrets:
    """Secret Manager. `values` holds the versions of each secret, newest last."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.values: dict[str, list[str]] = {}

    def routes(self) -> list[Route]:
        """The requests that this API answers."""
        return [
            Route("GET", "secretmanager", _SECRET, self._secret, reads=True),
            Route("POST", "secretmanager", "/v1/projects/{project}/secrets", self._create),
            Route("DELETE", "secretmanager", _SECRET, self._delete),
            Route("GET", "secretmanager", f"{_SECRET}/versions", self._versions, reads=True),
            Route("POST", "secretmanager", f"{_SECRET}:addVersion", self._add_version),
            *self.cloud.policy_routes(
                "secretmanager",
                _SECRET,
                resource="projects/{project}/secrets/{secret}",
                exists=self.values.__contains__,
            ),
        ]

    def _name(self, call: Call) -> str:
        name = f"projects/{call.names['project']}/secrets/{call.names['secret']}"
        if name not in self.values:
            raise Refused(404, "NOT_FOUND", f"Secret [{name}] not found.")
        return name

    def _secret(self, call: Call) -> JsonObject:
        return {"name": self._name(call)}

    def _create(self, call: Call) -> JsonObject:
        name = f"projects/{call.names['project']}/secrets/{call.query['secretId']}"
        if name in self.values:
            raise Refused(409, "ALREADY_EXISTS", f"Secret [{name}] already exists.")
        self.values[name] = []
        return {"name": name}

    def _delete(self, call: Call) -> JsonObject:
        del self.values[self._name(call)]
        return {}

    def _versions(self, call: Call) -> JsonObject:
        name = self._name(call)
        numbers = range(len(self.values[name]), 0, -1)
        return {"versions": [{"name": f"{name}/versions/{n}", "state": "ENABLED"} for n in numbers]}

    def _add_version(self, call: Call) -> JsonObject:
        name = self._name(call)
        self.values[name].append(call.body["payload"]["data"])
        return {
            "name": f"{name}/versions/{len(self.values[name])}",
            "state": "ENABLED",
            "clientSpecifiedPayloadChecksum": True,
        }
