"""The table as the outbox's document describes it, read and queried by boto3 beside the running server."""

import json
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone

import pytest

from payloads import in_the_future, payload
from postino_server import Server
from store import OutboxItems, dynamodb
from waiting import PATIENCE_SECONDS, eventually

PER_STATUS = 'SELECT Id, Status, Attributes FROM "{}"."StatusIndex" WHERE Status=? AND Attributes.Latest =?'
DAY = 24 * 3600


@pytest.fixture(scope="module")
def client(outbox):
    return dynamodb(outbox)


@pytest.fixture(scope="module")
def items(outbox):
    return OutboxItems(outbox)


@pytest.fixture(scope="module")
def sent(rest):
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "SENT")
    return identifier


def everything_about(items, identifier):
    found = items.table.query(
        KeyConditionExpression="Id = :id", ExpressionAttributeValues={":id": identifier}, ConsistentRead=True
    )
    return {item["Status"]: item for item in found["Items"]}


def test_keys_and_index_are_as_described(client):
    table = client.describe_table(TableName="email-outbox")["Table"]
    assert table["KeySchema"] == [
        {"AttributeName": "Id", "KeyType": "HASH"},
        {"AttributeName": "Status", "KeyType": "RANGE"},
    ]
    (index,) = [each for each in table["GlobalSecondaryIndexes"] if each["IndexName"] == "StatusIndex"]
    assert index["KeySchema"][0] == {"AttributeName": "Status", "KeyType": "HASH"}
    assert index["Projection"]["ProjectionType"] == "INCLUDE"
    assert "Attributes" in index["Projection"]["NonKeyAttributes"]


def test_time_to_live_is_on(client):
    described = client.describe_time_to_live(TableName="email-outbox")["TimeToLiveDescription"]
    assert (described["TimeToLiveStatus"], described["AttributeName"]) == ("ENABLED", "TTL")


def test_meta_record_has_the_latest_state(rest, items, sent):
    email, meta = rest.email(sent), items.meta(sent)
    attributes = meta["Attributes"]
    assert attributes["Latest"] == "SENT"
    assert attributes["UpdatedAt"] == email["updated_at"]
    assert attributes["Reason"] == email["reason"]
    assert attributes["PayloadFilePath"] == email["payload_path"]
    assert attributes["EmlFilePath"] == email["message_path"]
    year, month = email["created_at"][:4], email["created_at"][5:7]
    assert attributes["PayloadFilePath"].endswith(f"{year}/{month}/{sent}.json")
    assert attributes["EmlFilePath"].endswith(".eml")


def test_every_state_has_a_record(rest, items, sent):
    records = everything_about(items, sent)
    assert set(records) == {"_META", "ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"}
    for line in rest.email(sent)["history"]:
        attributes = records[line["status"]]["Attributes"]
        assert (attributes["UpdatedAt"], attributes["Reason"]) == (line["at"], line["reason"])


def test_second_attempt_has_a_record_of_its_own(rest, outbox, items):
    identifier = rest.accept_one(payload(attachments=["later.txt"]))
    rest.await_status(identifier, "INVALID")
    (outbox.files / "later.txt").write_text("here")
    rest.post(f"/emails/{identifier}/requeue")
    rest.await_status(identifier, "SENT")
    records = everything_about(items, identifier)
    assert {"ACCEPTED", "ACCEPTED#2", "INTAKING", "INTAKING#2", "INVALID", "READY", "SENT"} <= set(records)


def test_every_record_expires(items, sent):
    """The attribute that DynamoDB looks at is at the top; the document has one in Attributes too."""
    for status, record in everything_about(items, sent).items():
        assert abs(int(record["TTL"]) - (time.time() + 30 * DAY)) < DAY, status
        assert record["Attributes"]["TTL"] == record["TTL"], status


def test_email_for_later_does_not_expire_before_its_time(rest, items):
    when = in_the_future(days=200)
    identifier = rest.accept_one(payload(send_at=when))
    assert int(items.meta(identifier)["TTL"]) >= datetime.fromisoformat(when).timestamp() + 29 * DAY
    rest.post(f"/emails/{identifier}/cancel")


def test_emails_are_found_by_state(client, rest):
    waiting = rest.accept(*[payload(send_at=in_the_future()) for _ in range(30)])
    for identifier in waiting:
        rest.await_status(identifier, "READY")
    found, token = [], {}
    while True:
        page = client.execute_statement(
            Statement=PER_STATUS.format("email-outbox"), Parameters=[{"S": "_META"}, {"S": "READY"}], Limit=25, **token
        )
        found += [item["Id"]["S"] for item in page["Items"]]
        assert all(item["Attributes"]["M"]["Latest"]["S"] == "READY" for item in page["Items"])
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert sorted(found) == sorted(waiting)
    for identifier in waiting:
        rest.post(f"/emails/{identifier}/cancel")


def test_waiting_alone_costs_index_entries(items, rest, sent):
    """What is finished is in no queue: claiming does not read history."""
    assert "Queue" not in items.meta(sent) and "DueAt" not in items.meta(sent)
    waiting = rest.accept_one(payload(send_at=in_the_future()))
    rest.await_status(waiting, "READY")
    meta = items.meta(waiting)
    assert meta["Queue"].startswith("READY")
    assert float(meta["DueAt"]) / 1000 == datetime.fromisoformat(rest.email(waiting)["send_at"]).timestamp()
    rest.post(f"/emails/{waiting}/cancel")


@pytest.mark.parametrize("by_flag", [True, False])
def test_table_can_have_another_name(start, monkeypatch, by_flag):
    if by_flag:
        server = start("--outbox-table", "letters")
    else:
        monkeypatch.setenv("EMAIL_OUTBOX_TABLE", "letters")
        server = start()
    rest = server.rest()
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "SENT")
    assert OutboxItems(server, "letters").meta(identifier)["Attributes"]["Latest"] == "SENT"
    names = dynamodb(server).list_tables()["TableNames"]
    assert "letters" in names and "email-outbox" not in names


def test_counts_of_tables_with_other_names_are_checked_and_made_anew(binary, start, directory):
    """An operator of the store need not know what the server called them."""

    def postino(*arguments):
        command = [binary, *arguments, "--data", directory / "data"]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    server = start("--outbox-table", "letters", "--queues-table", "parcels")
    rest = server.rest()
    rest.await_status(rest.accept_one(payload()), "SENT")
    message = {"idempotencyKey": "k", "target": {"queueName": "q"}, "messages": [{"body": "one"}]}
    assert rest.post("/messages/produce", message).status == 200
    client = dynamodb(server)
    slice_ = client.scan(TableName="letters-counts")["Items"][0]
    shelf = {"Shelf": {"S": "counts/q"}, "Position": {"S": "0"}}
    for table, key, name in (
        ("letters-counts", {name: slice_[name] for name in ("Tenant", "Slice")}, "SENT"),
        ("parcels", shelf, "Ready"),
    ):
        client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="ADD #name :more",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":more": {"N": "7"}},
        )
    server.stop()

    checked = postino("check")
    assert checked.returncode == 1, checked
    assert "letters: counts of e-mails, day " in checked.stdout and "1 is SENT, counted as 8" in checked.stdout
    assert "parcels: counts of queue q: Ready is 8, and there is 1 message" in checked.stdout
    repaired = postino("repair")
    assert repaired.returncode == 0, repaired
    assert "counted again: e-mails of table letters\n" in repaired.stdout
    assert "counted again: messages of table parcels\n" in repaired.stdout
    checked = postino("check", "--outbox-table", "letters", "--queues-table", "parcels", "--json")
    assert checked.returncode == 0, checked
    assert json.loads(checked.stdout)["counted"] == {"email_tables": ["letters"], "queue_tables": ["parcels"]}


def test_life_of_records_can_be_chosen(start):
    server = start("--keep", "2d")
    rest = server.rest()
    identifier = rest.accept_one(payload())
    assert abs(int(OutboxItems(server).meta(identifier)["TTL"]) - (time.time() + 2 * DAY)) < 600


def test_files_are_kept_in_a_directory_when_told_to(start, directory):
    spool = directory / "spool"
    spool.mkdir()
    rest = start("--spool", spool).rest()
    identifier = rest.accept_one(payload())
    email = rest.await_status(identifier, "SENT")
    year, month = email["created_at"][:4], email["created_at"][5:7]
    for path, what, ending in ((email["payload_path"], "payload", ".json"), (email["message_path"], "message", ".eml")):
        assert path.startswith(f"{year}/{month}/{identifier}") and path.endswith(ending)
        assert (spool / path).read_bytes() == rest.get(f"/emails/{identifier}/{what}").body
    assert all(file.stat().st_mode & 0o077 == 0 for file in spool.rglob("*") if file.is_file()), "for nobody else"


def insert_theirs(server, spool):
    """As the earlier program does: one transaction for the record and its state. Its payload is a file."""
    identifier = str(uuid.uuid4())
    (spool / "theirs.json").write_text(json.dumps(payload(id=identifier)))
    insert = "INSERT INTO \"email-outbox\" VALUE {'Id': ?, 'Status': ?, 'Attributes': ?}"
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    meta = {"Latest": {"S": "ACCEPTED"}, "UpdatedAt": {"S": now}, "Reason": {"S": ""}}
    meta["PayloadFilePath"] = {"S": "theirs.json"}
    dynamodb(server).execute_transaction(
        TransactStatements=[
            {"Statement": insert, "Parameters": [{"S": identifier}, {"S": "_META"}, {"M": meta}]},
            {"Statement": insert, "Parameters": [{"S": identifier}, {"S": "ACCEPTED"}, {"M": {"TTL": {"N": "1"}}}]},
        ]
    )
    return identifier


def test_emails_of_the_earlier_program_are_taken_up(start, directory):
    spool = directory / "spool"
    spool.mkdir()
    server = start("--spool", spool)
    identifier = insert_theirs(server, spool)
    rest = server.rest()
    assert rest.get(f"/emails/{identifier}").status == 200, "at once"
    rest.await_status(identifier, "SENT")
    assert [line["status"] for line in rest.email(identifier)["history"]] == [
        "ACCEPTED",
        "INTAKING",
        "READY",
        "PROCESSING",
        "SENT",
    ]
    assert rest.counts()["SENT"] == 1
    assert "_ADOPT" not in everything_about(OutboxItems(server), identifier)


def test_what_was_written_without_an_outbox_is_taken_up_by_the_next(start, binary, directory):
    spool = directory / "spool"
    spool.mkdir()
    server = start("--spool", spool)
    rest = server.rest()
    rest.await_status(rest.accept_one(payload()), "SENT")
    counts = OutboxItems(server, "email-outbox-counts").table
    looked_through = {"Tenant": "*adoption", "Slice": "looked-through"}
    eventually(lambda: "Item" in counts.get_item(Key=looked_through), "the end of the first look")
    server.stop()
    with Server(binary, directory / "data") as without_outbox:
        identifier = insert_theirs(without_outbox, spool)
    start("--spool", spool).rest().await_status(identifier, "SENT")


def ask(server, path):
    try:
        with urllib.request.urlopen(f"http://{server.host}:{server.port}{path}", timeout=PATIENCE_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_directory_that_takes_no_writes_is_reported(start, directory):
    spool = directory / "spool"
    spool.mkdir()
    server = start("--spool", spool)
    rest = server.rest()
    assert ask(server, "/readyz") == (200, "ready\n")
    assert "\npostino_spool_writes_refused 0\n" in ask(server, "/metrics")[1]

    in_the_way = spool / str(datetime.now(timezone.utc).year)
    in_the_way.write_text("a file where a directory must be")
    for headers in ({}, {"Idempotency-Key": "spool"}):
        refused = rest.post("/emails", {"data": [payload()]}, headers)
        assert refused.status == 503 and refused.problem["code"] == "STORE_UNAVAILABLE", refused
    status, text = ask(server, "/readyz")
    assert status == 503 and "the spool takes no writes: cannot create" in text
    metrics = ask(server, "/metrics")[1]
    assert "\npostino_spool_writes_refused 1\n" in metrics
    assert "postino_outbox_emails{" in metrics, "the ledger can still be asked"
    eventually(lambda: any("the spool takes no writes" in line for line in server.log), "a line in the log")
    failed = eventually(lambda: [line for line in server.log if "api: failed" in line], "the lines of the requests")
    assert all("cannot create" in line for line in failed), failed

    in_the_way.unlink()
    eventually(lambda: ask(server, "/readyz")[0] == 200, "the end of the problem")
    eventually(lambda: any("the spool takes writes again" in line for line in server.log), "a line in the log")
    rest.await_status(rest.accept_one(payload()), "SENT")
