"""The stand-in of Cloud Storage as the unmodified google-cloud-storage sees it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.api_core import exceptions
from google.auth.exceptions import RefreshError
from google.cloud import storage
from google.oauth2.credentials import Credentials

from local.cloud.accounts import Accounts
from local.cloud.buckets import Bucket
from local.cloud.cloud_storage import CloudStorage
from local.cloud.policies import OBJECT_VIEWER, Policy
from local.cloud.program import Server, recorded
from tests.fakes.local_cloud import HUB, account, accounts_at, call, inject

OWNER, READER, STRANGER = "owner@example.com", "reader@p.iam.gserviceaccount.com", "stranger@example.com"
TOKENS = {"owner": OWNER, "reader": READER, "stranger": STRANGER}
Open = Callable[..., Any]


@pytest.fixture
def url() -> Iterator[str]:
    buckets = [Bucket("rules"), Bucket("others")]
    with Server(recorded(CloudStorage(buckets, accounts=Accounts(TOKENS, operators=[OWNER])).handle)) as server:
        yield server.url


@pytest.fixture
def bucket(url: str) -> Iterator[Open]:
    clients = []

    def opened(token: str = "owner", name: str = "rules") -> Any:
        credentials = Credentials(token)  # type: ignore[no-untyped-call]
        clients.append(storage.Client(project="p", credentials=credentials, client_options={"api_endpoint": url}))
        return clients[-1].bucket(name)

    yield opened
    for client in clients:
        client.close()


def let(bucket: Any, role: str, member: str, **condition: str) -> None:
    policy = bucket.get_iam_policy(requested_policy_version=3)
    policy.version = 3
    policy.bindings.append({"role": role, "members": {member}, **({"condition": condition} if condition else {})})
    bucket.set_iam_policy(policy)


def test_what_was_uploaded_comes_back_with_its_type_and_metadata(bucket: Open) -> None:
    blob = bucket().blob("規程/doors & gates.md")
    blob.metadata = {"author": "facilities"}
    blob.upload_from_string(b"one\r\n--two--\r\n\r\n", content_type="text/markdown")
    again = bucket().get_blob("規程/doors & gates.md")
    assert again.download_as_bytes() == b"one\r\n--two--\r\n\r\n"
    assert (again.content_type, again.metadata, again.size) == ("text/markdown", {"author": "facilities"}, 16)


def test_a_large_object_goes_up_in_pieces_and_down_in_parts(bucket: Open) -> None:
    content = bytes(range(256)) * 4096
    blob = bucket().blob("large")
    blob.chunk_size = 256 * 1024
    blob.upload_from_string(content, checksum="crc32c")
    assert bucket().blob("large").download_as_bytes(start=1000, end=1999) == content[1000:2000]
    assert bucket().blob("large").download_as_bytes(checksum="md5") == content


def test_a_generation_is_there_until_the_next_one(bucket: Open) -> None:
    blob = bucket().blob("a")
    blob.upload_from_string("first")
    first = blob.generation
    blob.upload_from_string("second")
    assert blob.generation > first
    with pytest.raises(exceptions.NotFound):
        bucket().blob("a", generation=first).download_as_bytes()


def test_a_precondition_keeps_others_from_overwriting(bucket: Open) -> None:
    blob = bucket().blob("a")
    blob.upload_from_string("first", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket().blob("a").upload_from_string("second", if_generation_match=0)
    assert blob.download_as_bytes() == b"first"


def test_a_list_comes_in_pages_and_by_prefix(bucket: Open) -> None:
    for name in ("b/2", "a", "b/1", "c"):
        bucket().blob(name).upload_from_string(name)
    assert [blob.name for blob in bucket().list_blobs(page_size=1)] == ["a", "b/1", "b/2", "c"]
    assert [blob.name for blob in bucket().list_blobs(prefix="b/")] == ["b/1", "b/2"]


def test_a_deleted_object_is_gone(bucket: Open) -> None:
    blob = bucket().blob("a")
    blob.upload_from_string("first")
    blob.delete()
    assert bucket().get_blob("a") is None
    with pytest.raises(exceptions.NotFound):
        blob.delete()


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("roles/storage.objectViewer", {"get", "list"}),
        ("roles/storage.objectCreator", {"create"}),
        ("roles/storage.objectUser", {"get", "list", "create", "delete"}),
    ],
)
def test_a_role_allows_what_it_holds(bucket: Open, role: str, may: set[str]) -> None:
    bucket().blob("a").upload_from_string("x")
    let(bucket(), role, f"serviceAccount:{READER}")
    actions: dict[str, Callable[[Any], object]] = {
        "get": lambda mine: mine.blob("a").download_as_bytes(),
        "list": lambda mine: list(mine.list_blobs()),
        "create": lambda mine: mine.blob("new").upload_from_string("x"),
        "delete": lambda mine: mine.blob("a").delete(),
    }
    refused = f"{READER} does not have storage.objects.{{}} access"
    for name, action in actions.items():
        if name in may:
            action(bucket("reader"))
        else:
            with pytest.raises(exceptions.Forbidden, match=refused.format(name)):
                action(bucket("reader"))


def test_who_may_not_list_does_not_learn_what_is_missing(bucket: Open) -> None:
    let(bucket(), "roles/storage.legacyObjectReader", f"serviceAccount:{READER}")
    with pytest.raises(exceptions.Forbidden):
        bucket("reader").blob("missing").reload()
    with pytest.raises(exceptions.NotFound):
        bucket().blob("missing").reload()


def test_a_conditional_role_holds_for_its_part_of_the_bucket(bucket: Open) -> None:
    for name in ("open/a", "closed/a"):
        bucket().blob(name).upload_from_string("x")
    prefix = "projects/_/buckets/rules/objects/open/"
    let(
        bucket(),
        "roles/storage.objectViewer",
        f"serviceAccount:{READER}",
        title="open",
        expression=f'resource.name.startsWith("{prefix}")',
    )
    assert bucket("reader").blob("open/a").download_as_bytes() == b"x"
    with pytest.raises(exceptions.Forbidden):
        bucket("reader").blob("closed/a").download_as_bytes()


def test_a_role_on_one_bucket_is_none_on_another(bucket: Open) -> None:
    bucket(name="others").blob("a").upload_from_string("x")
    let(bucket(), "roles/storage.objectViewer", f"serviceAccount:{READER}")
    with pytest.raises(exceptions.Forbidden):
        bucket("reader", "others").blob("a").download_as_bytes()


def test_only_an_administrator_changes_who_may_what(bucket: Open) -> None:
    with pytest.raises(exceptions.Forbidden):
        let(bucket("stranger"), "roles/storage.admin", f"user:{STRANGER}")


def test_a_token_that_nobody_gave_out_is_refused(bucket: Open) -> None:
    # The library answers 401 with an attempt to get another token.
    with pytest.raises(RefreshError):
        bucket("made-up").get_blob("a")


def test_a_bucket_that_does_not_exist_is_not_found(bucket: Open) -> None:
    with pytest.raises(exceptions.NotFound, match="bucket does not exist"):
        list(bucket(name="nowhere").list_blobs())


def test_the_account_behind_a_token_is_that_which_it_was_given_to() -> None:
    there = Bucket("rules")
    there.policy = Policy([{"role": OBJECT_VIEWER, "members": [f"serviceAccount:{HUB}"]}])
    with (
        account(HUB) as issuer,
        Server(CloudStorage([there], accounts=accounts_at[issuer]).handle) as server,
    ):
        token = call(
            f"{issuer}/computeMetadata/v1/instance/service-accounts/default/token",
            headers={"Metadata-Flavor": "Google"},
        )["access_token"]
        listed = call(f"{server.url}/storage/v1/b/rules/o", headers={"authorization": f"Bearer {token}"})
    assert listed["items"] == []


def test_revoked_roles_come_back_with_the_fault_or_by_hand(url: str, bucket: Open) -> None:
    bucket().blob("a").upload_from_string("x")
    let(bucket(), "roles/storage.objectViewer", f"serviceAccount:{READER}")
    inject(url, "deny-objects-get")
    with pytest.raises(exceptions.Forbidden):
        bucket("reader").blob("a").download_as_bytes()
    call(f"{url}/__faults/deny-objects-get", "DELETE")
    assert bucket("reader").blob("a").download_as_bytes() == b"x"
    inject(url, "deny-objects-get")
    let(bucket(), "roles/storage.objectViewer", f"serviceAccount:{READER}")
    assert bucket("reader").blob("a").download_as_bytes() == b"x"
    assert call(f"{url}/__faults")["on"] == {}


@pytest.mark.parametrize(
    ("fault", "error"),
    [("quota", exceptions.TooManyRequests), ("server-error", exceptions.ServiceUnavailable)],
)
def test_a_fault_is_what_it_says(url: str, bucket: Open, fault: str, error: type[Exception]) -> None:
    inject(url, fault)
    with pytest.raises(error):
        bucket().blob("a").reload(retry=None)
