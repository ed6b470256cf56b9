"""Directories and servers of tests: what every group of end-to-end tests needs."""

import contextlib
import shutil
import tempfile
from pathlib import Path

import pytest


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
