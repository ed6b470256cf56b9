"""What the desk works with: an S3-compatible bucket for attachments, a queue of customers' answers, and its own data after a
restart."""

import base64
import json
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from store import dynamodb
from tickets import open_ticket
from waiting import PATIENCE_SECONDS, eventually, free_port

S3_SERVER = Path(__file__).parents[1] / "objects" / "s3_server.py"
KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"  # as that server has them
BYTES = b"It is broken.\n"
FILE = {"name": "log.txt", "content_base64": base64.b64encode(BYTES).decode()}


@pytest.fixture
def bucket():
    """The flags for a bucket."""
    with subprocess.Popen([sys.executable, "-B", S3_SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().split()[0]
            flags = ("--objects-endpoint", f"http://127.0.0.1:{port}", "--objects-region", "eu-west-1")
            yield (*flags, "--objects-bucket", "postino-test", "--objects-key-id", KEY, "--objects-secret", SECRET)
        finally:
            server.kill()


def download(rest, ticket, attachment):
    return rest.get(f"/tickets/{ticket}/attachments/{attachment['attachment_id']}").body


@pytest.mark.embedded_only
def test_attachments_in_a_bucket(start, bucket):
    rest = start(*bucket).rest()
    ticket = open_ticket(rest)
    added = rest.post(f"/tickets/{ticket}/attachments", FILE)
    assert added.status == 201, added
    assert download(rest, ticket, added.json) == BYTES


@pytest.fixture
def hung_bucket():
    """The flags for a bucket whose server takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        flags = ("--objects-endpoint", f"http://127.0.0.1:{server.getsockname()[1]}", "--objects-timeout", "1s")
        yield (*flags, "--objects-bucket", "postino-test", "--objects-key-id", KEY, "--objects-secret", SECRET)


@pytest.mark.embedded_only
def test_a_bucket_that_hangs_is_told_of(start, hung_bucket):
    rest = start(*hung_bucket).rest()
    ticket = open_ticket(rest)
    for _ in range(12):
        answer = rest.post(f"/tickets/{ticket}/attachments", FILE)
        assert answer.status == 503 and answer.json["code"] == "STORE_UNAVAILABLE", answer
    assert rest.fetch(f"/tickets/{ticket}/attachments")["data"] == []
    assert rest.fetch(f"/tickets/{ticket}")["status"] == "NEW", "what needs no object is answered"


def monitored(server, path):
    with urllib.request.urlopen(server.url + path, timeout=PATIENCE_SECONDS) as answer:
        return answer.read().decode()


@pytest.mark.embedded_only
def test_a_bucket_that_is_away_is_named(start, bucket):
    endpoint = bucket.index("--objects-endpoint") + 1
    flags = (*bucket[:endpoint], f"http://127.0.0.1:{free_port()}", *bucket[endpoint + 1 :])
    server = start(*flags)
    rest = server.rest()
    assert rest.post(f"/tickets/{open_ticket(rest)}/attachments", FILE).status == 503
    assert "\npostino_objects_up 0\n" in monitored(server, "/metrics")
    assert monitored(server, "/readyz").startswith("ready, but the object store")
    assert [line for line in server.log if "the object store cannot be used" in line]


@pytest.mark.embedded_only
def test_attachments_outlive_the_server_and_go_with_their_items(start, directory):
    server = start()
    rest = server.rest()
    ticket = open_ticket(rest)
    kept, removed = (rest.post(f"/tickets/{ticket}/attachments", FILE).json for _ in range(2))
    server.stop()
    rest = start().rest()
    assert download(rest, ticket, kept) == BYTES
    assert rest.delete(f"/tickets/{ticket}/attachments/{removed['attachment_id']}").status == 204
    files = directory / "data" / "objects" / "attachments"
    eventually(lambda: len([each for each in files.rglob("=*") if each.is_file()]) == 1, "the end of its bytes")
    assert download(rest, ticket, kept) == BYTES


@pytest.mark.embedded_only
def test_a_ticket_behind_a_symbolic_link_keeps_no_others_back(start, directory):
    server = start()
    rest = server.rest()
    ticket, other = open_ticket(rest), open_ticket(rest)
    large = dynamodb(server, "resource").Table("prod-tickets-unified")
    key = {"PK": f"TICKET#{ticket}", "SK": "METADATA"}
    item = large.get_item(Key=key)["Item"]
    # As the former system's store_large_item() does it.
    name = f"large-items/{key['PK']}/{key['SK']}.json"
    file = directory / "data" / "objects" / "large-items" / key["PK"] / f"={key['SK']}.json"
    file.parent.mkdir(parents=True)
    elsewhere = directory / "elsewhere.json"
    elsewhere.write_text(json.dumps({"data": item["data"]}))
    file.symlink_to(elsewhere)
    large.put_item(Item={**{part: item[part] for part in item if part != "data"}, "large_data_uri": f"s3://postino/{name}"})
    listed = {each["ticket_id"]: each for each in rest.fetch("/tickets")["data"]}
    assert set(listed) == {ticket, other}
    assert listed[ticket]["unavailable"] == ["*"] and "unavailable" not in listed[other]
    refused = rest.get(f"/tickets/{ticket}")
    assert refused.status == 409 and refused.json["code"] == "UNREADABLE_RECORD", refused
    assert "symbolic link" in refused.json["detail"]
    file.unlink()
    file.write_bytes(elsewhere.read_bytes())
    assert rest.fetch(f"/tickets/{ticket}")["customer"]["name"] == "Ada Lovelace"


@pytest.mark.embedded_only
def test_a_check_finds_attachments_that_are_lost_or_spoilt(start, directory, binary):
    def check():
        command = [binary, "check", "--data", directory / "data", "--json"]
        checked = json.loads(subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS).stdout)
        assert checked["sound"], checked
        return sorted(checked["notes"])

    server = start()
    rest = server.rest()
    ticket = open_ticket(rest)
    for name in ("kept.txt", "damaged.txt", "lost.txt"):
        upload = {"name": name, "content_base64": base64.b64encode(f"This is {name}.".encode()).decode()}
        assert rest.post(f"/tickets/{ticket}/attachments", upload).status == 201
    server.stop()
    assert check() == []
    files = {file.read_text(): file for file in (directory / "data" / "objects" / "attachments").rglob("=*")}
    files["This is damaged.txt."].write_text("This is soiled.txt.")
    files["This is lost.txt."].unlink()
    notes = check()
    assert len(notes) == 2 and all(note.startswith("object attachments/prod-tickets-unified/") for note in notes), notes
    assert sorted(note.split(" ", 2)[2] for note in notes) == ["is missing", "is not what was written"]
    (directory / "data" / "objects").rename(directory / "elsewhere")
    assert len(check()) == 3, "all are missing without their directory"
    assert not (directory / "data" / "objects").exists(), "a check makes nothing"


def test_answers_come_by_a_queue(start):
    rest = start("--tickets-from", "support@shop.example", "--answers-queue", "answers").rest()
    ticket = open_ticket(rest)
    sent = rest.post(f"/tickets/{ticket}/emails", {"subject": "News", "text": "Try again."}).json
    answer = f"Message-ID: <1@c>\r\nFrom: ada@example.org\r\nIn-Reply-To: <{sent['message_id']}>\r\n\r\nIt works.\r\n"
    for key in ("first", "again"):
        request = {"idempotencyKey": key, "target": {"queueName": "answers"}, "messages": [{"body": answer}]}
        assert rest.post("/messages/produce", request).status == 200
    other = {"idempotencyKey": "last", "target": {"queueName": "answers"}, "messages": [{"body": answer.replace("1@c", "2@c")}]}
    assert rest.post("/messages/produce", other).status == 200
    path = f"/tickets/{ticket}/emails"
    eventually(lambda: "2@c" in [each["message_id"] for each in rest.fetch(path)["data"]], "the last answer")
    assert sorted(each["message_id"] for each in rest.fetch(path)["data"] if each["direction"] == "received") == ["1@c", "2@c"]
