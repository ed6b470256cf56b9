"""The programs that these tests bring together. POSTINO names the one under test; tests/outbox_e2e/run sets it."""

import os
import sys
import threading
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.append(str(FOLDER.parent / "wire_clients"))  # how a server is started is the same for all tests
pytest.register_assert_rewrite("postino_server", "rest", "waiting", "received_mail")

from ledgers import MysqlLedger, RemoteStoreLedger, StoreLedger  # noqa: E402
from mariadb_server import MariadbServer  # noqa: E402
from outbox_server import OutboxServer  # noqa: E402
from recording_smtp import RecordingSmtp  # noqa: E402
from server_fixtures import directory, leave_out, module_directory, started_servers  # noqa: E402, F401
from smtp_sink import SmtpSink  # noqa: E402

BINARY = os.environ.get("POSTINO", str(FOLDER.parents[1] / "build" / "postino"))


LEDGERS = {"store", "mysql", "remote"}


def pytest_addoption(parser):
    parser.addoption("--ledger", choices=sorted(LEDGERS), default="store", help="where e-mails are kept")


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")
    config.addinivalue_line("markers", "store_only: about what lies in the embedded store")
    config.addinivalue_line("markers", "mysql_only: about what lies in the database")
    config.addinivalue_line("markers", "embedded_only: about what only a server does that has the store in its directory")
    config.addinivalue_line("markers", "remote_only: about what lies in a store that servers share")


def pytest_collection_modifyitems(config, items):
    """Tests of one ledger's own are left out with the others."""
    chosen = config.getoption("--ledger")
    others = {f"{other}_only" for other in LEDGERS - {chosen}} | ({"embedded_only"} if chosen == "remote" else set())
    leave_out(config, items, others)


@pytest.fixture(scope="session")
def ledger(request):
    chosen = {
        "store": StoreLedger,
        "mysql": MysqlLedger,
        "remote": lambda: RemoteStoreLedger(BINARY),
    }[request.config.getoption("--ledger")]()
    yield chosen
    chosen.close()


@pytest.fixture
def mariadb():
    """A database server of a test's own, for those that kill it."""
    server = MariadbServer()
    yield server
    server.remove()


@pytest.fixture
def start(directory, ledger):
    """Starts servers with flags of the test's choice, by default on the same data."""
    with started_servers() as started:

        def start_server(*flags, data=directory / "data"):
            started.append(OutboxServer(BINARY, data, *ledger.flags(data), *flags))
            return started[-1]

        yield start_server


@pytest.fixture
def sink(directory):
    """Starts smtp-sink with options of the test's choice."""
    started = []

    def start_sink(*options, port=None):
        started.append(SmtpSink(directory / f"sink-{len(started)}", *options, port=port))
        return started[-1]

    yield start_sink
    for each in started:
        each.stop()


@pytest.fixture
def recorder():
    with RecordingSmtp() as server:
        yield server


@pytest.fixture(scope="session")
def binary():
    return BINARY


@pytest.fixture
def hanging():
    """Makes a server stay silent at a stage until its gate is opened, at the latest when the test ends."""
    gates = []

    def hang(server, stage):
        gate = threading.Event()
        server.gates[stage] = gate
        gates.append(gate)
        return gate

    yield hang
    for gate in gates:
        gate.set()


@pytest.fixture(scope="module")
def outbox(module_directory, ledger, request):
    """A server without a relay that the tests of a file share, with its SERVER_FLAGS if it has any. Attachments are
    looked for in `files`."""
    files = module_directory / "files"
    files.mkdir()
    data = module_directory / "data"
    flags = getattr(request.module, "SERVER_FLAGS", ())
    with OutboxServer(BINARY, data, *ledger.flags(data), "--attachments", files, *flags) as server:
        server.files = files
        yield server


@pytest.fixture(scope="module")
def rest(outbox):
    return outbox.rest()
