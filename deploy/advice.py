"""Remedies for failures of the deployment: one table, from the words of gcloud's message to a remedy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# The role with which a deployer gets each kind of permission.
ROLES = {
    "serviceusage": "roles/serviceusage.serviceUsageAdmin",
    "iam.serviceAccounts.actAs": "roles/iam.serviceAccountUser",
    "iam.serviceAccounts.getAccessToken": "roles/iam.serviceAccountTokenCreator",
    "iam.serviceAccounts.setIamPolicy": "roles/iam.serviceAccountAdmin",
    "iam": "roles/iam.serviceAccountAdmin",
    "resourcemanager.projects.setIamPolicy": "roles/resourcemanager.projectIamAdmin",
    "resourcemanager": "roles/browser",
    "run.services.setIamPolicy": "roles/run.admin",
    "run": "roles/run.sourceDeveloper",
    "cloudfunctions": "roles/cloudfunctions.developer",
    "cloudbuild": "roles/run.sourceDeveloper",
    "artifactregistry": "roles/artifactregistry.admin",
    "storage": "roles/storage.admin",
    "secretmanager": "roles/secretmanager.admin",
    "apigateway": "roles/apigateway.admin",
    "datastore": "roles/datastore.owner",
    "pubsub": "roles/pubsub.admin",
    "cloudtasks": "roles/cloudtasks.admin",
    "cloudscheduler": "roles/cloudscheduler.admin",
    "servicemanagement": "roles/servicemanagement.admin",
}
UNKNOWN = "Read the message above. Once the cause is gone, run the same command again: it goes on where it stopped."


@dataclass(frozen=True, slots=True)
class Remedy:
    """`words` is looked for in the message, without regard to case; what it captures may stand in `text` as {1}, {2}."""

    words: str
    text: str


# The first that fits is given, so what is specific stands before what is general.
REMEDIES = (
    Remedy(
        r"iam\.allowedPolicyMemberDomains|do not belong to a permitted customer|one or more users named in the policy",
        "An organisation policy (constraints/iam.allowedPolicyMemberDomains) forbids this member. Make a public function "
        'private (private = true in deploy.toml, and boundary = "iam" for its route in routes.toml), or end the check of '
        "callers: invoker_iam_check = false. An account of another organisation needs an exception of its administrator.",
    ),
    Remedy(
        r"constraints/([A-Za-z.]+)",
        "The organisation policy constraints/{1} forbids this. Ask the organisation's administrator for an exception for the "
        "project, or change what deploy.toml asks for.",
    ),
    Remedy(
        r"SERVICE_DISABLED|has not been used in project|(?:API|service) .{0,60}(?:not enabled|is disabled)",
        "The API is not enabled, or was enabled a moment ago. `deploy.sh --only prepare` enables all that is needed; if it has "
        "just done so, wait two minutes and run the same command again.",
    ),
    Remedy(
        r"billing",
        "The project has no billing account. Link one: gcloud billing projects link PROJECT --billing-account=ACCOUNT",
    ),
    Remedy(
        r"service account .{0,120}(?:does not exist|not found)|unknown service account",
        "A service account that was just made is still propagating. Wait a minute and run the same command again; "
        "if that does not help, run `deploy.sh --only prepare`.",
    ),
    Remedy(
        r"permission '?([a-z]+\.[A-Za-z]+\.[A-Za-z]+)'?|'([a-z]+\.[A-Za-z]+\.[A-Za-z]+)' permission",
        "The account that deploys lacks the permission {permission}, which {role} gives. Somebody with the right to do so runs:\n"
        "  gcloud projects add-iam-policy-binding PROJECT --member=user:YOU --role={role}",
    ),
    Remedy(
        r"reauth|invalid_grant|no active account|not have any valid credentials|gcloud auth login|unauthenticated",
        "gcloud is not logged in as that account. Run: gcloud auth login (with the account that deploy.toml names)",
    ),
    Remedy(
        r"permission_denied|does not have permission|forbidden|\b403\b",
        "The account that deploys may not do this. docs/deployment.md lists the roles that it needs; which account it is, "
        "`gcloud auth list` and the keys account, configuration and impersonate_service_account of deploy.toml say.",
    ),
    Remedy(
        r"cannot run builds in this region",
        "Cloud Build gives this project no builds in the region, as it does for new projects in some. Ask for a quota, name a "
        "private pool (worker_pool in deploy.toml), or set another region.",
    ),
    Remedy(
        r"database id .{0,80}not available",
        "Firestore keeps the name of a deleted database for some minutes. Wait as long as the message says, and run the same "
        "command again.",
    ),
    Remedy(
        r"quota|resource_exhausted|\b429\b",
        "A quota is used up, or too many requests were sent. Wait a minute and run the same command again; API Gateway keeps "
        "100 configs for an API: delete old ones with gcloud api-gateway api-configs delete.",
    ),
    Remedy(
        r"build failed|failed to build|build .{0,60}failure",
        "The build failed; its log is at the address above. If the log speaks of a permission, the build account's role is "
        "still propagating: wait two minutes and run the same command again. `make test` runs each function from its bundle "
        "on this machine.",
    ),
    Remedy(
        r"failed to start and listen|revision .{0,80}is not ready|container failed",
        "The function stopped at its start, and the old version still serves. A wrong setting is named in its log:\n"
        "  gcloud logging read 'resource.type=cloud_run_revision AND severity>=WARNING' --limit=20 --project=PROJECT",
    ),
    Remedy(
        r"is not supported in (?:this )?(?:location|region)|unsupported location|location .{0,60}not (?:found|supported)",
        "The product is not offered in that region. Set region in [gateway], or for the function, to one that has it.",
    ),
    Remedy(
        r"already.?exists|\b409\b",
        "Something of this name exists, perhaps made at the same moment by somebody else. Run the same command again; "
        "if it stays, choose another name_prefix in deploy.toml.",
    ),
    Remedy(
        r"unavailable|deadline.?exceeded|timed out|connection (?:refused|reset|aborted)|\b50[0234]\b|proxy",
        "Google's API could not be reached or did not answer. Nothing is half done that a second run would not complete: "
        "run the same command again.",
    ),
)


def advice(message: str, *, command: Sequence[str]) -> str:
    """Return the remedy for a command that failed with `message`. Names the project, where the command has one."""
    project = next((word.partition("=")[2] for word in command if word.startswith("--project=")), "PROJECT")
    for remedy in REMEDIES:
        found = re.search(remedy.words, message, re.IGNORECASE | re.DOTALL)
        if found:
            captured = [group for group in found.groups() if group]
            permission = captured[0] if captured else ""
            return (
                remedy.text.replace("{1}", permission)
                .replace("{permission}", permission)
                .replace("{role}", role_for(permission))
                .replace("PROJECT", project)
            )
    return UNKNOWN


def role_for(permission: str) -> str:
    """Return the role that gives `permission`: that of the longest prefix in the table."""
    # Google spells one and the same permission with capitals and without.
    wanted = f"{permission}.".lower()
    names = [name for name in ROLES if wanted.startswith(f"{name}.".lower())]
    return ROLES[max(names, key=len)] if names else "roles/editor"
