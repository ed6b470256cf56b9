"""The records that make queue operations idempotent: taken with a conditional put, completed or failed by an update."""

import hashlib
import json
import threading
import time

import pytest

from expectations import CONDITION_FAILED, eventually, refused
from tables import create_table
from wire import Wire

TABLE = "mq-probe-idempotency"
REQUEST_HASH = hashlib.sha256(b"the whole request").hexdigest()


@pytest.fixture(scope="module")
def table(wire):
    create_table(wire, "pk:S", name=TABLE)
    specification = {"AttributeName": "ttl", "Enabled": True}
    wire.call("UpdateTimeToLive", TableName=TABLE, TimeToLiveSpecification=specification)
    return TABLE


def begin(wire, operation, key, life=86_400, **more):
    """The first write: only one request with this key gets through."""
    item = {
        "pk": {"S": f"{operation}#{key}"},
        "operationType": {"S": operation},
        "idempotencyKey": {"S": key},
        "status": {"S": "IN_PROGRESS"},
        "requestHash": {"S": REQUEST_HASH},
        "createdAt": {"S": "2025-10-29T12:00:00Z"},
        "updatedAt": {"S": "2025-10-29T12:00:00Z"},
        "expiresAt": {"S": "2025-10-30T12:00:00Z"},
        "ttl": {"N": str(int(time.time()) + life)},
    }
    return wire.call("PutItem", TableName=TABLE, Item=item, ConditionExpression="attribute_not_exists(pk)", **more)


def finish(wire, operation, key, status, response=None):
    values = {":status": {"S": status}, ":now": {"S": "2025-10-29T12:00:02Z"}, ":running": {"S": "IN_PROGRESS"}}
    expression = "SET #status = :status, updatedAt = :now"
    if response is not None:
        expression += ", responsePayload = :response"
        values[":response"] = {"S": json.dumps(response)}
    return wire.call(
        "UpdateItem",
        TableName=TABLE,
        Key={"pk": {"S": f"{operation}#{key}"}},
        UpdateExpression=expression,
        ConditionExpression="#status = :running",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues=values,
        ReturnValues="ALL_NEW",
    )["Attributes"]


def read(wire, operation, key):
    return wire.call("GetItem", TableName=TABLE, Key={"pk": {"S": f"{operation}#{key}"}}, ConsistentRead=True).get(
        "Item"
    )


def test_operation_is_begun_once_and_its_answer_kept(wire, table):
    begin(wire, "PRODUCE", "5c1e0a56")
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        begin(wire, "PRODUCE", "5c1e0a56")
    response = {"processedMessages": 100, "elapsed": "PT2.5S"}
    completed = finish(wire, "PRODUCE", "5c1e0a56", "COMPLETED", response)
    assert completed["status"] == {"S": "COMPLETED"}
    record = read(wire, "PRODUCE", "5c1e0a56")
    assert set(record) == {
        "pk",
        "operationType",
        "idempotencyKey",
        "status",
        "requestHash",
        "responsePayload",
        "createdAt",
        "updatedAt",
        "expiresAt",
        "ttl",
    }
    assert json.loads(record["responsePayload"]["S"]) == response


def test_repeat_learns_the_state_from_the_refusal(wire, table):
    begin(wire, "PRODUCE", "repeat")
    with refused("ConditionalCheckFailedException", CONDITION_FAILED) as seen:
        begin(wire, "PRODUCE", "repeat", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert (seen.body["Item"]["status"], seen.body["Item"]["requestHash"]) == (
        {"S": "IN_PROGRESS"},
        {"S": REQUEST_HASH},
    )


def test_produce_and_consume_do_not_share_keys(wire, table):
    begin(wire, "PRODUCE", "shared")
    begin(wire, "CONSUME", "shared")
    assert read(wire, "CONSUME", "shared")["operationType"] == {"S": "CONSUME"}


def test_failed_operation_is_marked_and_can_be_taken_over(wire, table):
    begin(wire, "CONSUME", "failing")
    assert finish(wire, "CONSUME", "failing", "FAILED")["status"] == {"S": "FAILED"}
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        finish(wire, "CONSUME", "failing", "COMPLETED", {})
    retry = {
        "TableName": TABLE,
        "Key": {"pk": {"S": "CONSUME#failing"}},
        "UpdateExpression": "SET #status = :running",
        "ConditionExpression": "#status = :failed OR #ttl < :now",
        "ExpressionAttributeNames": {"#status": "status", "#ttl": "ttl"},
        "ExpressionAttributeValues": {
            ":running": {"S": "IN_PROGRESS"},
            ":failed": {"S": "FAILED"},
            ":now": {"N": str(int(time.time()))},
        },
    }
    wire.call("UpdateItem", retry)
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        wire.call("UpdateItem", retry)


def test_one_of_many_simultaneous_requests_begins(server, wire, table):
    outcomes = []

    def attempt():
        own = Wire(server)
        try:
            begin(own, "PRODUCE", "race")
            outcomes.append("begun")
        except Exception as refusal:
            outcomes.append(refusal.code)
        own.close()

    threads = [threading.Thread(target=attempt) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["ConditionalCheckFailedException"] * 9 + ["begun"]


def test_record_goes_away_after_its_life(wire, table):
    begin(wire, "PRODUCE", "short", life=-5)
    eventually(lambda: read(wire, "PRODUCE", "short") is None)
    begin(wire, "PRODUCE", "short")
