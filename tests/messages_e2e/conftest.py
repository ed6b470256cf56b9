"""The programs that these tests bring together. POSTINO names the one under test; tests/messages_e2e/run sets it."""

import os
import sys
import tempfile
import uuid
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]  # how a server is started and called
pytest.register_assert_rewrite("postino_server", "rest", "waiting", "message_server")

from message_server import MessageServer, Queue  # noqa: E402
from rabbitmq_server import RabbitmqServer  # noqa: E402
from server_fixtures import (  # noqa: E402, F401
    add_store_option,
    data_flags,
    directory,
    leave_out,
    module_directory,
    started_servers,
)

BINARY = os.environ.get("POSTINO", str(FOLDER.parents[1] / "build" / "postino"))


def pytest_addoption(parser):
    add_store_option(parser)


def pytest_collection_modifyitems(config, items):
    if config.getoption("--store") == "remote":
        for item in filter(is_of_broker, items):
            item.add_marker("embedded_only")  # a broker is the same with every store
        leave_out(config, items, ["embedded_only"])


def is_of_broker(item):
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return params.get("place") == "rabbitmq" or "rabbitmq" in item.fixturenames


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")
    config.addinivalue_line("markers", "embedded_only: about what only a server does that has the store in its directory")


MOST_RUNS = 3
MOST_EXCUSED = 4
excused = set()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """RabbitMQ 3.10 has a fault: now and then it breaks a connection off soon after a link is opened. Postino goes on
    with another connection. It sends again what the broker had not confirmed, so a queue may then have messages twice,
    and tests that count messages fail. Such a failure shows nothing about Postino: the test is run again.

    The excuse is narrow, so that a fault of ours that makes the broker break off still fails the test. The broker's log
    must name the one reason that only its own fault has. A test is run again twice, and at most four tests of a run are.
    A failure without excuse shows what the broker complained of."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(MOST_RUNS):
        breaks_before = RabbitmqServer.own_breaks()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports) or len(excused | {item.nodeid}) > MOST_EXCUSED:
            break
        RabbitmqServer.await_log()
        if RabbitmqServer.own_breaks() == breaks_before:
            print(f"RabbitMQ complained of:\n{RabbitmqServer.complaints()}")
            break
        print(f"RabbitMQ broke off by itself during {item.nodeid}")
        excused.add(item.nodeid)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session")
def binary():
    return BINARY


@pytest.fixture(scope="session")
def rabbitmq():
    server = RabbitmqServer()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def broker_flags(request):
    """How Postino is told of the broker. On a remote store no test needs one."""
    if request.config.getoption("--store") == "remote":
        yield []
        return
    rabbitmq = request.getfixturevalue("rabbitmq")
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as settings:
        settings.write(
            f"""
[messages.connections.rabbitmq]
endpoints = ["{rabbitmq.address}"]
user = "{rabbitmq.user}"
password = "{rabbitmq.password}"
management = "http://127.0.0.1:{rabbitmq.management_port}"
connect_timeout = "60s"
answer_timeout = "60s"
"""
        )
        settings.flush()
        yield ["--config", settings.name]


@pytest.fixture
def start(directory, broker_flags, data_flags):
    """Starts servers with flags of the test's choice, by default on the same data."""
    with started_servers() as started:

        def start_server(*flags, data=directory / "data"):
            own = [] if "--config" in flags else broker_flags
            started.append(MessageServer(BINARY, data, *data_flags(data), *own, *flags))
            return started[-1]

        yield start_server


@pytest.fixture(scope="module")
def server(module_directory, broker_flags, data_flags):
    """One that the tests of a file share."""
    data = module_directory / "data"
    with MessageServer(BINARY, data, *data_flags(data), *broker_flags) as shared:
        yield shared


@pytest.fixture(scope="module")
def rest(server):
    return server.rest()


@pytest.fixture(params=["embedded", "rabbitmq"])
def place(request):
    """Where queues are: what holds for one must hold for the other."""
    return request.param


@pytest.fixture
def new_queue(place, request):
    """Makes queues that no other test uses."""
    rabbitmq = request.getfixturevalue("rabbitmq") if place == "rabbitmq" else None

    def make():
        name = f"queue-{uuid.uuid4().hex}"
        if place == "rabbitmq":
            rabbitmq.declare(name)
        return Queue(place, name, rabbitmq)

    return make


@pytest.fixture
def queue(new_queue):
    return new_queue()
