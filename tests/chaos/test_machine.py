"""The machine misbehaves as it is told, and the server notices: without this, a run without broken promises would mean
nothing."""

import os
import re
import sys
from datetime import datetime
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]

from machine import Machine  # noqa: E402
from mariadb_server import MariadbServer  # noqa: E402
from patient_client import PatientClient, PatientWire  # noqa: E402
from payloads import payload  # noqa: E402
from supervisor import Supervisor  # noqa: E402
from timeline import Timeline  # noqa: E402
from waiting import eventually  # noqa: E402

TABLE = "marks"
DAY = 86_400


class Marks:
    """A table to write to, an item at a time."""

    def __init__(self, server):
        self.wire = PatientWire(server)
        self.count = 0
        self.wire.call_surely(
            "CreateTable",
            TableName=TABLE,
            AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )

    def write(self):
        """The status of the answer, or None."""
        self.count += 1
        reply = self.wire.call("PutItem", TableName=TABLE, Item={"Id": {"S": f"mark-{self.count}"}})
        return reply and reply.status

    def numbers(self):
        """Of the marks that are there."""
        items = self.wire.call_surely("Scan", TableName=TABLE, ConsistentRead=True)["Items"]
        return sorted(int(item["Id"]["S"].partition("-")[2]) for item in items)


@pytest.fixture
def machine(tmp_path):
    return Machine(os.environ["MACHINE"], tmp_path)


@pytest.fixture
def start(machine, tmp_path):
    """Starts the server, with more flags."""
    # Services that write by themselves would meet the faults that are meant for requests.
    flags = ["--log-requests", "--no-metrics"]
    started = []

    def start(*more):
        started.append(Supervisor(os.environ["POSTINO"], machine, Timeline(), tmp_path / "log", [*flags, *more]))
        started[0].await_first_start()
        return started[0]

    yield start
    for supervisor in started:
        supervisor.close()


@pytest.fixture
def server(start):
    return start("--no-tickets")


@pytest.fixture
def marks(server):
    return Marks(server)


def restart(server):
    starts = server.starts
    server.terminate()
    eventually(lambda: server.starts > starts and server.readiness() == 200, "the next start")


def test_writes_and_syncs_go_through_the_machine(machine, marks):
    writes, syncs = machine.get("writes"), machine.get("syncs")
    assert marks.write() == 200
    assert machine.get("writes") > writes
    assert machine.get("syncs") > syncs


def test_a_full_disk_is_noticed(machine, marks):
    assert marks.write() == 200
    machine.fill_disk()
    # The log has room set aside, and the server looks at the disk many times a second.
    eventually(lambda: marks.write() >= 500, "a refusal")


def test_a_full_disk_refuses_e_mails_and_says_that_none_is_there(machine, server, marks):
    client = PatientClient(server.host, server.rest_port)
    machine.fill_disk()
    eventually(lambda: marks.write() == 503, "a refusal")
    emails = {f"0000000{number}-0000-4000-8000-000000000000": payload() for number in range(1, 4)}
    for number, (identifier, email) in enumerate(emails.items()):
        headers = {"Idempotency-Key": f"full-{number}"} if number else {}
        reply = client.post("/emails", {"data": [dict(email, id=identifier)]}, headers)
        assert reply.status == 503 and reply.json["code"] == "STORE_UNAVAILABLE", reply
        assert client.request("GET", f"/emails/{identifier}").status == 404
    machine.mend_disk()
    eventually(lambda: marks.write() == 200, "room")
    for identifier, email in emails.items():
        assert client.post("/emails", {"data": [dict(email, id=identifier)]}, {}).status == 201


def test_a_disk_that_is_nearly_full_is_noticed_before_a_write_fails(machine, marks):
    machine.fill_disk(20 << 20)
    eventually(lambda: marks.write() != 200, "a refusal")
    assert machine.get("refused_for_space") == 0


def test_a_slow_disk_makes_writes_wait(machine, marks):
    machine.slow_disk(50)
    assert marks.write() == 200
    assert machine.get("delays") >= 2


@pytest.mark.parametrize("fault", ["writes", "syncs"])
def test_a_failed_write_is_not_acknowledged_and_what_was_acknowledged_stays(machine, server, marks, fault):
    assert marks.write() == 200
    machine.set(**{f"{fault}_to_fail": 1})
    assert marks.write() >= 500
    assert machine.get(f"failed_{fault}") == 1
    restart(server)
    assert marks.write() in (200, None)  # the connection may be the one to the server before
    assert marks.write() == 200
    assert {1, 4} <= set(marks.numbers())


def test_what_a_failed_sync_has_not_brought_to_the_disk_is_gone(machine, server, marks):
    assert marks.write() == 200
    machine.set(syncs_to_fail=1)
    assert marks.write() >= 500
    restart(server)
    assert server.lost_bytes > 0
    eventually(lambda: marks.numbers() == [1], "a store without the write that failed")


def test_a_failed_sync_leaves_open_whether_an_e_mail_is_there(machine, server):
    client = PatientClient(server.host, server.rest_port)
    for attempt in range(100):
        key = f"sync {attempt}"
        machine.set(syncs_to_fail=1)
        reply = client.post("/emails", {"data": [payload()]}, {"Idempotency-Key": key})
        if reply.status == 201:
            continue  # a file that the server notes something in was hit
        if reply.json["code"] == "OUTCOME_UNKNOWN":
            break
        restart(server)  # a write of its own was hit, for instance of the e-mail before, and nothing is written since
        client = PatientClient(server.host, server.rest_port)
    assert reply.status == 503 and reply.json["code"] == "OUTCOME_UNKNOWN", reply
    assert "Idempotency-Key" in reply.json["detail"]
    for headers in ({}, {"Idempotency-Key": "other"}):
        reply = client.post("/emails", {"data": [payload()]}, headers)
        assert reply.status == 503 and reply.json["code"] == "STORE_UNAVAILABLE", "nothing reaches a disk that failed"
    restart(server)
    client = PatientClient(server.host, server.rest_port)
    assert client.post("/emails", {"data": [payload()]}, {"Idempotency-Key": key}).status == 201


def fail_until(server, machine, said, call):
    """Has writes fail until one fails that makes the server say this. Returns the answer to the call of that time."""
    for attempt in range(100):
        machine.set(writes_to_fail=1)
        reply = call(PatientClient(server.host, server.rest_port), attempt)
        machine.set(writes_to_fail=0)
        if said in server.last_lines(1_000) or (reply is not None and said in reply.body.decode()):
            return reply
        restart(server)  # a write of the store was hit, and nothing is written since
    raise AssertionError(f"nothing has made the server say: {said}")


def test_a_write_that_fails_in_the_spool_refuses_one_e_mail(machine, start):
    server = start("--no-tickets", "--spool", machine.disk / "spool")

    def hand_in(client, attempt):
        return client.post("/emails", {"data": [payload()]}, {"Idempotency-Key": f"spool {attempt}"})

    reply = fail_until(server, machine, "the spool takes no writes", hand_in)
    assert reply.status == 503 and reply.json["code"] == "STORE_UNAVAILABLE", reply
    starts = server.starts
    eventually(lambda: server.readiness() == 200, "the end of the trouble")
    assert hand_in(PatientClient(server.host, server.rest_port), "again").status == 201
    assert server.starts == starts, "without another start"


def test_a_write_that_fails_among_objects_refuses_one_attachment(machine, start):
    server = start()
    customer = {"id": "cust_1", "name": "Ada", "contact_email": "ada@customer.example"}
    client = PatientClient(server.host, server.rest_port)
    ticket = client.post("/tickets", {"customer": customer, "symptom_text": "It restarts."}).json["ticket_id"]
    path = f"/tickets/{ticket}/attachments"

    attached = []

    def attach(client, attempt):
        reply = client.post(path, {"name": "log.txt", "content_base64": "SGVsbG8u"})
        if reply is not None and reply.status == 201:
            attached.append(reply.json["attachment_id"])  # the failing write was another one
        return reply

    fail_until(server, machine, "the object store cannot be used", attach)
    starts, client = server.starts, PatientClient(server.host, server.rest_port)
    reply = attach(client, "again")
    assert reply.status == 201, reply
    assert [each["attachment_id"] for each in client.fetch(path)["data"]] == attached
    assert server.starts == starts, "without another start"


@pytest.mark.parametrize("seconds", [3_600, -3_600])
def test_the_wall_clock_can_be_moved(machine, server, marks, seconds):
    before = last_logged_at(server, marks)
    machine.move_clock(seconds)
    eventually(lambda: abs((last_logged_at(server, marks) - before).total_seconds() - seconds) < 600, "the other time")


def test_a_clock_that_is_far_ahead_at_a_start_is_told_once(machine, tmp_path, monkeypatch):
    machine.move_clock(-3 * DAY)
    with monkeypatch.context() as patch:
        patch.setattr(machine, "move_clock", lambda seconds: None)  # or the supervisor would set it right
        server = Supervisor(os.environ["POSTINO"], machine, Timeline(), tmp_path / "log", [])
        server.await_first_start()
    try:
        told = lambda text: server.last_lines(10_000).count(text)  # noqa: E731
        for start in (1, 2):  # what is told twice at a start is there by the next one
            restart(server)
            eventually(lambda: told("nothing expires for an hour") >= start, "the line of the store")
        assert told("nothing expires for an hour") == 2
        assert told("far ahead of the last time") == 2
    finally:
        server.close()


@pytest.fixture
def database(machine):
    server = MariadbServer(environment=machine.environment())
    yield server
    server.remove()


def test_a_database_has_a_clock_that_can_be_moved_and_rows_that_strangers_lock(machine, database):
    now = lambda: float(database.query("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0])  # noqa: E731
    before = now()
    machine.move_clock(7_200)
    assert 7_000 < now() - before < 7_400
    machine.move_clock(-7_200)
    assert 7_000 < before - now() < 7_400
    machine.move_clock(0)

    name = database.new_database()
    database.query("CREATE TABLE emails (id VARCHAR(9) PRIMARY KEY); INSERT INTO emails VALUES ('a'), ('b')", name)
    stranger = database.lock_rows("emails", 1, "id", name)
    unlocked = lambda: database.query("SELECT id FROM emails ORDER BY id FOR UPDATE SKIP LOCKED", name)  # noqa: E731
    eventually(lambda: unlocked() == [["b"]], "a row that is locked")
    stranger.kill()
    stranger.communicate()
    eventually(lambda: unlocked() == [["a"], ["b"]], "the end of the lock")


def last_logged_at(server, marks):
    """The time on the log's last line; there is one for every request."""
    marks.write()
    times = re.findall(r"^(\d{4}-\d\d-\d\dT[\d:]+)", server.last_lines(), re.MULTILINE)
    return datetime.fromisoformat(times[-1])
