"""Which provider addresses are refused, when saved and when connecting."""

import ipaddress
import socket

import pytest

from judge.llm.addresses import AddressRefused, check_address, is_refused


def refusal(url: str, local_hosts: tuple[str, ...] = (), resolve: bool = False) -> str:
    with pytest.raises(AddressRefused) as caught:
        check_address(url, local_hosts, resolve)
    assert url not in str(caught.value)
    return caught.value.code


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "198.18.0.1", "[::]",
        "[::1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]",
        "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::808:808]", "[64:ff9b:1::1]",
        "[2002:7f00:1::]", "[2001::1]", "[fec0::1]", "[fe80::1%25eth0]",
        "localhost", "LOCALHOST", "localhost.", "db.localhost", "metadata.google.internal", "printer.local", "redis",
    ],
)  # fmt: skip
def test_local_and_wrapped_addresses_are_refused(host: str) -> None:
    assert refusal(f"https://{host}/v1") == "local"


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.1", "0x7f.1", "127.0.0.1.", "１２７.0.0.1", "8.8.8"],
)
def test_odd_number_forms_are_refused(host: str) -> None:
    assert refusal(f"https://{host}/v1") == "number_form"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://api.example.com/v1", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("api.example.com/v1", "scheme"),
        ("https://user:secret@api.example.com/v1", "userinfo"),
        ("https://api.example.com@127.0.0.1/v1", "userinfo"),
        ("https://api.example.com/v1?key=1", "query"),
        ("https://api.example.com/v1#x", "query"),
        ("https:///v1", "invalid"),
        ("https://api.example.com:99999/v1", "invalid"),
        ("https://api.example.com:0/v1", "invalid"),
        ("https://api.example.com\\@127.0.0.1/v1", "invalid"),
        ("https://api.exa mple.com/v1", "invalid"),
        ("https://api.example.com/v1\n", "invalid"),
        ("https://[::1/v1", "invalid"),
        ("https://a_b!.example.com/v1", "invalid"),
        ("http://api.example.com/v1", "plain_http"),
        ("https://api.example.com:22/v1", "port"),
        ("https://api.example.com:6379/v1", "port"),
    ],
)
def test_other_refusals(url: str, code: str) -> None:
    assert refusal(url) == code


@pytest.mark.parametrize(
    "url",
    ["https://api.example.com/v1", "https://api.example.com:8443/v1", "https://8.8.8.8/v1", "https://bücher.example/v1",
     "https://[2606:4700:4700::1111]/v1"],
)  # fmt: skip
def test_public_servers_over_tls_are_accepted(url: str) -> None:
    check_address(url, (), resolve=False)


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("http://localhost:8080/v1", "localhost"),
        ("http://LocalHost:8080/v1", "localhost:8080"),
        ("http://127.0.0.1:11434/v1", "127.0.0.1:11434"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
        ("http://[::1]:8080/v1", "::1"),
        ("http://vllm:8000/v1", "vllm:8000"),
    ],
)
def test_the_operators_allowlist_opens_exactly_its_hosts(url: str, entry: str) -> None:
    check_address(url, (entry,))
    assert refusal(url, ("other", "localhost:1", "127.0.0.1:1")) in {"local", "port"}


def test_the_allowlist_opens_no_other_scheme_and_no_odd_form() -> None:
    assert refusal("ftp://localhost/", ("localhost",)) == "scheme"
    assert refusal("http://2130706433/", ("2130706433",)) == "number_form"


def resolving_to(monkeypatch, *addresses: str) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: found)


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch) -> None:
    resolving_to(monkeypatch, "8.8.8.8", "10.0.0.1")
    assert refusal("https://api.example.com/v1", resolve=True) == "local"


def test_a_name_with_public_addresses_is_accepted(monkeypatch) -> None:
    resolving_to(monkeypatch, "8.8.8.8", "1.1.1.1")
    check_address("https://api.example.com/v1", ())


def test_a_name_that_does_not_resolve_now_is_accepted(monkeypatch) -> None:
    def unknown(*args, **options):
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    check_address("https://api.example.com/v1", ())


def test_public_addresses_are_not_refused() -> None:
    assert not is_refused(ipaddress.ip_address("8.8.8.8"))
    assert not is_refused(ipaddress.ip_address("2a00:1450:4001:82a::200e"))
