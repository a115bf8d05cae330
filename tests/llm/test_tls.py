"""Calls over TLS: the certificate is checked, and an operator's own authority can be trusted."""

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from judge.domain.errors import ErrorCode
from judge.llm.endpoint import Endpoint
from tests.llm.asking import KEY, ask, failure

RESPONSE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    b'data: {"choices": [{"index": 0, "delta": {"content": "ja"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "both.pem"
    file.write_bytes(
        signed.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return file


def take_request(connection: ssl.SSLSocket) -> None:
    """Read a request to its end: closing with unread bytes would reset the connection under the answer."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65_536)
    head, _, body = head.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65_536)


@pytest.fixture
def endpoint(certificate: Path) -> Iterator[Endpoint]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            try:
                with context.wrap_socket(connection, server_side=True) as secured:
                    take_request(secured)
                    secured.sendall(RESPONSE)
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield Endpoint(None, f"https://127.0.0.1:{listener.getsockname()[1]}/v1", KEY, "m", local_hosts=("127.0.0.1",))
        thread.join(5)


def test_an_unknown_certificate_is_refused(endpoint: Endpoint) -> None:
    caught = failure(endpoint)
    assert (caught.code, caught.message) == (ErrorCode.CONNECTION_FAILED, "TLS certificate refused")


def test_the_operators_own_authority_is_trusted(endpoint: Endpoint, certificate: Path, monkeypatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ask(endpoint).text == "ja"
