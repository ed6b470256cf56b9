"""The programs that these tests bring together. POSTINO names the one under test; tests/support_e2e/run sets it."""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]  # how a server is started and called
pytest.register_assert_rewrite("postino_server", "rest", "waiting")

from outbox_server import OutboxServer  # noqa: E402
from server_fixtures import directory, module_directory, started_servers  # noqa: E402, F401

BINARY = os.environ.get("POSTINO", str(FOLDER.parents[1] / "build" / "postino"))


@pytest.fixture(scope="session")
def binary():
    return BINARY


@pytest.fixture
def start(directory):
    """Starts servers with flags of the test's choice, by default on the same data."""
    with started_servers() as started:

        def start_server(*flags, data=directory / "data"):
            started.append(OutboxServer(BINARY, data, *flags))
            return started[-1]

        yield start_server


@pytest.fixture(scope="module")
def desk(module_directory, request):
    """A server that the tests of a file share, with its SERVER_FLAGS if it has any."""
    flags = getattr(request.module, "SERVER_FLAGS", ())
    with OutboxServer(BINARY, module_directory / "data", *flags) as server:
        yield server


@pytest.fixture(scope="module")
def rest(desk):
    return desk.rest()
