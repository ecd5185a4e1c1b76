"""Where the hub lets itself be sent: no URL, name or address leads it to what is not public."""

import ipaddress

import pytest

from a2a_hub.http.public_addresses import is_public
from a2a_hub.settings.reader import Settings, SettingsError
from a2a_hub.tasks import webhook_address
from a2a_hub.tasks.webhook_address import AddressRefused, WebhookAddresses

HOSTILE_URLS = (
    "http://receiver.example.com/",
    "http://93.184.216.34/",
    "ftp://receiver.example.com/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://hub.localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://metadata.google.internal./computeMetadata/v1/",
    "https://router.home.arpa/",
    "https://metadata/",
    "https://127.0.0.1/",
    "https://127.0.0.1./",
    "https://127.1/",
    "https://127.0.1/",
    "https://0/",
    "https://0.0.0.0/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://127.0.0.0x1/",
    "https://017700000001/",
    "https://0177.0.0.1/",
    "https://127.000.000.001/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://100.100.100.200/",
    "https://168.63.129.16/",
    "https://199.36.153.8/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://１２７.０.０.１/",
    "https://127。0。0。1/",
    "https://①②⑦.⓪.⓪.①/",
    "https://[::]/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b:1::a00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[fd00:ec2::254]/",
    "https://[fd20:ce::254]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25eth0]/",
    "https://[ff02::1]/",
)

PRIVATE_ADDRESSES = (
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.31.255.255",
    "34.126.0.1",
    "34.126.63.255",
    "192.0.0.9",
    "192.31.196.1",
    "192.52.193.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.175.48.1",
    "198.18.0.1",
    "199.36.153.4",
    "199.36.153.7",
    "199.36.153.8",
    "199.36.153.11",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::10.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001:0:7f00:1::",
    "2001:4860:8040::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "2002:c724:9908::1",
    "::ffff:199.36.153.8",
    "64:ff9b::c724:9904",
    "2600:1900::5efe:a00:1",
    "2600:2d00:2:1000::",
    "2600:2d00:2:2000::1",
    "2620:4f:8000::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
)
PUBLIC_ADDRESSES = (
    "93.184.216.34",
    "8.8.8.8",
    "199.36.153.3",
    "199.36.153.12",
    "34.126.64.1",
    "2600:1900::1",
    "2606:4700:4700::1111",
    "64:ff9b::808:808",
)


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_what_a_url_itself_shows_is_refused(url: str) -> None:
    assert WebhookAddresses([]).refusal(url) is not None


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES)
def test_an_address_that_is_not_of_the_public_internet_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_an_address_of_the_public_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES)
def test_a_name_is_refused_when_any_of_its_addresses_is_not_public(address: str) -> None:
    addresses = WebhookAddresses([], resolve=lambda *_: (PUBLIC_ADDRESSES[0], address)).resolve
    with pytest.raises(AddressRefused) as raised:
        addresses("innocent.example.com", 443)
    assert address not in raised.value.detail


def test_a_name_of_public_addresses_is_connected_to_at_these() -> None:
    addresses = WebhookAddresses([], resolve=lambda *_: PUBLIC_ADDRESSES).resolve
    assert addresses("receiver.example.com", 443) == PUBLIC_ADDRESSES[:4]


def test_what_is_no_address_is_not_public() -> None:
    with pytest.raises(AddressRefused):
        WebhookAddresses([], resolve=lambda *_: ("elsewhere",)).resolve("receiver.example.com", 443)


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.1:8443", "Receiver.Test", "receiver.test:8443"])
def test_an_allowed_host_may_be_notified_wherever_it_is(allowed: str) -> None:
    host = allowed.partition(":")[0]
    assert WebhookAddresses([allowed]).refusal(f"http://{host}:8443/hook") is None
    addresses = WebhookAddresses([allowed], resolve=lambda *_: ("127.0.0.1",)).resolve
    assert addresses(host.lower(), 8443) == ("127.0.0.1",)


@pytest.mark.parametrize(
    "url", ["https://receiver.test:9/", "https://receiver.test.evil.example/", "https://evil-receiver.test/"]
)
def test_an_allowed_host_allows_no_other(url: str) -> None:
    addresses = WebhookAddresses(["receiver.test:8443"], resolve=lambda *_: ("127.0.0.1",)).resolve
    host, port = url.split("/")[2].partition(":")[::2]
    with pytest.raises(AddressRefused):
        addresses(host, int(port or 443))


RECEIVERS = ["Hooks.example.com", "*.partner.example", "api.example.net:8443"]


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/a",
        "https://HOOKS.example.com.:443/a",
        "https://hooks.example.com:9443/a",
        "https://eu.partner.example/a",
        "https://a.b.partner.example/a",
        "https://api.example.net:8443/a",
    ],
)
def test_a_receiver_on_the_list_may_be_notified(url: str) -> None:
    addresses = WebhookAddresses([], RECEIVERS, resolve=lambda *_: PUBLIC_ADDRESSES)
    assert addresses.refusal(url) is None
    host, _, port = url.split("/")[2].partition(":")
    assert addresses.resolve(host, int(port or 443))


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/a",
        "https://partner.example/a",
        "https://evil-partner.example/a",
        "https://hooks.example.com.evil.example/a",
        "https://api.example.net/a",
        "https://93.184.216.34/a",
    ],
)
def test_no_other_host_is_notified_where_there_is_a_list(url: str) -> None:
    addresses = WebhookAddresses([], RECEIVERS, resolve=lambda *_: PUBLIC_ADDRESSES)
    assert addresses.refusal(url) == "must be at a host that this hub may notify"
    with pytest.raises(AddressRefused, match="WEBHOOK_RECEIVERS"):
        addresses.resolve(url.split("/")[2], 443)


def test_a_receiver_must_be_public_all_the_same() -> None:
    addresses = WebhookAddresses([], ["hooks.example.com", "localhost"], resolve=lambda *_: ("10.0.0.1",))
    assert addresses.refusal("http://hooks.example.com/") == "must be an https URL"
    assert addresses.refusal("https://localhost/") == "must be a public address"
    with pytest.raises(AddressRefused, match="public"):
        addresses.resolve("hooks.example.com", 443)


def test_an_allowed_host_needs_no_place_on_the_list() -> None:
    addresses = WebhookAddresses(["127.0.0.1"], RECEIVERS, resolve=lambda *_: ("127.0.0.1",))
    assert addresses.refusal("http://127.0.0.1:9/") is None
    assert addresses.resolve("127.0.0.1", 9) == ("127.0.0.1",)


def test_settings_name_the_receivers() -> None:
    settings = Settings({"WEBHOOK_RECEIVERS": "hooks.example.com, *.partner.example"})
    addresses = webhook_address.read(settings)
    assert addresses.refusal("https://eu.partner.example/") is None
    assert addresses.refusal("https://elsewhere.example/") is not None
    wrong = Settings({"WEBHOOK_RECEIVERS": "https://hooks.example.com"})
    webhook_address.read(wrong)
    with pytest.raises(SettingsError, match="WEBHOOK_RECEIVERS"):
        wrong.check()
