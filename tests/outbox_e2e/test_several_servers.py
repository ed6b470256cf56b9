"""Several servers on one database: only if they were told, so that they share all idempotency keys."""

import hashlib
import subprocess

import pytest

from outbox_server import OutboxServer
from payloads import in_the_future, payload
from waiting import PATIENCE_SECONDS, eventually

TOLD = ["--several-servers"]

pytestmark = pytest.mark.mysql_only


@pytest.fixture
def on_one_database(binary, directory, ledger):
    """What a server with a store of its own, but the same database, is started with."""
    database = ledger.flags(directory / "first")
    return lambda name: [directory / name, *database]


@pytest.mark.parametrize("first, second", [([], []), ([], TOLD), (TOLD, [])], ids=["none", "second", "first"])
def test_a_second_server_is_refused_unless_both_were_told(binary, on_one_database, first, second):
    with OutboxServer(binary, *on_one_database("first"), *first):
        data, *flags = [*on_one_database("second"), *second]
        command = [binary, "serve", "--data", data, "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0", *flags]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert ended.returncode != 0
        assert "another server" in ended.stderr and "--several-servers" in ended.stderr


def test_a_successor_is_not(binary, on_one_database):
    first = OutboxServer(binary, *on_one_database("first"))
    first.kill()
    with OutboxServer(binary, *on_one_database("second")) as second:
        assert second.rest().get("/emails").status == 200


def test_several_that_were_told_share_the_database(binary, on_one_database):
    with OutboxServer(binary, *on_one_database("first"), *TOLD):
        with OutboxServer(binary, *on_one_database("second"), *TOLD) as second:
            assert second.rest().get("/emails").status == 200


def test_a_request_may_be_repeated_at_another_server(binary, on_one_database):
    key = {"Idempotency-Key": "once"}
    messages = {"target": {"queueName": "q"}, "messages": [{"body": "x"}]}
    with OutboxServer(binary, *on_one_database("first"), *TOLD) as one:
        with OutboxServer(binary, *on_one_database("second"), *TOLD) as another:
            first, second = one.rest(), another.rest()
            produced = first.request("POST", "/messages/produce", messages, key)
            assert produced.status == 200, produced
            repeated = second.request("POST", "/messages/produce", messages, key)
            assert repeated.status == 200 and repeated.headers["idempotent-replayed"] == "true", repeated
            assert repeated.body == produced.body
            assert second.get("/messages/queues/q/depth").json["depth"] == 0, "each server has queues of its own"
            different = messages | {"messages": [{"body": "y"}]}
            assert second.request("POST", "/messages/produce", different, key).status == 422

            [email] = first.accept(payload(send_at=in_the_future()))
            for call, status in [("hold", 204), ("release", 204)]:
                assert first.request("POST", f"/emails/{email}/{call}", None, {"Idempotency-Key": call}).status == status
            held = second.request("POST", f"/emails/{email}/hold", None, {"Idempotency-Key": "hold"})
            assert held.status == 204 and held.headers["idempotent-replayed"] == "true", held
            assert second.get(f"/emails/{email}").json["status"] != "HELD", "it is not held again"


def test_a_server_that_has_lost_its_lock_to_another_says_so(binary, directory, ledger, on_one_database):
    mariadb = ledger.server
    lock = "postino-server-" + hashlib.sha256(ledger.database(directory / "first").encode()).hexdigest()[:32]
    with OutboxServer(binary, *on_one_database("first")) as server:
        assert server.readiness()[0] == 200
        other = subprocess.Popen(
            ["mariadb", "--no-defaults", f"--socket={mariadb.socket}", "--user=root"], stdin=subprocess.PIPE, text=True
        )
        try:
            other.stdin.write(f"SELECT GET_LOCK('{lock}', {PATIENCE_SECONDS});\n")
            other.stdin.flush()
            waiting = "SELECT COUNT(*) FROM INFORMATION_SCHEMA.PROCESSLIST WHERE STATE = 'User lock'"
            eventually(lambda: mariadb.query(waiting) == [["1"]], "another one that waits for the lock")
            [[holder]] = mariadb.query(f"SELECT IS_USED_LOCK('{lock}')")
            mariadb.query(f"KILL {holder}")
            status, text = eventually(lambda: (seen := server.readiness())[0] == 503 and seen, "a bad sign")
            assert "another server" in text
        finally:
            other.stdin.close()
            other.wait()
        eventually(lambda: server.readiness()[0] == 200, "a good sign")
