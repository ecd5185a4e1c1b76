"""Cloud Run with what `gcloud run deploy --source` needs: a bucket, a repository, a build, a service."""

import io
import re
import zipfile

from tests.fakes.google_cloud.cloud import Call, Cloud, JsonObject, Refused, Route

_SERVICES = "/apis/serving.knative.dev/v1/namespaces/{project}/services"
_LOCATION = "/{version}/projects/{project}/locations/{location}"


class Run:
    """`services` are by project and name, as the Knative API shows them; `uploads` lists the files of each source."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.services: dict[str, JsonObject] = {}
        self.revisions: list[JsonObject] = []
        self.uploads: dict[str, list[str]] = {}
        self.builds: list[JsonObject] = []
        self.repositories: set[str] = set()
        self.buckets: dict[str, JsonObject] = {}

    def routes(self) -> list[Route]:
        """The requests that these APIs answer."""
        repositories = f"{_LOCATION}/repositories"
        return [
            Route("GET", "run", _SERVICES, self._list, reads=True),
            Route("GET", "run", f"{_LOCATION}/services", self._list, reads=True),
            Route("POST", "run", _SERVICES, self._create),
            Route("GET", "run", f"{_SERVICES}/{{service}}", self._service, reads=True),
            Route("PUT", "run", f"{_SERVICES}/{{service}}", self._replace),
            Route(
                "DELETE",
                "run",
                f"{_SERVICES}/{{service}}",
                lambda call: {"metadata": self.services.pop(self._key(call))},
            ),
            Route("GET", "run", _SERVICES.replace("services", "revisions"), self._list_revisions, reads=True),
            *self.cloud.policy_routes(
                "run",
                f"{_LOCATION}/services/{{service}}",
                resource="{project}/{service}",
                exists=self.services.__contains__,
            ),
            Route("POST", "run", f"{_LOCATION}/builds:submit", self._build),
            Route("GET", "cloudbuild", f"{_LOCATION}/operations/{{id}}", self._built, reads=True),
            Route("GET", "artifactregistry", f"{repositories}/{{repository}}", self._repository, reads=True),
            Route("POST", "artifactregistry", repositories, self._create_repository),
            Route("GET", "artifactregistry", f"{_LOCATION}/operations/{{id}}", self._repository_made, reads=True),
            Route("GET", "storage", "/storage/v1/b", self._list_buckets, reads=True),
            Route("GET", "storage", "/storage/v1/b/{bucket}", self._bucket, reads=True),
            Route("POST", "storage", "/storage/v1/b", self._create_bucket),
            Route("GET", "storage", "/storage/v1/b/{bucket}/iam", self._bucket_policy, reads=True),
            Route("PUT", "storage", "/storage/v1/b/{bucket}/iam", self._set_bucket_policy),
            Route("POST", "storage", "/upload/storage/v1/b/{bucket}/o", self._upload),
            Route("POST", "storage", "/resumable/upload/storage/v1/b/{bucket}/o", self._upload),
        ]

    def _key(self, call: Call) -> str:
        key = f"{call.names['project']}/{call.names['service']}"
        if key not in self.services:
            raise Refused(404, "NOT_FOUND", f"Resource '{call.names['service']}' of kind 'SERVICE' was not found.")
        return key

    def _list(self, call: Call) -> JsonObject:
        return {"items": [s for key, s in self.services.items() if key.startswith(call.names["project"] + "/")]}

    def _service(self, call: Call) -> JsonObject:
        return self.services[self._key(call)]

    def _create(self, call: Call) -> JsonObject:
        return self._keep(f"{call.names['project']}/{call.body['metadata']['name']}", call.body)

    def _replace(self, call: Call) -> JsonObject:
        return self._keep(self._key(call), call.body)

    def _keep(self, key: str, service: JsonObject) -> JsonObject:
        generation = self.services.get(key, {"metadata": {"generation": 0}})["metadata"]["generation"] + 1
        name = service["metadata"]["name"]
        revision = service["spec"]["template"].get("metadata", {}).get("name") or f"{name}-{generation:05}"
        conditions = [{"type": kind, "status": "True"} for kind in ("Ready", "ConfigurationsReady", "RoutesReady")]
        service["spec"].setdefault("traffic", [{"latestRevision": True, "percent": 100}])
        service["metadata"] |= {"generation": generation, "resourceVersion": str(generation), "uid": key}
        service["status"] = {
            "observedGeneration": generation,
            "conditions": conditions,
            "latestCreatedRevisionName": revision,
            "latestReadyRevisionName": revision,
            "url": f"https://{name}-{self.cloud.projects[key.partition('/')[0]]}.asia-northeast1.run.app",
            "traffic": [{"revisionName": revision, "percent": 100, "latestRevision": True}],
        }
        self.services[key] = service
        if revision not in [each["metadata"]["name"] for each in self.revisions]:
            labels = {**service["spec"]["template"]["metadata"].get("labels", {}), "serving.knative.dev/service": name}
            made = f"2026-11-27T18:00:{len(self.revisions):02}Z"
            metadata = {
                "name": revision,
                "labels": labels,
                "creationTimestamp": made,
                "namespace": key.partition("/")[0],
            }
            self.revisions.append({"metadata": metadata, "status": {"conditions": conditions}})
        return service

    def _list_revisions(self, call: Call) -> JsonObject:
        found = [each for each in self.revisions if each["metadata"]["namespace"] == call.names["project"]]
        return {"items": found, "metadata": {}}

    def _build(self, call: Call) -> JsonObject:
        self.builds.append(call.body)
        location = f"projects/{call.names['project']}/locations/{call.names['location']}"
        build = {"projectId": call.names["project"], "id": f"build-{len(self.builds)}", "logUrl": "log"}
        return {
            "baseImageUri": "base-image",
            "buildOperation": {
                "name": f"{location}/operations/{build['id']}",
                "metadata": {"build": {**build, "name": f"{location}/builds/{build['id']}"}},
            },
        }

    def _built(self, call: Call) -> JsonObject:
        build = {
            "id": call.names["id"],
            "name": f"projects/{call.names['project']}/locations/{call.names['location']}/builds/{call.names['id']}",
            "status": "SUCCESS",
            "results": {"images": [{"name": "image", "digest": "sha256:" + "0" * 64}]},
        }
        kind = "type.googleapis.com/google.devtools.cloudbuild.v1.Build"
        return {"name": call.names["id"], "done": True, "response": {"@type": kind, **build}}

    def _repository(self, call: Call) -> JsonObject:
        name = f"projects/{call.names['project']}/locations/{call.names['location']}/repositories/{call.names['repository']}"
        if name not in self.repositories:
            raise Refused(404, "NOT_FOUND", f"Repository {name} not found")
        return {"name": name, "format": "DOCKER"}

    def _create_repository(self, call: Call) -> JsonObject:
        location = f"projects/{call.names['project']}/locations/{call.names['location']}"
        self.repositories.add(f"{location}/repositories/{call.query['repositoryId']}")
        return {"name": f"{location}/operations/made", "done": True}

    def _repository_made(self, _: Call) -> JsonObject:
        kind = "type.googleapis.com/google.devtools.artifactregistry.v1.Repository"
        return {"name": "made", "done": True, "response": {"@type": kind, "name": max(self.repositories)}}

    def _list_buckets(self, call: Call) -> JsonObject:
        return {"items": [bucket for bucket in self.buckets.values() if bucket["project"] == call.query["project"]]}

    def _bucket(self, call: Call) -> JsonObject:
        if call.names["bucket"] not in self.buckets:
            raise Refused(404, "NOT_FOUND", "The specified bucket does not exist.")
        return self.buckets[call.names["bucket"]]

    def _create_bucket(self, call: Call) -> JsonObject:
        name = call.body["name"]
        self.buckets[name] = {"name": name, "id": name, "project": call.query["project"]}
        return self.buckets[name]

    def _bucket_policy(self, call: Call) -> JsonObject:
        self._bucket(call)
        return self.cloud.policies.get(f"gs://{call.names['bucket']}", {"etag": "AAAA"})

    def _set_bucket_policy(self, call: Call) -> JsonObject:
        self.cloud.policies[f"gs://{call.names['bucket']}"] = call.body
        return dict(call.body)

    def _upload(self, call: Call) -> JsonObject:
        boundary = re.search(r"boundary='?([^';]+)", call.headers["content-type"])
        assert boundary
        part = call.body.split(f"--{boundary[1]}".encode())[2]
        archive = part.partition(b"\n\n")[2].removesuffix(b"\n")
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            self.uploads[call.query["name"]] = files.namelist()
        return {
            "name": call.query["name"],
            "bucket": call.names["bucket"],
            "generation": "1",
            "size": str(len(archive)),
        }
