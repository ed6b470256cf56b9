"""HTTPS: a server with a certificate speaks TLS and nothing else."""

import socket
import ssl
import subprocess

import pytest

from conftest import BINARY
from postino_server import PATIENCE_SECONDS, Server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for this host, and its key, made for this run."""
    directory = tmp_path_factory.mktemp("certificate")
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        + ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        + ["-out", str(certificate), "-keyout", str(key)],
        check=True,
        capture_output=True,
    )
    return certificate, key


@pytest.fixture(scope="module")
def secure(certificate, tmp_path_factory):
    data = tmp_path_factory.mktemp("secure") / "data"
    flags = ["--tls-certificate", str(certificate[0]), "--tls-key", str(certificate[1])]
    with Server(BINARY, data, *flags) as server:
        yield server


def test_ready_line_tells_the_scheme(secure):
    assert secure.endpoint.startswith("https://127.0.0.1:")


def test_boto3_speaks_https(connect, secure, certificate):
    client = connect(secure, verify=str(certificate[0]))
    client.create_table(
        TableName="secure",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.get_waiter("table_exists").wait(TableName="secure", WaiterConfig={"Delay": 1})
    item = {"pk": {"S": "a"}, "pad": {"S": "x" * 300_000}}
    client.put_item(TableName="secure", Item=item)
    assert client.get_item(TableName="secure", Key={"pk": {"S": "a"}})["Item"] == item


def test_certificate_is_the_one_that_was_given(secure, certificate):
    context = ssl.create_default_context(cafile=str(certificate[0]))
    with socket.create_connection((secure.host, secure.port), timeout=PATIENCE_SECONDS) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as encrypted:
            assert encrypted.version() in ("TLSv1.2", "TLSv1.3")
            names = encrypted.getpeercert()["subjectAltName"]
    assert ("DNS", "localhost") in names


def test_plain_http_gets_no_answer_from_the_api(secure):
    with socket.create_connection((secure.host, secure.port), timeout=PATIENCE_SECONDS) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            answer = plain.recv(4096)
        except ConnectionError:
            answer = b""
    assert b" 200 " not in answer


def test_half_a_handshake_disturbs_nobody(connect, secure, certificate):
    stuck = [socket.create_connection((secure.host, secure.port), timeout=PATIENCE_SECONDS) for _ in range(20)]
    for connection in stuck:
        connection.sendall(b"\x16\x03\x01")
    assert "TableNames" in connect(secure, verify=str(certificate[0])).list_tables()
    for connection in stuck:
        connection.close()


@pytest.mark.parametrize("broken", ["certificate", "key"])
def test_unreadable_certificate_or_key_keeps_the_server_from_starting(certificate, tmp_path, broken):
    files = {"certificate": str(certificate[0]), "key": str(certificate[1]), broken: str(tmp_path / "missing.pem")}
    command = [BINARY, "serve", "--data", str(tmp_path / "data"), "--dynamodb", "127.0.0.1:0", "--no-outbox"]
    command += ["--tls-certificate", files["certificate"], "--tls-key", files["key"]]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode != 0
    assert "postino: " in ended.stderr
