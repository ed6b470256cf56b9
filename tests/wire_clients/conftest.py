"""The server under test, and clients of it. POSTINO names the program; tests/wire_clients/run sets it."""

import os
import resource
import shutil
import tempfile
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

pytest.register_assert_rewrite("expectations", "wire", "postino_server")

from postino_server import Server  # noqa: E402
from tables import create_table  # noqa: E402
from wire import Wire  # noqa: E402

BINARY = os.environ.get("POSTINO", str(Path(__file__).parents[2] / "build" / "postino"))
OPEN_FILES = 12_000

# For thousands of connections. The server inherits it.
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if soft < OPEN_FILES:
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, max(hard, OPEN_FILES)))


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture
def data_directory():
    """A new directory for a server's data; on a real file system, where synced writes cost what they cost."""
    directory = tempfile.mkdtemp(prefix="postino-api-")
    yield Path(directory)
    shutil.rmtree(directory)


@pytest.fixture
def start_server(data_directory):
    """Starts servers with flags of the test's choice, by default on the same data. Each is used in a with statement, or
    ended by the test."""
    started = []

    def start(*flags, data=data_directory / "data"):
        started.append(Server(BINARY, data, *flags))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def server():
    directory = tempfile.mkdtemp(prefix="postino-api-")
    with Server(BINARY, Path(directory) / "data") as running:
        yield running
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def wire(server):
    connection = Wire(server)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def new_table(wire):
    def create(keys="pk:S", **more):
        return create_table(wire, keys, **more)

    return create


@pytest.fixture(scope="session")
def connect():
    """A boto3 client of any server. It sends bad requests too, and does not try again unless told to."""

    def client(server, service="dynamodb", key="postino", secret="secret", attempts=1, **more):
        return boto3.client(
            service,
            endpoint_url=server.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            config=Config(parameter_validation=False, retries={"total_max_attempts": attempts}),
            **more,
        )

    return client


@pytest.fixture(scope="session")
def client(connect, server):
    return connect(server)


@pytest.fixture(scope="session")
def streams(connect, server):
    return connect(server, "dynamodbstreams")


@pytest.fixture(scope="session")
def dynamodb(server):
    """boto3's resource interface, as most applications use it."""
    return boto3.resource(
        "dynamodb",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="postino",
        aws_secret_access_key="secret",
    )
