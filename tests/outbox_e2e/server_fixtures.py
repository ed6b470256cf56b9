"""Directories and servers of tests: what every group of end-to-end tests needs."""

import contextlib
import shutil
import tempfile
from pathlib import Path

import pytest

from ledgers import RemoteStoreLedger, StoreLedger


def new_directory():
    """Servers that give up their privileges must be able to reach what is in it."""
    directory = Path(tempfile.mkdtemp(prefix="postino-e2e-"))
    directory.chmod(0o755)
    return directory


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


def add_store_option(parser):
    parser.addoption("--store", choices=["embedded", "remote"], default="embedded", help="where the data is")


def leave_out(config, items, markers):
    """Tests of what is not there where the others run."""
    kept = [item for item in items if not any(item.get_closest_marker(name) for name in markers)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture(scope="session")
def data_flags(request, binary):
    """Says what flags a server gets that has this data directory."""
    store = RemoteStoreLedger(binary) if request.config.getoption("--store") == "remote" else StoreLedger()
    yield store.flags
    store.close()


@contextlib.contextmanager
def started_servers():
    """A list for the servers that a test starts. They are ended with the test; one that has ended by itself, or ends
    badly, fails it."""
    started = []
    yield started
    try:
        for server in started:
            if not server.ended_on_purpose:
                server.__exit__(None)
    finally:
        for server in started:
            server.kill()
