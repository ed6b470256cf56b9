"""SIGHUP: keys, certificates and the log are read again, and nothing changes when that is not possible."""

import os
import pty
import signal
import socket
import ssl
import subprocess

import pytest
from botocore.exceptions import ClientError

from certificates import Authority
from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.store_only

OLD, NEW = "old-0123456789abcdef", "new-0123456789abcdef"


def settings(directory, secret, certificate, more=""):
    (directory / "postino.toml").write_text(
        f'[http]\napi_keys = ["app:operator:{secret}"]\n'
        f'tls_certificate = "{certificate[0]}"\ntls_key = "{certificate[1]}"\n'
        f'[log]\nfile = "{directory / "log"}"\n{more}',
        encoding="utf-8",
    )


def served_certificate(server):
    _, host, port = server.addresses["REST"]
    context = ssl._create_unverified_context()
    with socket.create_connection((host, port), timeout=PATIENCE_SECONDS) as plain:
        with context.wrap_socket(plain) as connection:
            return ssl.DER_cert_to_PEM_cert(connection.getpeercert(True))


def text_of(file):
    return file.read_text(encoding="utf-8") if file.exists() else ""


@pytest.fixture
def authority(directory):
    return Authority(directory / "authority")


@pytest.fixture
def server(directory, authority, start):
    settings(directory, OLD, authority.issue("first"))
    return start("--config", directory / "postino.toml")


def status_with(server, authority, secret):
    return server.rest(secret, authority.certificate).get("/emails").status


def test_keys_certificates_and_the_log_are_taken(directory, authority, server):
    second = authority.issue("second")
    settings(directory, NEW, second, '[dynamodb]\naccess_keys = ["postino:secret"]\n')
    with pytest.raises(ClientError):
        dynamodb(server).list_tables()
    (directory / "log").rename(directory / "log.1")
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: "reloaded" in text_of(directory / "log"), "the line about the reload")
    assert status_with(server, authority, NEW) == 200
    assert status_with(server, authority, OLD) == 401
    assert dynamodb(server).list_tables()["TableNames"]
    assert served_certificate(server) == second[0].read_text(encoding="utf-8")


def test_what_needs_a_restart_is_named(directory, authority, server):
    settings(directory, OLD, authority.issue("first"), '[smtp]\nrelays = ["127.0.0.1:25"]\n')
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: "settings=--smtp" in text_of(directory / "log"), "the line about the restart")


def test_authorities_and_passwords_of_brokers_are_read_anew(directory, authority, start):
    """From the files that they are in: a file that cannot be used any more is noticed."""
    authorities, password = directory / "authorities.pem", directory / "password"
    authorities.write_text(authority.certificate.read_text(encoding="utf-8"), encoding="utf-8")
    password.write_text("secret", encoding="utf-8")
    more = f'[callback]\nca = "{authorities}"\n'
    more += f'[messages.connections.main]\nendpoints = ["127.0.0.1:1"]\nuser = "clerk"\npassword_file = "{password}"\n'
    certificate = authority.issue("first")
    settings(directory, OLD, certificate, more)
    server = start("--config", directory / "postino.toml")

    def reload(expected):
        """What the log says of it."""
        before = len(text_of(directory / "log"))
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: expected in text_of(directory / "log")[before:], expected)
        return text_of(directory / "log")[before:]

    reload("serve: reloaded")
    authorities.write_text("no certificate", encoding="utf-8")
    assert str(authorities) in reload("nothing was reloaded")
    authorities.write_text(authority.certificate.read_text(encoding="utf-8"), encoding="utf-8")
    password.unlink()
    assert str(password) in reload("nothing was reloaded")


@pytest.mark.parametrize("mistake", ["settings", "certificate"])
def test_an_error_changes_nothing(directory, authority, server, mistake):
    before = served_certificate(server)
    if mistake == "settings":
        settings(directory, NEW, authority.issue("second"), "[smtp]\nrelay = 1\n")
    else:
        settings(directory, NEW, (directory / "missing.pem", directory / "missing.key"))
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: "nothing was reloaded" in text_of(directory / "log"), "the line about the failure")
    assert status_with(server, authority, OLD) == 200
    assert status_with(server, authority, NEW) == 401
    assert served_certificate(server) == before


def test_a_server_ends_with_its_terminal(binary, directory):
    """SIGHUP means something else to a program that was started in a terminal which is gone."""
    ours, theirs = pty.openpty()
    command = [binary, "serve", "--data", directory / "data", "--http", "127.0.0.1:0", "--dynamodb", "127.0.0.1:0"]
    # The shell has the terminal, as a user's has.
    shell = ["setsid", "--ctty", "--wait", *map(str, command)]
    with subprocess.Popen(shell, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        while not (line := process.stdout.readline()).startswith(b"DynamoDB API"):
            assert line, "the server did not start"
        os.close(ours)
        assert process.wait(PATIENCE_SECONDS) == 0
