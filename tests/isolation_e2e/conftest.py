"""The server that these tests call. POSTINO names the program under test; tests/isolation_e2e/run sets it."""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]  # how a server is started and called
pytest.register_assert_rewrite("postino_server", "rest", "waiting", "belongings", "strangers")

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
