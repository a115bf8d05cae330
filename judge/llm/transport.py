"""HTTP to providers: checked and pinned addresses, bounded receiving, nothing sent but what the protocol needs."""

import select
import socket
import ssl
import time
from collections.abc import Collection, Iterable
from typing import Any, Final

import httpcore2
import httpx2

from judge.llm.addresses import is_local_host, is_refused, resolve_host
from judge.llm.budget import CallBudget, OverBudget, current

_ERROR_BODY_BYTES: Final = 65_536
_IDLE_SECONDS: Final = 30.0
# The openai library adds a dozen headers about the machine it runs on; providers need none of them.
_SENT_HEADERS: Final = frozenset(
    {b"host", b"accept", b"content-type", b"content-length", b"transfer-encoding", b"authorization", b"connection"}
)
_OWN_HEADERS: Final = [(b"User-Agent", b"llars-judge"), (b"Accept-Encoding", b"identity")]

# All that httpx2 passes on of an error within the transport is its text.
REFUSED_ADDRESS: Final = "address refused"
UNKNOWN_NAME: Final = "name cannot be resolved"
CONNECTING_TIMED_OUT: Final = "connecting timed out"
TLS_TIMED_OUT: Final = "TLS handshake timed out"
TLS_CERTIFICATE: Final = "TLS certificate refused"
TLS_FAILED: Final = "TLS failed"


class ProviderTransport(httpx2.HTTPTransport):
    """A connection pool for one provider. Redirects and proxies are the client's matter, and off there."""

    def __init__(self, local_hosts: Collection[str], has_key: bool, max_connections: int) -> None:
        self._sent = _SENT_HEADERS if has_key else _SENT_HEADERS - {b"authorization"}
        self._pool = httpcore2.ConnectionPool(
            # SSL_CERT_FILE is the operator's way to trust an own certificate authority.
            ssl_context=httpx2.create_ssl_context(trust_env=True),
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=PinnedBackend(local_hosts),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Compressed answers are refused, since a few bytes could unpack to gigabytes; the body of an
        error is read here, so that it is bounded."""
        raw = [(name, value) for name, value in request.headers.raw if name.lower() in self._sent]
        # A request of its own: the library finds its notes to itself in the headers of the one it made.
        wire = httpx2.Request(
            request.method,
            request.url,
            headers=raw + _OWN_HEADERS,
            stream=request.stream,
            extensions=request.extensions,
        )
        response = super().handle_request(wire)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            response.close()
            raise httpx2.RemoteProtocolError("compressed response", request=request)
        if response.is_success:
            return response
        return _with_bounded_body(response)


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the very address that was checked, so that a name cannot change between check and connection."""

    def __init__(self, local_hosts: Collection[str]) -> None:
        self._local_hosts = tuple(local_hosts)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        deadline = time.monotonic() + (10.0 if timeout is None else timeout)
        try:
            addresses = resolve_host(host, port, max(0.0, deadline - time.monotonic()))
        except OSError:
            raise httpcore2.ConnectError(UNKNOWN_NAME) from None
        if not is_local_host(host, port, self._local_hosts) and any(is_refused(address) for address in addresses):
            raise httpcore2.ConnectError(REFUSED_ADDRESS)
        for address in addresses:
            left = deadline - time.monotonic()
            if left <= 0:
                raise httpcore2.ConnectTimeout(CONNECTING_TIMED_OUT)
            try:
                connection = socket.create_connection((str(address), port), left)
            except OSError:
                continue
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return BoundedStream(connection)
        if time.monotonic() >= deadline:
            raise httpcore2.ConnectTimeout(CONNECTING_TIMED_OUT)
        raise httpcore2.ConnectError("connection refused or unreachable")


class BoundedStream(httpcore2.NetworkStream):
    """A socket whose receives obey the running call's budget instead of a timeout that every byte would renew."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._timeout: float | None = -1.0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        budget = current()
        if budget is not None and (seconds := budget.seconds_to_gather()):
            time.sleep(seconds)
        while True:
            self._set_timeout(timeout if budget is None else _wait(budget))
            try:
                data = self._socket.recv(max_bytes)
            except TimeoutError:
                if budget is None:
                    raise httpcore2.ReadTimeout("receiving timed out") from None
                continue
            except OSError:
                raise httpcore2.ReadError("receiving failed") from None
            if budget is not None:
                _count(budget, len(data))
            return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._set_timeout(timeout)
        try:
            self._socket.sendall(buffer)
        except TimeoutError:
            raise httpcore2.WriteTimeout("sending timed out") from None
        except OSError:
            raise httpcore2.WriteError("sending failed") from None

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        self._set_timeout(timeout)
        try:
            return BoundedStream(ssl_context.wrap_socket(self._socket, server_hostname=server_hostname))
        except TimeoutError:
            self.close()
            raise httpcore2.ConnectTimeout(TLS_TIMED_OUT) from None
        except (OSError, ValueError) as error:
            self.close()
            certificate = isinstance(error, ssl.SSLCertVerificationError)
            raise httpcore2.ConnectError(TLS_CERTIFICATE if certificate else TLS_FAILED) from None

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
        if info == "socket":
            return self._socket
        if info == "is_readable":
            return _is_readable(self._socket)
        return None

    def _set_timeout(self, seconds: float | None) -> None:
        # Setting a timeout is a system call, and thousands of receives in a row use the same one.
        if seconds != self._timeout:
            self._socket.settimeout(seconds)
            self._timeout = seconds


def _wait(budget: CallBudget) -> float:
    try:
        return budget.seconds_to_wait()
    except OverBudget as over:
        raise httpcore2.ReadTimeout(over.code) from None


def _count(budget: CallBudget, count: int) -> None:
    try:
        budget.received(count)
    except OverBudget as over:
        raise httpcore2.ReadError(over.code) from None


def _is_readable(connection: socket.socket) -> bool:
    """Whether an idle connection has been closed by the server (or is full of what nobody asked for)."""
    if connection.fileno() < 0:
        return True
    poller = select.poll()
    poller.register(connection, select.POLLIN)
    return bool(poller.poll(0))


def _with_bounded_body(response: httpx2.Response) -> httpx2.Response:
    body = b""
    try:
        for part in response.stream:  # type: ignore[union-attr]
            body += part
            if len(body) > _ERROR_BODY_BYTES:
                break
    except httpx2.TransportError:
        # The status alone already says what happened, unless the call's own budget ended it.
        budget = current()
        if budget is not None and budget.failure is not None:
            raise
    finally:
        response.close()
    headers = [
        (name, value)
        for name, value in response.headers.raw
        if name.lower() not in (b"content-length", b"transfer-encoding")
    ]
    return httpx2.Response(response.status_code, headers=headers, content=body[:_ERROR_BODY_BYTES])
