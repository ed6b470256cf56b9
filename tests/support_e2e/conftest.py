"""The programs that these tests bring together. POSTINO names the one under test; tests/support_e2e/run sets it."""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]  # how a server is started and called
pytest.register_assert_rewrite("postino_server", "rest", "waiting")

from outbox_server import OutboxServer  # noqa: E402
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
        leave_out(config, items, ["embedded_only"])


def pytest_configure(config):
    config.addinivalue_line("markers", "embedded_only: about what only a server does that has the store in its directory")


@pytest.fixture(scope="session")
def binary():
    return BINARY


@pytest.fixture
def start(directory, data_flags):
    """Starts servers with flags of the test's choice, by default on the same data."""
    with started_servers() as started:

        def start_server(*flags, data=directory / "data"):
            started.append(OutboxServer(BINARY, data, *data_flags(data), *flags))
            return started[-1]

        yield start_server


@pytest.fixture(scope="module")
def desk(module_directory, data_flags, request):
    """A server that the tests of a file share, with its SERVER_FLAGS if it has any."""
    flags = getattr(request.module, "SERVER_FLAGS", ())
    data = module_directory / "data"
    with OutboxServer(BINARY, data, *data_flags(data), *flags) as server:
        yield server


@pytest.fixture(scope="module")
def rest(desk):
    return desk.rest()
