"""Backups of the whole store: made while it is worked on, restored elsewhere, and refused when they are not as written."""

import json
import secrets
import shutil
import subprocess
import threading
import urllib.request

import pytest

from bucket_server import BUCKET, bucket_server
from described_rest import DescribedRest
from payloads import in_the_future, payload
from waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.store_only

ON_REQUEST = ["--backup-every", "0s"]
KNOWN_TEXT = "a text that is nowhere else: 7f3a91"


class Backups:
    """The commands of a machine that has the place, whether a server runs or not."""

    def __init__(self, binary, place, *access):
        self.binary, self.place = binary, str(place)
        self.flags = ["--backup-to", self.place, *map(str, access)]

    def run(self, *arguments):
        command = [self.binary, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    def make(self, server):
        return self.run("backup", "run", "--url", server.url)

    def made(self, server):
        ended = self.make(server)
        assert ended.returncode == 0, ended
        return ended.stdout.split()[1].rstrip(":")

    def list(self):
        ended = self.run("backup", "list", *self.flags, "--json")
        assert ended.returncode == 0, ended
        return json.loads(ended.stdout)

    def verify(self, *more):
        return self.run("backup", "verify", *self.flags, *more)

    def restore(self, data, *more):
        return self.run("restore", *self.flags, "--data", data, *more)

    def restored(self, data, *more):
        ended = self.restore(data, *more)
        assert ended.returncode == 0, ended
        return data


@pytest.fixture
def place(directory):
    return directory / "place"


@pytest.fixture
def backups(binary, place):
    return Backups(binary, place)


def chunks_of(place):
    return sorted(file for file in (place / "chunks").rglob("*") if file.is_file())


def metrics_of(server):
    with urllib.request.urlopen(server.url + "/metrics", timeout=PATIENCE_SECONDS) as answer:
        lines = answer.read().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def open_ticket(server):
    customer = {"id": "cust_1", "name": "Ada Lovelace", "contact_email": "ada@example.org", "account_tier": "GOLD"}
    asset = {"product_type": "router", "model": "RX-200", "serial": "SN-1", "firmware": "1.2.3"}
    ticket = {"customer": customer, "asset": asset, "symptom_text": "It restarts.", "priority": "P2", "lang": "en"}
    answer = server.rest().post("/tickets", ticket)
    assert answer.status == 202, answer
    return answer.json["ticket_id"]


def accept(server, **fields):
    return server.rest().accept_one(payload(**fields))


class TestLostDisk:
    def test_everything_goes_on_elsewhere(self, start, backups, place, directory):
        server = start("--spool", directory / "spool", *backups.flags, *ON_REQUEST)
        sent = accept(server)
        server.rest().await_status(sent, "SENT")
        waiting = accept(server, send_at=in_the_future())
        ticket = open_ticket(server)
        queue = {"idempotencyKey": "before", "target": {"queueName": "orders"}}
        assert server.rest().post("/messages/produce", {**queue, "messages": [{"body": "first"}]}).status == 200
        message = server.rest().get(f"/emails/{sent}/message").body
        backup = backups.made(server)
        later = accept(server, send_at=in_the_future())
        server.kill()
        shutil.rmtree(directory / "data")
        shutil.rmtree(directory / "spool")

        data = backups.restored(directory / "restored")
        again = start("--spool", data / "spool", data=data)
        assert again.rest().states(sent)[-1] == "SENT"
        assert again.rest().get(f"/emails/{sent}/message").body == message
        assert again.rest().states(waiting)[-1] == "READY"
        assert again.rest().get(f"/emails/{later}").status == 404, "it came after the backup"
        assert again.rest().get(f"/tickets/{ticket}").status == 200
        taken = again.rest().post("/messages/consume", {**queue, "idempotencyKey": "after"})
        assert [each["body"] for each in taken.json["messages"]] == ["first"]
        new = accept(again)
        again.rest().await_status(new, "SENT")
        audit = again.rest().get("/audit", action="store.restored").json["data"]
        assert [entry["subject"] for entry in audit] == [backup]
        assert again.stop() == 0
        checked = backups.run("check", "--data", data)
        assert checked.returncode == 0, checked

    def test_what_was_acknowledged_under_load_is_there(self, start, backups, directory):
        server = start(*backups.flags, *ON_REQUEST)
        accepted, is_over = [], threading.Event()

        def work():
            rest = server.rest()
            while not is_over.is_set():
                accepted.append(rest.accept_one(payload(send_at=in_the_future())))

        worker = threading.Thread(target=work)
        worker.start()
        try:
            for number in range(3):
                seen = len(accepted)
                eventually(lambda: len(accepted) > seen + 20, "e-mails")
                before = list(accepted)
                backup = backups.made(server)
                data = backups.restored(directory / f"restored{number}", backup)
                checked = backups.run("check", "--data", data)
                assert checked.returncode == 0, checked
        finally:
            is_over.set()
            worker.join()
        again = start(data=data)
        for identifier in before:
            assert again.rest().states(identifier)[-1] == "READY"

    def test_a_restored_store_goes_on_with_the_same_backups(self, start, backups, directory):
        server = start(*backups.flags, *ON_REQUEST)
        accept(server, send_at=in_the_future())
        first = backups.made(server)
        server.kill()
        data = backups.restored(directory / "restored")
        again = start(*backups.flags, *ON_REQUEST, data=data)
        second = backups.made(again)
        assert [(each["id"], each["sound"]) for each in backups.list()] == [(first, True), (second, True)]

    def test_the_backups_of_two_stores_are_not_mixed(self, start, backups, directory):
        backups.made(start(*backups.flags, *ON_REQUEST))
        refused = backups.make(start(*backups.flags, *ON_REQUEST, data=directory / "other"))
        assert refused.returncode == 1
        assert "backups of another store" in refused.stderr


class TestDamage:
    @pytest.fixture
    def backup(self, start, backups):
        server = start(*backups.flags, *ON_REQUEST)
        accept(server, send_at=in_the_future())
        yield backups.made(server)

    def is_refused(self, backups, directory, what):
        verified = backups.verify()
        assert verified.returncode == 1, verified
        assert what in verified.stdout + verified.stderr, verified
        target = directory / "restored"
        refused = backups.restore(target)
        assert refused.returncode == 1, refused
        assert what in refused.stderr
        assert not target.exists() or not list(target.iterdir()), "nothing is left"

    @pytest.mark.parametrize("change", ["changed", "cut", "mixed", "missing"])
    def test_contents_that_are_not_as_written(self, backups, backup, place, directory, change):
        chunks = chunks_of(place)
        largest = max(chunks, key=lambda file: file.stat().st_size)
        contents = bytearray(largest.read_bytes())
        if change == "changed":
            contents[len(contents) // 2] ^= 1
            largest.write_bytes(contents)
        elif change == "cut":
            largest.write_bytes(contents[:-1])
        elif change == "mixed":
            largest.write_bytes(next(file for file in chunks if file != largest).read_bytes())
        else:
            largest.unlink()
        self.is_refused(backups, directory, "is missing" if change == "missing" else "was changed or cut")

    def test_a_manifest_of_another_backup(self, start, backups, backup, place, directory):
        manifest = place / "backups" / f"={backup}"
        forged = backup[:-8] + "00000000"
        shutil.copy(manifest, place / "backups" / f"={forged}")
        refused = backups.restore(directory / "restored", forged)
        assert refused.returncode == 1
        assert "is another one's" in refused.stderr

    def test_a_directory_with_something_in_it_stays_as_it_is(self, backups, backup, directory):
        target = directory / "mine"
        target.mkdir()
        (target / "letter.txt").write_text("mine")
        refused = backups.restore(target)
        assert refused.returncode == 1
        assert "is not empty" in refused.stderr
        assert [file.name for file in target.iterdir()] == ["letter.txt"]

    def test_a_restore_that_was_killed_is_no_store(self, binary, backups, backup, directory):
        target = directory / "restored"
        (target / "restoring").mkdir(parents=True)
        refused = backups.run("serve", "--data", target, "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0")
        assert refused.returncode == 1
        assert "a restore of a backup was interrupted there" in refused.stderr
        backups.restored(target)
        assert backups.run("check", "--data", target).returncode == 0

    def test_the_next_backup_is_whole_after_damage(self, start, backups, directory, place):
        server = start(*backups.flags, *ON_REQUEST)
        accept(server, send_at=in_the_future())
        backups.made(server)
        for chunk in chunks_of(place):
            chunk.write_bytes(b"damaged")
        eventually(lambda: backups.make(server).returncode == 0, "a backup that is sound")
        assert backups.verify().returncode == 0

    def test_a_server_that_was_killed_meanwhile_makes_the_next_one(self, start, backups, directory):
        server = start(*backups.flags, *ON_REQUEST)
        for _ in range(5):
            accept(server, send_at=in_the_future())
            assert server.rest().post("/backups").status == 202
            server.kill()
            server = start(*backups.flags, *ON_REQUEST)
            backups.made(server)
            assert all(each["sound"] or not each["problem"] for each in backups.list())
        assert not (directory / "data" / "backing-up").exists()


class TestKeys:
    @pytest.fixture
    def key(self, directory):
        file = directory / "key"
        file.write_text(secrets.token_hex(32) + "\n")
        return file

    def test_nothing_can_be_read_without_the_key(self, start, binary, place, directory, key):
        sealed = Backups(binary, place, "--backup-key", f"file:{key}")
        server = start(*sealed.flags, *ON_REQUEST, "--spool", directory / "spool")
        identifier = accept(server, subject=KNOWN_TEXT, send_at=in_the_future())
        eventually(lambda: server.rest().states(identifier)[-1] == "READY")
        backup = sealed.made(server)
        for file in place.rglob("*"):
            if file.is_file():
                contents = file.read_bytes()
                assert KNOWN_TEXT.encode() not in contents and b"READY" not in contents, file
        plain = Backups(binary, place)
        refused = plain.restore(directory / "restored")
        assert refused.returncode == 1
        assert "needs master key" in refused.stderr
        assert sealed.restored(directory / "restored", backup)

    def test_a_wrong_key_is_told_which_is_wanted(self, start, binary, place, directory, key):
        sealed = Backups(binary, place, "--backup-key", f"file:{key}")
        backup = sealed.made(start(*sealed.flags, *ON_REQUEST))
        other = directory / "other"
        other.write_text(secrets.token_hex(32))
        refused = Backups(binary, place, "--backup-key", f"file:{other}").restore(directory / "restored", backup)
        assert refused.returncode == 1
        assert f"backup {backup} needs master key" in refused.stderr and ", and this is " in refused.stderr

    def test_the_key_is_changed_without_writing_contents_again(self, start, binary, place, directory, key):
        sealed = Backups(binary, place, "--backup-key", f"file:{key}")
        server = start(*sealed.flags, *ON_REQUEST)
        accept(server, send_at=in_the_future())
        first = sealed.made(server)
        before = {file: file.read_bytes() for file in chunks_of(place)}
        server.stop()
        fresh = directory / "fresh"
        fresh.write_text(secrets.token_hex(32))
        changed = sealed.run("backup", "change-key", *sealed.flags, "--new-key", f"file:{fresh}")
        assert changed.returncode == 0, changed
        assert {file: file.read_bytes() for file in chunks_of(place)} == before
        resealed = Backups(binary, place, "--backup-key", f"command:cat {fresh}")
        assert resealed.verify(first).returncode == 0
        assert sealed.verify(first).returncode == 1
        resealed.made(start(*resealed.flags, *ON_REQUEST))

    def test_a_key_that_is_not_there_keeps_the_server_from_starting(self, binary, place, directory):
        refused = Backups(binary, place).run(
            *["serve", "--data", directory / "data", "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"],
            *["--backup-to", place, "--backup-key", "env:NO_SUCH_VARIABLE"],
        )
        assert refused.returncode == 1
        assert "the environment variable NO_SUCH_VARIABLE is not set" in refused.stderr


class TestSchedule:
    def test_the_first_one_comes_by_itself_and_is_seen(self, start, backups):
        server = start(*backups.flags)
        eventually(lambda: metrics_of(server)["postino_backups_made_total"] == "1", "a backup")
        metrics = metrics_of(server)
        assert metrics["postino_backup_verified"] == "1" and metrics["postino_backups_kept"] == "1"
        assert server.readiness() == (200, "ready\n")
        api = DescribedRest(server.rest())
        listed = api.call("listBackups", 200).json["data"]
        assert [each["sound"] for each in listed] == [True]
        accept(server, send_at=in_the_future())
        eventually(lambda: server.rest().get("/emails/counts").json["counts"]["READY"] == 1, "a built e-mail")
        shown = backups.run("status", "--url", server.url)
        assert shown.returncode == 0, shown
        ready, emails, newest = shown.stdout.splitlines()
        assert (ready, emails) == ("ready", "E-mails: 1 READY")
        assert newest.startswith(f"Backups: the newest, {listed[0]['id']}, is of {listed[0]['taken_at']}; the next one")
        assert api.call("showBackupState", 200).json["next_at"] > listed[0]["taken_at"]
        assert api.call("beginBackup", 202).json["running"]

    def test_a_place_that_cannot_be_written_is_seen(self, start, backups, place):
        server = start(*backups.flags, *ON_REQUEST)
        shutil.rmtree(place)
        place.write_text("no directory")
        refused = backups.make(server)
        assert refused.returncode == 1
        status, text = server.readiness()
        assert status == 200 and "the last backup failed" in text
        shown = backups.run("status", "--url", server.url, "--json")
        told = json.loads(shown.stdout)
        assert shown.returncode == 0 and told["ready"] and "the last backup failed" in told["problems"][0]
        assert told["backups"]["problem"] and told["emails"]["total"] == 0

    def test_without_a_place_there_are_none(self, start):
        api = DescribedRest(start().rest())
        for operation in ("beginBackup", "listBackups", "showBackupState"):
            assert api.call(operation, 404).problem["code"] == "NO_BACKUPS"

    def test_a_server_that_is_not_there_has_no_status(self, backups):
        shown = backups.run("status", "--url", "http://127.0.0.1:1")
        assert shown.returncode == 1 and "http://127.0.0.1:1" in shown.stderr


def test_a_bucket_takes_them(start, binary, directory):
    with bucket_server() as bucket:
        backups = Backups(binary, f"s3://{BUCKET}/mine", *bucket.access)
        server = start(*backups.flags, *ON_REQUEST)
        accepted = accept(server, send_at=in_the_future())
        backup = backups.made(server)
        bucket.be_there(False)
        refused = backups.make(server)
        assert refused.returncode == 1
        assert "the last backup failed" in server.readiness()[1]
        bucket.be_there(True)
        eventually(lambda: backups.make(server).returncode == 0, "a backup, as the bucket is back")
        data = backups.restored(directory / "restored", backup)
        again = start(data=data)
        assert again.rest().states(accepted)[-1] == "READY"
