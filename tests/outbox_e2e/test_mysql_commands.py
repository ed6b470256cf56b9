"""The database as an operator sees it: tables that come by themselves or by a command, and e-mails that move from the
embedded store into it and back."""

import json
import subprocess
import uuid

import pytest

from outbox_server import OutboxServer
from payloads import in_the_future, payload
from postino_server import Server
from waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.mysql_only

# As the program that came before created them.
FOREIGN_TABLES = """
CREATE TABLE emails (
    id CHAR(36) PRIMARY KEY,
    status ENUM('ACCEPTED','INTAKING','READY','PROCESSING','SENT','FAILED','INVALID','CALLING-SENT-CALLBACK',
                'CALLING-FAILED-CALLBACK','SENT-ACKNOWLEDGED','FAILED-ACKNOWLEDGED') NOT NULL,
    eml_file_path VARCHAR(500),
    payload_file_path VARCHAR(500),
    reason TEXT,
    version INT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    INDEX idx_status (status),
    INDEX idx_status_updated (status, updated_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE email_statuses (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    email_id CHAR(36) NOT NULL,
    status VARCHAR(50) NOT NULL,
    reason TEXT,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    INDEX idx_email_id (email_id),
    FOREIGN KEY (email_id) REFERENCES emails(id) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
"""


@pytest.fixture
def mysql(ledger):
    return ledger.server


@pytest.fixture
def database(mysql):
    return mysql.new_database()


@pytest.fixture
def postino(binary, mysql, database):
    """Runs a command on the database."""

    def run(command, *flags, expect=0):
        ended = subprocess.run(
            [binary, command, *mysql.flags(database), *map(str, flags)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert ended.returncode == expect, ended
        return ended.stdout + ended.stderr

    return run


@pytest.fixture
def serve(binary, mysql, database):
    """Serves from one ledger or the other; the server ends with the block."""

    def start(where, data, *flags):
        chosen = ["--ledger", "mysql", *mysql.flags(database)] if where == "mysql" else []
        return OutboxServer(binary, data, *chosen, *flags)

    return start


def tables(mysql, database):
    return {name for (name,) in mysql.query("SHOW TABLES", database)}


class TestMigrate:
    def test_dry_run_tells_and_does_nothing(self, postino, mysql, database):
        shown = postino("migrate", "--dry-run")
        assert "1  tables of e-mails and their history" in shown
        assert "migrations pending" in shown and f"database {database} at {mysql.socket}" in shown
        answer = json.loads(postino("migrate", "--dry-run", "--json"))
        assert [each["number"] for each in answer["pending"]] == list(range(1, len(answer["pending"]) + 1))
        assert answer["database"] == database
        assert tables(mysql, database) == set()

    def test_tables_are_made_once(self, postino, mysql, database):
        pending = json.loads(postino("migrate", "--dry-run", "--json"))["pending"]
        assert json.loads(postino("migrate", "--json"))["done"] == pending
        assert {"emails", "email_statuses"} <= tables(mysql, database)
        assert "nothing to do" in postino("migrate")
        assert json.loads(postino("migrate", "--json"))["done"] == []
        assert json.loads(postino("migrate", "--dry-run", "--json"))["pending"] == []

    def test_an_empty_database_is_prepared_at_start(self, serve, postino, directory):
        with serve("mysql", directory / "data") as server:
            identifier = server.rest().accept_one(payload())
            server.rest().await_status(identifier, "SENT")
        assert "nothing to do" in postino("migrate")

    def test_tables_of_others_are_changed_on_request_only(self, serve, postino, mysql, database, directory):
        mysql.query(FOREIGN_TABLES, database)
        before = mysql.query("SHOW CREATE TABLE emails", database)
        with pytest.raises(RuntimeError, match="postino migrate.*--mysql-migrate"):
            serve("mysql", directory / "data")
        assert mysql.query("SHOW CREATE TABLE emails", database) == before
        with serve("mysql", directory / "data", "--mysql-migrate") as server:
            server.rest().await_status(server.rest().accept_one(payload()), "SENT")
        assert "nothing to do" in postino("migrate")

    def test_emails_of_the_earlier_program_are_taken_up(self, serve, postino, mysql, database, directory):
        """Its rows, before and after the tables are changed, with payloads in files."""
        spool = directory / "spool"
        early, late = str(uuid.uuid4()), str(uuid.uuid4())
        mysql.query(FOREIGN_TABLES, database)

        def insert(identifier, base):
            path = spool / "2026" / "11" / f"{identifier}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(payload(id=identifier)))
            mysql.query(
                f"INSERT INTO emails (id, status, payload_file_path, version) VALUES ('{identifier}', 'ACCEPTED', "
                f"'{base}2026/11/{identifier}.json', 1); INSERT INTO email_statuses (email_id, status, reason) "
                f"VALUES ('{identifier}', 'ACCEPTED', '')",
                database,
            )

        insert(early, "")
        postino("migrate")
        with serve("mysql", directory / "data", "--spool", spool) as server:
            rest = server.rest()
            email = rest.await_status(early, "SENT")
            assert [line["status"] for line in email["history"]] == [
                "ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"
            ]  # fmt: skip
            insert(late, f"{spool}/")
            rest.await_status(late, "SENT")
            assert rest.counts()["SENT"] == 2
        assert dict(mysql.query("SELECT id, status FROM emails", database)) == {early: "SENT", late: "SENT"}

    def test_a_database_of_a_newer_program_is_left_alone(self, serve, postino, mysql, database, directory):
        postino("migrate")
        mysql.query(
            "INSERT INTO postino_migrations (number, name, program_version) VALUES (1000, 'later', '9.9')", database
        )
        assert "newer" in postino("migrate", expect=1)
        with pytest.raises(RuntimeError, match="newer"):
            serve("mysql", directory / "data", "--mysql-migrate")

    def test_wrong_passwords_are_told_and_not_repeated(self, binary, mysql, database):
        mysql.query("CREATE USER IF NOT EXISTS 'guest'@'localhost' IDENTIFIED BY 'right'")
        flags = ["--mysql-socket", str(mysql.socket), "--mysql-user", "guest", "--mysql-database", database]
        ended = subprocess.run(
            [binary, "migrate", *flags],
            capture_output=True,
            text=True,
            env={"POSTINO_MYSQL_PASSWORD": "confidential"},
            timeout=PATIENCE_SECONDS,
        )
        assert ended.returncode == 1
        assert "Access denied" in ended.stderr and "confidential" not in ended.stderr


def make_emails(rest):
    """One of each kind, as far as they stay as they are."""
    made = {"sent": rest.accept_one(payload())}
    rest.await_status(made["sent"], "SENT")
    made["later"] = rest.accept_one(payload(send_at=in_the_future(), tags=["a", "b"]))
    made["held"] = rest.accept_one(payload(send_at=in_the_future()))
    made["cancelled"] = rest.accept_one(payload(send_at=in_the_future()))
    made["large"] = rest.accept_one(payload(body_text="Grüße 🐎\n" * 60_000))
    for kind in ("later", "held", "cancelled"):
        rest.await_status(made[kind], "READY")
    rest.await_status(made["large"], "SENT")
    assert rest.post(f"/emails/{made['held']}/hold").status == 204
    assert rest.post(f"/emails/{made['cancelled']}/cancel").status == 204
    return made


def everything(rest, identifiers):
    """All that can be seen of the e-mails, but where their contents are."""
    return {
        identifier: (
            {**rest.email(identifier), "payload_path": None, "message_path": None},
            rest.get(f"/emails/{identifier}/message").body,
            rest.get(f"/emails/{identifier}/payload").body,
        )
        for identifier in identifiers
    }


class TestCopy:
    def test_emails_move_to_the_database_and_back(self, serve, postino, recorder, directory):
        here, back = directory / "here", directory / "back"
        with serve("store", here, "--smtp", recorder.address) as server:
            rest = server.rest()
            made = make_emails(rest)
            body = {"data": [payload(subject="Once")]}
            keyed = rest.post("/emails", body, {"Idempotency-Key": "once"}).json["results"][0]["id"]
            rest.await_status(keyed, "SENT")
            assert rest.put("/suppressions/leaver@customer.example", {"reason": "asked for it"}).status < 300
            identifiers = [*made.values(), keyed]
            seen = everything(rest, identifiers)
            counts = rest.counts()
            listed = [email["id"] for page in rest.pages("/emails", limit=2) for email in page]

        shown = postino("copy", "--from", "store", "--to", "mysql", "--data", here)
        assert f"{len(identifiers)} e-mails copied, 0 already there; 1 suppression" in shown
        assert "differs" not in shown
        for flags in (["--data", here], ["--data", here, "--json"]):
            again = postino("copy", "--from", "store", "--to", "mysql", *flags)
        answer = json.loads(again)
        assert (answer["copied"], answer["present"], answer["equal"]) == (0, len(identifiers), True)
        assert answer["states"]["HELD"] == {"source": 1, "target": 1}

        with serve("mysql", directory / "other", "--smtp", recorder.address) as server:
            rest = server.rest()
            assert everything(rest, identifiers) == seen
            assert rest.counts() == counts
            assert [email["id"] for page in rest.pages("/emails", limit=2) for email in page] == listed
            assert [each["address"] for each in rest.fetch("/suppressions")["data"]] == ["leaver@customer.example"]
            # Keys are not copied; a repeat finds its e-mail all the same, and does not send it again.
            repeat = rest.post("/emails", body, {"Idempotency-Key": "once"})
            assert repeat.status == 201 and repeat.json["results"][0]["id"] == keyed
            assert rest.states(keyed).count("ACCEPTED") == 1
            # And work goes on.
            assert rest.post(f"/emails/{made['held']}/release").status == 204
            assert rest.email(made["held"])["status"] == "READY"
            seen = everything(rest, identifiers)

        shown = postino("copy", "--from", "mysql", "--to", "store", "--data", back)
        assert f"{len(identifiers)} e-mails copied" in shown and "differs" not in shown
        with serve("store", back, "--smtp", recorder.address) as server:
            assert everything(server.rest(), identifiers) == seen
            assert [each["address"] for each in server.rest().fetch("/suppressions")["data"]] == [
                "leaver@customer.example"
            ]

    def test_emails_move_between_the_database_and_dynamodb(self, binary, serve, postino, directory):
        with Server(binary, directory / "service") as service:
            place = ["--store-endpoint", service.endpoint, "--store-key-id", "any", "--store-secret", "any"]
            with serve("mysql", directory / "data") as server:
                rest = server.rest()
                identifiers = list(make_emails(rest).values())
                assert rest.put("/suppressions/leaver@customer.example", {"reason": "asked for it"}).status < 300
                seen = everything(rest, identifiers)
            shown = postino("copy", "--from", "mysql", "--to", "dynamodb", *place)
            assert f"{len(identifiers)} e-mails copied, 0 already there; 1 suppression" in shown
            assert "make sure that all are stopped" in shown, "nothing tells whether a server uses DynamoDB"
            with OutboxServer(binary, directory / "none", "--store", "dynamodb", *place, "--no-tickets") as server:
                assert everything(server.rest(), identifiers) == seen
                new = server.rest().accept_one(payload(send_at=in_the_future()))
                server.rest().await_status(new, "READY")
            shown = postino("copy", "--from", "dynamodb", "--to", "mysql", *place)
            assert f"1 e-mail copied, {len(identifiers)} already there; 1 suppression" in shown and "differs" not in shown
        with serve("mysql", directory / "data") as server:
            assert everything(server.rest(), identifiers) == seen
            assert server.rest().email(new)["status"] == "READY"

    def test_a_copy_that_is_killed_goes_on(self, binary, serve, postino, mysql, database, directory):
        data, total = directory / "data", 2_000
        with serve("store", data) as server:
            rest = server.rest()
            for _ in range(total // 100):
                rest.accept(*[payload(send_at=in_the_future()) for _ in range(100)])
            eventually(lambda: rest.counts()["READY"] == total, "all of them ready", 120)
        postino("migrate")
        copied = lambda: int(mysql.query("SELECT COUNT(*) FROM emails", database)[0][0])  # noqa: E731
        # So that it is still at it when it is killed.
        mysql.query("CREATE TRIGGER slow BEFORE INSERT ON emails FOR EACH ROW DO SLEEP(0.03)", database)
        command = [binary, "copy", "--from", "store", "--to", "mysql", "--data", data, *mysql.flags(database)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            eventually(lambda: copied() >= 100 or process.poll() is not None, "some of them copied", 120)
        finally:
            process.kill()
            process.wait()
        mysql.query("DROP TRIGGER slow", database)
        before = copied()
        assert 100 <= before < total, "it was killed on its way"
        answer = json.loads(postino("copy", "--from", "store", "--to", "mysql", "--data", data, "--json"))
        assert answer["equal"] is True and answer["copied"] + answer["present"] == total
        assert answer["present"] >= before > 0 and answer["copied"] > 0
        assert answer["states"]["READY"] == {"source": total, "target": total}
        with serve("mysql", directory / "other") as server:
            assert server.rest().counts()["READY"] == total
        lines = mysql.query("SELECT COUNT(*), COUNT(DISTINCT email_id) FROM email_statuses", database)
        assert lines == [[str(3 * total), str(total)]], "ACCEPTED, INTAKING, READY, once each"

    def test_what_differs_is_told(self, serve, postino, directory):
        data = directory / "data"
        with serve("store", data) as server:
            identifier = server.rest().accept_one(payload(send_at=in_the_future()))
            server.rest().await_status(identifier, "READY")
        postino("copy", "--from", "store", "--to", "mysql", "--data", data)
        with serve("mysql", directory / "other") as server:
            assert server.rest().post(f"/emails/{identifier}/cancel").status == 204
        shown = postino("copy", "--from", "store", "--to", "mysql", "--data", data, expect=1)
        assert "0 e-mails copied, 1 already there" in shown
        assert "differs" in shown and "CANCELLED" in shown

    def test_a_store_in_use_is_told(self, serve, postino, directory):
        with serve("store", directory / "data"):
            shown = postino("copy", "--from", "store", "--to", "mysql", "--data", directory / "data", expect=1)
        assert "in use by another process; stop the postino serve that uses it first" in shown

    @pytest.mark.parametrize("sharing", [[], ["--several-servers"]])
    def test_a_database_in_use_is_told(self, serve, postino, directory, sharing):
        with serve("mysql", directory / "data", *sharing) as server:
            server.rest().accept_one(payload(send_at=in_the_future()))
            shown = postino("copy", "--from", "mysql", "--to", "store", "--data", directory / "other", expect=1)
        assert "is in use by a server; stop every postino serve that uses it first" in shown

    def test_misuse_is_told(self, postino, directory):
        assert "must be different" in postino("copy", "--from", "mysql", "--to", "mysql", expect=2)
        assert "--from" in postino("copy", "--from", "postgres", "--to", "mysql", expect=2)
        shown = postino("copy", "--from", "store", "--to", "mysql", "--data", directory / "nothing", expect=1)
        assert "there is no store" in shown
        assert not (directory / "nothing").exists()
