"""Which addresses a provider may have: public servers over TLS, and what the operator's allowlist names."""

import ipaddress
import re
import socket
import threading
import unicodedata
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext_lazy as _

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_RESOLVE_SECONDS: Final = 5.0
_PUBLIC_PORTS: Final = frozenset({443, 8443})
_FORBIDDEN_CHARACTER = re.compile(r"[\s\x00-\x1f\x7f\\]")
_NUMBER_FORM = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+))*\.?", re.IGNORECASE)
_HOST_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?", re.IGNORECASE)
_LOCAL_SUFFIXES: Final = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa", ".lan")

# What `ipaddress.is_global` does not refuse: wrappers that carry another address (also a private one), and the
# addresses at which clouds serve their metadata.
_REFUSED_NETWORKS: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "100.64.0.0/10",
        "168.63.129.16/32",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "::/96",
        "::ffff:0:0/96",
        "::ffff:0:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2001::/32",
        "2002::/16",
        "fec0::/10",
    )
)

_MESSAGES: Final[dict[str, Any]] = {
    "invalid": _("This is not a usable address."),
    "scheme": _("The address must begin with https:// or http://."),
    "userinfo": _("The address must not contain a user name or a password."),
    "query": _("The address must not contain a query or a fragment."),
    "number_form": _("Write the IP address in its usual form."),
    "local": _(
        "The address leads into a local or private network. The operator can allow it with LLARS_LOCAL_LLM_HOSTS."
    ),
    "plain_http": _("Use https://. Plain http is only possible for hosts that the operator has allowed."),
    "port": _("This port is not possible for a public host. The operator can allow it with LLARS_LOCAL_LLM_HOSTS."),
}


class AddressRefused(Exception):
    """An address that must not be called.

    `code`: invalid, scheme, userinfo, query, number_form, local, plain_http or port; `message` is translated lazily.
    """

    code: str
    message: Any

    def __init__(self, code: str) -> None:
        super().__init__(f"address refused: {code}")
        self.code = code
        self.message = _MESSAGES[code]


def check_address(base_url: str, local_hosts: Collection[str], resolve: bool = True) -> None:
    """Refuse a base URL that could reach something other than a public server.

    `local_hosts` holds "host" or "host:port" entries that are exempt from the rules on networks, ports and plain http.
    With `resolve`, a name is looked up and every address checked; a name that does not resolve now is accepted, since
    the same check is made again when connecting. Raises AddressRefused.
    """
    parts, port = _split(base_url)
    host = parts.hostname or ""
    if is_local_host(host, port, local_hosts):
        return
    if _literal(host) is None and is_local_name(host):
        raise AddressRefused("local")
    if (literal := _literal(host)) is not None and is_refused(literal):
        raise AddressRefused("local")
    if parts.scheme != "https":
        raise AddressRefused("plain_http")
    if port not in _PUBLIC_PORTS:
        raise AddressRefused("port")
    if resolve and literal is None:
        try:
            addresses = resolve_host(host, port, _RESOLVE_SECONDS)
        except OSError:
            return
        if any(is_refused(address) for address in addresses):
            raise AddressRefused("local")


def is_local_host(host: str, port: int, local_hosts: Collection[str]) -> bool:
    """Whether the operator's allowlist names this host, with this port or with none."""
    bare = host.strip("[]").rstrip(".").casefold()
    names = {bare, f"{bare}:{port}", f"[{bare}]", f"[{bare}]:{port}"}
    return any(entry.strip().casefold() in names for entry in local_hosts)


def is_local_name(host: str) -> bool:
    """Whether a name is local by itself, whatever it resolves to."""
    name = host.rstrip(".").casefold()
    return "." not in name or name.endswith(_LOCAL_SUFFIXES)


def is_refused(address: IPAddress) -> bool:
    """Whether an IP address is anything but a plain public unicast address."""
    if not address.is_global or address.is_multicast or address.is_reserved or address.is_unspecified:
        return True
    return any(address.version == network.version and address in network for network in _REFUSED_NETWORKS)


def resolve_host(host: str, port: int, timeout: float) -> list[IPAddress]:
    """All addresses of a host, in the resolver's order, without doublets.

    The system's resolver knows no deadline, so it runs in a thread of its own. Raises OSError (also TimeoutError).
    """
    if (literal := _literal(host)) is not None:
        return [literal]
    outcome: list[Any] = []

    def look_up() -> None:
        try:
            outcome.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            outcome.append(error)

    thread = threading.Thread(target=look_up, name="resolve-provider", daemon=True)
    thread.start()
    thread.join(timeout)
    if not outcome:
        raise TimeoutError("name resolution timed out")
    if isinstance(outcome[0], UnicodeError):
        raise OSError("name cannot be resolved")
    if isinstance(outcome[0], OSError):
        raise outcome[0]
    found = (ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in outcome[0])
    return list(dict.fromkeys(found))


def _split(base_url: str) -> tuple[SplitResult, int]:
    if _FORBIDDEN_CHARACTER.search(base_url):
        raise AddressRefused("invalid")
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        raise AddressRefused("invalid") from None
    if parts.scheme not in ("http", "https"):
        raise AddressRefused("scheme")
    if "@" in parts.netloc:
        raise AddressRefused("userinfo")
    host = parts.hostname
    if not host or port == 0:
        raise AddressRefused("invalid")
    if parts.query or parts.fragment or "?" in base_url or "#" in base_url:
        raise AddressRefused("query")
    _check_form(host)
    return parts, port or (443 if parts.scheme == "https" else 80)


def _check_form(host: str) -> None:
    """Resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as loopback, and IDNA turns full-width digits into such."""
    plain = unicodedata.normalize("NFKC", host).replace("\u3002", ".")
    if _literal(plain) is not None:
        if plain != host:
            raise AddressRefused("number_form")
        return
    if _NUMBER_FORM.fullmatch(plain):
        raise AddressRefused("number_form")
    try:
        ascii_name = plain.encode("idna").decode("ascii")
    except UnicodeError:
        raise AddressRefused("invalid") from None
    if not _HOST_NAME.fullmatch(ascii_name):
        raise AddressRefused("invalid")


def _literal(host: str) -> IPAddress | None:
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return address
