"""Everything that services keep moves from the embedded store to DynamoDB, for which another Postino stands, and back;
and a copy that is broken off goes on."""

import base64
import json
import re
import subprocess
import threading

import boto3
import pytest

from counting_relay import CountingRelay
from outbox_server import OutboxServer
from payloads import in_the_future, payload
from postino_server import Server
from store import OutboxItems, dynamodb
from test_mysql_commands import everything, make_emails
from test_reminders import FROM, add_customer, approve, draft
from waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.store_only

LOG = b"It is broken.\n"
TICKET = {"customer": {"id": "cust_1", "contact_email": "ada@example.org"}, "symptom_text": "It restarts."}
MESSAGES = {"target": {"queueName": "parcels"}, "messages": [{"body": f"parcel {number}"} for number in range(60)]}
ONCE = {"Idempotency-Key": "once"}


@pytest.fixture
def service(binary, directory):
    """What stands for Amazon DynamoDB."""
    with Server(binary, directory / "service") as server:
        yield server


@pytest.fixture
def shared(directory):
    """Flags of all servers and all copies: files are not copied, so they are in one place."""
    return ["--objects", str(directory / "objects"), *FROM]


def at(port):
    return ["--store-endpoint", f"http://127.0.0.1:{port}", "--store-key-id", "any", "--store-secret", "any"]


@pytest.fixture
def start_copy(binary, directory):
    """Begins one; what it says comes with its end."""

    def start(source, target, port, *flags):
        command = [binary, "copy", "--from", source, "--to", target, "--objects", directory / "objects", *at(port), *flags]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


@pytest.fixture
def copy(start_copy):
    def run(source, target, port, *flags, expect=0):
        process = start_copy(source, target, port, *flags)
        out, errors = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == expect, (out, errors)
        return out if expect == 0 else out + errors

    return run


def fill(rest):
    """Something of each service. Answers what is needed to find it again."""
    made = {"emails": make_emails(rest)}
    answer = rest.post("/emails", {"data": [payload(subject="Once")]}, ONCE)
    made["emails"]["keyed"] = answer.json["results"][0]["id"]
    rest.await_status(made["emails"]["keyed"], "SENT")
    assert rest.put("/suppressions/leaver@customer.example", {"reason": "asked for it"}).status < 300
    add_customer(rest)
    made["draft"] = draft(rest)["id"]
    ticket = rest.post("/tickets", TICKET)
    assert ticket.status == 202, ticket
    made["ticket"] = ticket.json["ticket_id"]
    upload = {"name": "log.txt", "content_base64": base64.b64encode(LOG).decode()}
    made["attachment"] = rest.post(f"/tickets/{made['ticket']}/attachments", upload).json["attachment_id"]
    assert rest.post("/messages/produce", MESSAGES, ONCE).status == 200
    return made


def seen_of(rest, made):
    return {
        "emails": everything(rest, made["emails"].values()),
        "counts": rest.counts(),
        "suppressions": [each["address"] for each in rest.fetch("/suppressions")["data"]],
        # What the rules say now is no part of it.
        "draft": {**rest.fetch(f"/reminders/drafts/{made['draft']}"), "decision": None},
        "customer": rest.fetch("/reminders/customers/cust_001"),
        "audit": rest.fetch("/reminders/audit", subject="drafts/")["data"],
        "ticket": rest.fetch(f"/tickets/{made['ticket']}"),
        "attachment": rest.get(f"/tickets/{made['ticket']}/attachments/{made['attachment']}").body,
        "depth": rest.fetch("/messages/queues/parcels/depth")["depth"],
    }


def expiring(server, identifier):
    """Has the e-mail's record a time to live that DynamoDB looks at?"""
    return "TTL" in OutboxItems(server).meta(identifier)


def stream_records(server, table):
    """What a subscriber of the table would get that begins now with the oldest change."""
    streams = boto3.client(
        "dynamodbstreams",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    arn = dynamodb(server).describe_table(TableName=table)["Table"]["LatestStreamArn"]
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        begin = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        found += streams.get_records(ShardIterator=streams.get_shard_iterator(**begin)["ShardIterator"])["Records"]
    return found


def test_everything_moves_to_dynamodb_and_back(binary, directory, service, shared, copy):
    here, back = directory / "here", directory / "back"
    with OutboxServer(binary, here, *shared) as server:
        made = fill(server.rest())
        seen = seen_of(server.rest(), made)
        in_use = copy("embedded", "dynamodb", service.port, "--data", here, expect=1)
        assert "in use by another process; stop the postino serve that uses it first" in in_use

    (here / "objects" / "attachments").mkdir(parents=True)  # of a server without --objects
    moved = json.loads(copy("embedded", "dynamodb", service.port, "--data", here, "--json"))
    assert moved["equal"] and moved["copied"] == len(made["emails"]) and moved["failures"] == []
    about_objects, about_keys = sorted(moved["notes"], key=lambda note: str(here / "objects") not in note)
    assert str(here / "objects") in about_objects, "an operator moves files"
    assert "keys" in about_keys, "an operator says which sealing key opens them there"
    tables = {table["table"]: table for table in moved["tables"]}
    for name in ("email-outbox-suppressions", "EmailTrackingTable", "EmailTrackingTable-audit", "prod-tickets-unified"):
        assert 0 < tables[name]["copied"] == tables[name]["source"] == tables[name]["target"], tables[name]
    assert tables["messages"]["copied"] == len(MESSAGES["messages"]), "the counts of queues are made again"
    assert stream_records(service, "prod-tickets-unified") == [], "what was copied is no news"
    figures = dynamodb(service, "resource").Table("prod-metrics")
    assert not any(item["metric_name"].startswith("checkpoint#") for item in figures.scan()["Items"])
    again = json.loads(copy("embedded", "dynamodb", service.port, "--data", here, "--json"))
    assert again["equal"] and again["copied"] == 0 and again["present"] == len(made["emails"])
    assert all(table["copied"] == table["different"] == 0 for table in again["tables"])
    # What is not finished must not expire there; what is finished does.
    assert not expiring(service, made["emails"]["held"]) and not expiring(service, made["emails"]["later"])
    assert expiring(service, made["emails"]["keyed"])

    flags = ["--store", "dynamodb", *at(service.port), *shared]
    with OutboxServer(binary, directory / "none", *flags) as server:
        rest = server.rest()
        assert seen_of(rest, made) == seen
        # And work goes on: keys count, and what waited can be done.
        assert rest.post("/emails", {"data": [payload(subject="Once")]}, ONCE).json["results"][0]["id"] == made["emails"]["keyed"]
        assert rest.post("/messages/produce", MESSAGES, ONCE).headers["idempotent-replayed"] == "true"
        assert rest.post(f"/emails/{made['emails']['held']}/release").status == 204
        sent = approve(rest, made["draft"])
        assert sent.status in (200, 201, 202), sent
        consumed = rest.post("/messages/consume", {"target": {"queueName": "parcels"}, "settings": {"maxMessages": 10}}, ONCE)
        assert len(consumed.json["messages"]) == 10
        eventually(lambda: rest.fetch("/messages/queues/parcels/depth")["depth"] == 50, "the messages that are left")
        eventually(lambda: rest.counts().get("PROCESSING", 0) == 0 and rest.counts()["SENT"] == 4, "the reminder")
        eventually(lambda: any("owner" in item for item in figures.scan()["Items"]), "one who counts")
        in_use = copy("dynamodb", "embedded", service.port, "--data", back, expect=1)
        assert "is in use by a server" in in_use and "stop every postino serve" in in_use
        seen = seen_of(rest, made)

    # The next server counts again: nothing was followed yet in its store.
    figures.put_item(Item={"metric_name": "tickets_by_status#NEW", "source": "tickets", "count_value": 7})
    moved = json.loads(copy("dynamodb", "embedded", service.port, "--data", back, "--json"))
    assert moved["equal"] and moved["copied"] == len(made["emails"]) + 1
    with OutboxServer(binary, back, *shared) as server:
        assert seen_of(server.rest(), made) == seen
        rest = server.rest()
        eventually(lambda: rest.fetch("/figures")["tickets_by_status"]["NEW"] == 1, "the figures")
        assert expiring(server, made["emails"]["later"]), "as programs that read the tables expect it there"
        with pytest.raises(boto3.client("dynamodb", region_name="x").exceptions.ClientError, match="AccessDenied"):
            dynamodb(server, "resource").Table("EmailTrackingTable-audit").put_item(Item={"PK": "x", "SK": "y"})


def test_a_copy_that_is_broken_off_goes_on(binary, directory, service, copy, start_copy):
    data, total = directory / "data", 150
    with OutboxServer(binary, data) as server:
        rest = server.rest()
        rest.accept(*[payload(send_at=in_the_future()) for _ in range(100)])
        rest.accept(*[payload(send_at=in_the_future()) for _ in range(total - 100)])
        eventually(lambda: rest.counts()["READY"] == total, "all of them ready")
        assert rest.post("/messages/produce", MESSAGES, ONCE).status == 200

    def break_off(operation, count):
        ready = threading.Event()

        def kill():
            ready.wait(PATIENCE_SECONDS)
            process.kill()

        with CountingRelay(service.port, operation, count, kill) as relay:
            process = start_copy("embedded", "dynamodb", relay.port, "--data", data)
            ready.set()
            process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode < 0, "it was killed on its way"

    break_off("BatchWriteItem", 3)
    break_off("TransactWriteItems", 60)
    copied = len(OutboxItems(service).all_metas())
    assert 0 < copied < total
    moved = json.loads(copy("embedded", "dynamodb", service.port, "--data", data, "--json"))
    assert moved["equal"] and moved["copied"] == total - copied and moved["present"] == copied
    assert moved["states"]["READY"] == {"source": total, "target": total}
    messages = next(table for table in moved["tables"] if table["table"] == "messages")
    assert messages["copied"] + messages["present"] == messages["target"] == len(MESSAGES["messages"])
    assert messages["present"] > 0, "of these, too, some had been there"
    flags = ["--store", "dynamodb", *at(service.port), "--objects", directory / "objects"]
    with OutboxServer(binary, directory / "none", *flags) as server:
        assert server.rest().counts()["READY"] == total
        assert server.rest().fetch("/messages/queues/parcels/depth")["depth"] == len(MESSAGES["messages"])


def test_a_source_without_an_outbox_is_probably_another_one(directory, service, copy):
    data = directory / "data"
    for target in ("embedded", "mysql"):
        flags = ["--mysql-host", "127.0.0.1", "--mysql-port", "1"] if target == "mysql" else []
        told = copy("dynamodb", target, service.port, "--data", data, *flags, expect=1)
        assert f"http://127.0.0.1:{service.port}" in told and "no table email-outbox" in told
    assert dynamodb(service).list_tables()["TableNames"] == [], "a source is only read"
    assert not data.exists(), "and a target is not made for nothing"
    data.mkdir()
    told = copy("embedded", "dynamodb", service.port, "--data", data, expect=1)
    assert f"there is no store in '{data}'" in told and "--data" in told
    assert not list(data.iterdir()) and dynamodb(service).list_tables()["TableNames"] == []


def test_what_cannot_be_copied_is_told(binary, directory, service, copy):
    data = directory / "data"
    with OutboxServer(binary, data):
        pass
    keys = {"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}
    keys["KeySchema"] = [{"AttributeName": "id", "KeyType": "HASH"}]
    dynamodb(service).create_table(TableName="messages", BillingMode="PAY_PER_REQUEST", **keys)
    email_keys = [{"AttributeName": "Id", "KeyType": "HASH"}, {"AttributeName": "Status", "KeyType": "RANGE"}]
    types = [{"AttributeName": key["AttributeName"], "AttributeType": "S"} for key in email_keys]
    dynamodb(service).create_table(
        TableName="email-outbox", BillingMode="PAY_PER_REQUEST", KeySchema=email_keys, AttributeDefinitions=types
    )
    assert "table messages has other keys" in copy("dynamodb", "embedded", service.port, "--data", data, expect=1)
    shown = copy("embedded", "dynamodb", service.port, "--data", data, expect=1)
    assert "table messages exists with other keys than are needed" in shown
    # Before anything is made: the directory is as it was.
    away = copy("dynamodb", "embedded", 1, "--data", directory / "new", "--store-timeout", "1s", expect=1)
    assert "the store at http://127.0.0.1:1" in away and "cannot be used" in away
    assert not (directory / "new").exists()
    assert "must be different" in copy("embedded", "store", service.port, expect=2)


def test_what_differs_is_told(binary, directory, service, copy):
    data = directory / "data"
    with OutboxServer(binary, data):
        pass
    copy("embedded", "dynamodb", service.port, "--data", data)
    table = dynamodb(service, "resource").Table
    # By a program that knows the records alone: no server has taken it over yet.
    table("email-outbox").put_item(Item={"Id": "strange", "Status": "_META", "Attributes": {"Latest": "ACCEPTED"}})
    table("email-outbox-mailbox").put_item(Item={"Mailbox": "m", "Received": "1", "text": "old"})
    shown = copy("dynamodb", "embedded", service.port, "--data", data, expect=1)
    assert "not copied: 1 e-mail of other programs" in shown
    table("email-outbox").delete_item(Key={"Id": "strange", "Status": "_META"})
    table("email-outbox-mailbox").put_item(Item={"Mailbox": "m", "Received": "1", "text": "new"})
    shown = copy("dynamodb", "embedded", service.port, "--data", data, expect=1)
    assert "1 in another form there" in shown and "What the target had stays as it was" in shown
    assert "email-outbox-mailbox" in shown and '{"Mailbox":{"S":"m"},"Received":{"S":"1"}}' in shown.replace(": ", ":")
    assert "delete it at the target" in shown
    table("email-outbox-mailbox").delete_item(Key={"Mailbox": "m", "Received": "1"})
    shown = copy("dynamodb", "embedded", service.port, "--data", data, expect=1)
    assert re.search(r"email-outbox-mailbox +0 +0 +0 +1 +differs", shown), shown
