"""The programs that these tests bring together. POSTINO names the one under test; tests/messages_e2e/run sets it."""

import os
import shutil
import sys
import tempfile
import uuid
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "api")]  # how a server is started and called
pytest.register_assert_rewrite("postino_server", "rest", "waiting", "message_server")

from message_server import MessageServer, Queue  # noqa: E402
from rabbitmq_server import RabbitmqServer  # noqa: E402

BINARY = os.environ.get("POSTINO", str(FOLDER.parents[1] / "build" / "postino"))


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture(scope="session")
def binary():
    return BINARY


@pytest.fixture(scope="session")
def rabbitmq():
    server = RabbitmqServer()
    yield server
    server.remove()


def new_directory():
    return Path(tempfile.mkdtemp(prefix="postino-e2e-"))


@pytest.fixture
def directory():
    created = new_directory()
    yield created
    shutil.rmtree(created)


@pytest.fixture(scope="module")
def module_directory():
    created = new_directory()
    yield created
    shutil.rmtree(created)


@pytest.fixture(scope="session")
def broker_flags(rabbitmq):
    """How Postino is told of the broker."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as settings:
        settings.write(
            f"""
[messages.connections.rabbitmq]
endpoints = ["{rabbitmq.address}"]
user = "{rabbitmq.user}"
password = "{rabbitmq.password}"
management = "http://127.0.0.1:{rabbitmq.management_port}"
"""
        )
        settings.flush()
        yield ["--config", settings.name]


@pytest.fixture
def start(directory, broker_flags):
    """Starts servers with flags of the test's choice, by default on the same data. They are ended with the test; one
    that has ended by itself, or ends badly, fails it."""
    started = []

    def start_server(*flags, data=directory / "data"):
        own = [] if "--config" in flags else broker_flags
        started.append(MessageServer(BINARY, data, *own, *flags))
        return started[-1]

    yield start_server
    try:
        for server in started:
            if not server.ended_on_purpose:
                server.__exit__(None)
    finally:
        for server in started:
            server.kill()


@pytest.fixture(scope="module")
def server(module_directory, broker_flags):
    """One that the tests of a file share."""
    with MessageServer(BINARY, module_directory / "data", *broker_flags) as shared:
        yield shared


@pytest.fixture(scope="module")
def rest(server):
    return server.rest()


@pytest.fixture(params=["embedded", "rabbitmq"])
def place(request):
    """Where queues are: what holds for one must hold for the other."""
    return request.param


@pytest.fixture
def new_queue(place, rabbitmq):
    """Makes queues that nobody else uses."""

    def make():
        name = f"queue-{uuid.uuid4().hex}"
        if place == "rabbitmq":
            rabbitmq.declare(name)
        return Queue(place, name, rabbitmq)

    return make


@pytest.fixture
def queue(new_queue):
    return new_queue()
