"""The database goes away while the outbox works, and comes back. Nothing that was accepted is lost, and everything
reaches one end through a legal history."""

import collections
import contextlib
import http.client
import os
import random
import re
import threading
import time
import uuid

import pytest

from callback_server import CallbackServer
from legal_history import check_history
from outbox_server import OutboxServer
from payloads import payload
from recording_smtp import RecordingSmtp, read_log
from rest import Answer
from waiting import PATIENCE_SECONDS, eventually

BATCH = 10
KILLS = 5
MOST_UNDER_WAY = 200
DEADLINE_SECONDS = 120
FLAGS = ["--lease", "3s", "--retry-first", "100ms", "--retry-longest", "200ms", "--callback-retry-first", "100ms"]
FLAGS += ["--callback-attempts", "1000", "--callback-allow-private"]

pytestmark = pytest.mark.mysql_only


@pytest.fixture
def start_on(binary, directory):
    """Starts a server on a database of the test's own: a new one, or the one that is named."""
    started = []

    def start_server(mariadb, *flags, database=None):
        mysql = ["--ledger", "mysql", *mariadb.flags(database or mariadb.new_database())]
        started.append(OutboxServer(binary, directory / "data", *mysql, *flags))
        return started[-1]

    yield start_server
    for server in started:
        server.kill()


def ask_monitor(server, path):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_SECONDS)
    connection.request("GET", path)
    answer = Answer(connection.getresponse())
    connection.close()
    return answer


class Submitter(threading.Thread):
    """Hands in e-mails until it is told to end, as fast as they arrive at the relay. Each batch is handed in until it is
    accepted; the key makes a repeat the same request."""

    def __init__(self, server, recorder, listener):
        super().__init__(daemon=True)
        self.rest, self.recorder, self.listener = server.rest(), recorder, listener
        self.enough = threading.Event()
        self.accepted, self.refused, self.failure = [], 0, None

    def run(self):
        try:
            number = 0
            while not self.enough.is_set():
                self.hand_in(number)
                number += 1
                eventually(lambda: self.enough.is_set() or self.under_way() < MOST_UNDER_WAY, "fewer e-mails under way")
        except BaseException as error:  # shown by the test
            self.failure = error

    def under_way(self):
        return len(self.accepted) - len(self.recorder.arrived)

    def await_accepted(self, count):
        """Waits until so many more are accepted."""
        enough = len(self.accepted) + count
        eventually(lambda: len(self.accepted) >= enough or self.failure, f"{count} more e-mails", DEADLINE_SECONDS)
        assert self.failure is None, self.failure

    def await_refusal(self):
        before = self.refused
        eventually(lambda: self.refused > before or self.failure, "a refusal", DEADLINE_SECONDS)
        assert self.failure is None, self.failure

    def hand_in(self, number):
        batch = [payload(id=str(uuid.uuid4()), callback_url=self.listener.url) for _ in range(BATCH)]
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            answer = self.rest.post("/emails", {"data": batch}, {"Idempotency-Key": f"batch-{number}"})
            if answer.status == 201:
                break
            assert answer.status in (409, 503), answer  # the database is away, or the one before is not forgotten
            assert time.monotonic() < end, answer
            self.refused += 1
        assert [result["id"] for result in answer.json["results"]] == [each["id"] for each in batch]
        self.accepted += [each["id"] for each in batch]


def is_done(rest, count):
    answer = rest.get("/emails/counts")
    return answer.status == 200 and answer.json["counts"]["SENT-ACKNOWLEDGED"] == count


def metric(server, name):
    """Its sum over all labels."""
    lines = ask_monitor(server, "/metrics").body.decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if re.match(rf"{name}(\{{|\s)", line))


def all_emails(rest):
    return [rest.email(email["id"]) for page in rest.pages("/emails", limit=100) for email in page]


def test_a_database_that_is_killed_loses_and_doubles_nothing(start_on, mariadb, directory):
    seed = int(os.environ.get("CRASH_SEED") or time.time_ns() % 2**32)
    print(f"\nCRASH_SEED={seed}")
    chance = random.Random(seed)
    log = directory / "smtp.log"
    began = time.monotonic()
    with RecordingSmtp(log) as recorder, CallbackServer() as listener:
        server = start_on(mariadb, "--smtp", recorder.address, *FLAGS)
        rest = server.rest()
        submitter = Submitter(server, recorder, listener)
        submitter.start()
        long_outages = chance.sample(range(KILLS), 2)
        for kill in range(KILLS):
            submitter.await_accepted(chance.randrange(BATCH, 20 * BATCH))
            mariadb.kill()
            if kill in long_outages:  # longer than the server tries
                submitter.await_refusal()
            mariadb.start()
        submitter.await_accepted(BATCH)
        submitter.enough.set()
        submitter.join(DEADLINE_SECONDS)
        assert submitter.failure is None, submitter.failure
        count = len(submitter.accepted)
        eventually(lambda: is_done(rest, count), "the end of all e-mails", DEADLINE_SECONDS)
        emails = all_emails(rest)
        retries = metric(server, "postino_mysql_retries_total")
        broken = metric(server, "postino_mysql_connections_broken_total")
        calls = listener.calls
        assert server.stop() == 0

    accepted = set(submitter.accepted)
    arrived, acknowledged = (collections.Counter(ids) for ids in read_log(log))
    unknown = {
        email["id"]: sum("outcome unknown" in line["reason"] for line in email["history"] if line["status"] == "READY")
        for email in emails
    }
    rescues = sum("rescued" in line["reason"] for email in emails for line in email["history"])
    print(
        f"{count} e-mails, {KILLS} kills of MariaDB, {broken:.0f} connections broken, {retries:.0f} repeats, "
        f"{submitter.refused} requests refused, {rescues} rescues, "
        f"{sum(unknown.values())} outcomes unknown, {sum(count > 1 for count in arrived.values())} arrived more than "
        f"once, {len(calls)} callbacks, {time.monotonic() - began:.1f} s"
    )
    assert retries > 0 and broken >= KILLS, "the kills hit work under way"
    assert len(accepted) == count
    assert {email["id"] for email in emails} == accepted and len(emails) == count, "each has one record"
    for email in emails:
        check_history(email)
        states = [line["status"] for line in email["history"]]
        assert states.count("SENT-ACKNOWLEDGED") == 1 and states[-1] == "SENT-ACKNOWLEDGED", email
        assert "FAILED" not in states and "INVALID" not in states, email
    assert set(arrived) == accepted, "all that was accepted arrived, and nothing else"
    assert all(acknowledged[identifier] >= 1 for identifier in accepted)
    for identifier, count in arrived.items():
        assert count <= 1 + unknown[identifier], (identifier, count)
    assert {call.json["message_ids"][0] for call in calls} == accepted, "each caller was told"


def test_health_tells_when_the_database_is_away(start_on, mariadb):
    server = start_on(mariadb)
    rest = server.rest()
    assert ask_monitor(server, "/readyz").status == 200
    assert ask_monitor(server, "/healthz").body == b"ok\n"
    metrics = ask_monitor(server, "/metrics").body.decode()
    assert 'postino_outbox_emails{state="SENT"} 0' in metrics
    assert "postino_mysql_deadlocks_total 0\n" in metrics
    assert "postino_mysql_pool_waits_total " in metrics

    mariadb.kill()
    # The lock in the database may be missed sooner.
    eventually(lambda: b"the database does not answer" in ask_monitor(server, "/readyz").body, "a bad sign")
    assert ask_monitor(server, "/readyz").status == 503
    health = ask_monitor(server, "/healthz")
    assert health.status == 200 and b"the database does not answer" in health.body
    metrics = ask_monitor(server, "/metrics").body.decode()
    assert "postino_mysql_surrenders_total" in metrics and "postino_outbox_emails{" not in metrics
    for headers in ({"Idempotency-Key": "away"}, {}):
        refused = rest.post("/emails", {"data": [payload()]}, headers)
        assert refused.status == 503 and refused.problem["code"] == "STORE_UNAVAILABLE", refused
        assert "database" not in refused.body.decode(), "how it is set up is nothing for callers"

    mariadb.start()
    eventually(lambda: ask_monitor(server, "/readyz").status == 200, "a good sign")
    answer = rest.post("/emails", {"data": [payload()]}, {"Idempotency-Key": "away"})
    assert answer.status == 201, answer
    rest.await_status(answer.json["results"][0]["id"], "SENT")
    assert metric(server, "postino_mysql_connections_broken_total") > 0
    assert server.stop() == 0


def test_a_database_that_only_reads_is_an_outage(start_on, mariadb, directory):
    """While nothing can be written no lease can be renewed: what the server's workers have is not taken from them."""
    lease = 2
    database = mariadb.new_database()
    mariadb.query("CREATE USER IF NOT EXISTS plain@localhost")
    mariadb.query(f"GRANT ALL ON {database}.* TO plain@localhost")
    with RecordingSmtp(directory / "smtp.log") as recorder:
        gate = recorder.gates["."] = threading.Event()
        server = start_on(
            mariadb, "--mysql-user", "plain", "--smtp", recorder.address, *FLAGS, "--lease", f"{lease}s", database=database
        )
        rest = server.rest()
        ids = [str(uuid.uuid4()) for _ in range(40)]
        rest.accept(*[payload(id=identifier) for identifier in ids])
        eventually(lambda: len(recorder.arrived) >= 12, "as many e-mails under way as one domain gets connections")
        mariadb.query("SET GLOBAL read_only = 1")
        try:
            # The worker that meets it first may say so before the look at the database does.
            answer = eventually(
                lambda: b"the database takes no writes" in (seen := ask_monitor(server, "/readyz")).body and seen, "a bad sign"
            )
            assert answer.status == 503
            recorder.gates.pop(".")
            gate.set()
            held = "SELECT 1 FROM emails WHERE status = 'PROCESSING' AND due_ms > UNIX_TIMESTAMP(NOW(3)) * 1000"
            eventually(lambda: mariadb.query(held, database) == [], "the end of the leases")
        finally:
            mariadb.query("SET GLOBAL read_only = 0")
        eventually(lambda: rest.counts()["SENT"] == len(ids), "the end of all e-mails", DEADLINE_SECONDS)
        eventually(lambda: ask_monitor(server, "/readyz").status == 200, "a good sign")
        assert sorted(mail.id for mail in recorder.arrived) == sorted(ids), "each arrived once"
        for identifier in ids:
            assert not [line for line in rest.email(identifier)["history"] if "rescued" in line["reason"]]
        assert server.stop() == 0


def test_a_server_ends_though_its_database_is_away(start_on, mariadb, directory):
    """What was done and could not be written down is tried for as long as work may take to finish, not for minutes.
    The next server knows that the outcome is unknown."""
    with RecordingSmtp(directory / "smtp.log") as recorder:
        recorder.gates["."] = threading.Event()
        flags = ["--smtp", recorder.address, "--shutdown-grace", "2", *FLAGS]
        database = mariadb.new_database()
        server = start_on(mariadb, *flags, database=database)
        ids = [str(uuid.uuid4()) for _ in range(40)]
        server.rest().accept(*[payload(id=identifier) for identifier in ids])
        eventually(lambda: len(recorder.arrived) >= 12, "as many e-mails under way as one domain gets connections")
        mariadb.kill()
        server.ask_to_end()
        recorder.gates.pop(".").set()
        assert server.await_end() == 0
        assert "gave up writing the new state of an e-mail" in server.whole_log()

        mariadb.start()
        server = start_on(mariadb, *flags, database=database)
        rest = server.rest()
        eventually(lambda: rest.counts()["SENT"] == len(ids), "the end of all e-mails")
        arrived = collections.Counter(mail.id for mail in recorder.arrived)
        assert set(arrived) == set(ids)
        for identifier, count in arrived.items():
            history = rest.email(identifier)["history"]
            unknown = sum("outcome unknown" in line["reason"] for line in history)
            assert count <= 1 + unknown, (identifier, history)
        assert server.stop() == 0


def test_a_frozen_database_keeps_callers_waiting_once(start_on, mariadb):
    """Those who come first wait for an answer and for a new connection, the others not at all. Nothing has to be
    restarted afterwards."""
    statement, connection = 2, 5  # seconds; a connection gives up half a statement later
    server = start_on(mariadb, "--mysql-statement-timeout", f"{statement}s", *FLAGS)
    rest = server.rest()
    rest.accept_one(payload())
    answers = []

    def ask(call):
        began = time.monotonic()
        answer = call(server.rest())
        answers.append((time.monotonic() - began, answer))

    def hand_in(rest):
        return rest.post("/emails", {"data": [payload()]})

    mariadb.freeze()
    try:
        calls = [hand_in, lambda rest: rest.get("/emails"), lambda rest: rest.get("/emails/counts")] * 8
        threads = [threading.Thread(target=ask, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        longest = max(seconds for seconds, _ in answers)
        for _, answer in answers:
            assert answer.status == 503 and answer.headers["retry-after"], answer

        def are_answered_at_once():
            answers.clear()
            for call in calls:
                ask(call)
            print(f"\nat first up to {longest:.1f} s, then {sorted(round(seconds, 2) for seconds, _ in answers)} s")
            assert all(answer.status == 503 for _, answer in answers)
            # Otherwise each would wait for seven seconds and a half.
            return sum(seconds for seconds, _ in answers) < len(calls) * (statement * 1.5 + connection) / 3

        # A busy machine may be slow once, but callers that wait do so every time.
        assert any(are_answered_at_once() for _ in range(3))
    finally:
        mariadb.thaw()
    identifier = eventually(lambda: (answer := hand_in(rest)).status == 201 and answer.json["results"][0]["id"], "an answer")
    rest.await_status(identifier, "SENT")
    assert server.stop() == 0


def test_a_server_ends_in_time_though_its_database_is_frozen(start_on, mariadb, directory):
    grace, statement = 2, 2 * PATIENCE_SECONDS  # a server that waits for the database does not end in time
    with RecordingSmtp(directory / "smtp.log") as recorder:
        recorder.gates["."] = threading.Event()
        database = mariadb.new_database()
        flags = ["--smtp", recorder.address, "--shutdown-grace", grace, "--mysql-statement-timeout", f"{statement}s", *FLAGS]
        server = start_on(mariadb, *flags, database=database)
        ids = [str(uuid.uuid4()) for _ in range(40)]
        server.rest().accept(*[payload(id=identifier) for identifier in ids])
        eventually(lambda: len(recorder.arrived) >= 12, "as many e-mails under way as one domain gets connections")

        rest = server.rest()
        rest.connection.connect()  # before the server takes no more connections

        def ask_in_vain():
            with contextlib.suppress(http.client.RemoteDisconnected, ConnectionError):  # given up with the other requests
                assert rest.get("/emails").status == 503

        mariadb.freeze()
        try:
            caller = threading.Thread(target=ask_in_vain)
            caller.start()
            recorder.gates.pop(".").set()
            server.ask_to_end()
            assert server.await_end() == 0
            caller.join()
        finally:
            mariadb.thaw()
        server = start_on(mariadb, *flags, database=database)
        rest = server.rest()
        eventually(lambda: rest.counts()["SENT"] == len(ids), "the end of all e-mails")
        assert {mail.id for mail in recorder.arrived} == set(ids)
        assert server.stop() == 0


def test_without_its_database_the_server_does_not_start(binary, directory, mariadb):
    database = mariadb.new_database()
    mariadb.kill()
    with pytest.raises(RuntimeError, match="database: "):
        OutboxServer(binary, directory / "data", "--ledger", "mysql", *mariadb.flags(database))
    mariadb.start()
