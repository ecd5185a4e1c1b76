"""What may be registered as a webhook: an https address that is public by all that it says of itself."""

from collections.abc import Iterator
from itertools import cycle

import pytest

from tests.fakes.hub import TOKEN
from tests.fakes.task_client import WAYS, Refused
from tests.fakes.two_owners import INVALID, World, two_owners


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with two_owners(tmp_path_factory.mktemp("isolation")) as made:
        yield made


WEBHOOKS = (
    "http://receiver.example/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/computeMetadata/v1/",
    "https://metadata.google.internal/",
    "https://metadata.google.internal./",
    "https://localhost/",
    "https://LOCALHOST/",
    "https://app.localhost/",
    "https://printer.local/",
    "https://intranet/",
    "https://user:password@receiver.example/",
    "https://receiver.example:99999/",
    "https://[::1/",
    "ftp://receiver.example/",
    "file:///etc/passwd",
    "gopher://receiver.example/",
    "javascript:alert(1)",
    "//receiver.example/",
    "receiver.example",
    "https://",
    "https://receiver.example/" + "x" * 2_000,
)


@pytest.mark.parametrize(("url", "way"), list(zip(WEBHOOKS, cycle(WAYS), strict=False)), ids=lambda each: each[:50])
def test_a_webhook_at_no_public_address_is_refused_and_nothing_is_kept(world: World, url: str, way: str) -> None:
    client = world.client(way, TOKEN)
    before = world.client("1.0 JSONRPC", TOKEN).list()["totalSize"]
    with pytest.raises(Refused) as refused:
        client.call("CreateTaskPushNotificationConfig", {"taskId": world.task_id, "url": url})
    assert refused.value.code == INVALID[client.binding]
    assert "127.0.0.1:" not in refused.value.message
    with pytest.raises(Refused) as refused:
        client.send("hello", webhook=url)
    assert refused.value.code == INVALID[client.binding]
    assert world.client("1.0 JSONRPC", TOKEN).list()["totalSize"] == before
    (kept,) = world.client("1.0 JSONRPC", TOKEN).call("ListTaskPushNotificationConfigs", {"taskId": world.task_id})[
        "configs"
    ]
    assert kept["id"] == world.config_id
