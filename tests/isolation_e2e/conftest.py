"""The server that these tests call. POSTINO names the program under test; tests/isolation_e2e/run sets it."""

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]  # how a server is started and called
pytest.register_assert_rewrite("postino_server", "rest", "waiting", "belongings", "strangers")

from server_fixtures import directory, module_directory, started_servers  # noqa: E402, F401

BINARY = os.environ.get("POSTINO", str(FOLDER.parents[1] / "build" / "postino"))


@pytest.fixture(scope="session")
def binary():
    return BINARY
