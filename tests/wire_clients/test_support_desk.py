"""The single-table design of the support desk: tickets, feedback, events, sessions, idempotency keys and counters."""

import json
import time
import uuid
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from boto3.dynamodb.conditions import Attr, Key

from expectations import CONDITION_FAILED, invalid, refused
from tables import create_table

UNIFIED = "prod-tickets-unified"
METRICS = "prod-metrics"


@pytest.fixture(scope="module")
def unified(wire, dynamodb):
    """The table of the design's template, with its stream, tags, time to live and recovery."""
    create_table(
        wire,
        "PK:S SK:S",
        name=UNIFIED,
        global_indexes=[
            ("GSI1-customer-index", "GSI1PK:S GSI1SK:S"),
            ("GSI2-status-index", "GSI2PK:S GSI2SK:S"),
            ("GSI3-operator-index", "GSI3PK:S GSI3SK:S", ["ticket_id", "rating", "was_helpful"]),
            (
                "escalated-tickets-index",
                "escalated_at:S assigned_to:S",
                ["ticket_id", "priority", "customer_id", "escalation_reason"],
            ),
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        Tags=[{"Key": "Environment", "Value": "production"}, {"Key": "Application", "Value": "ai-technical-support"}],
    )
    specification = {"AttributeName": "ttl", "Enabled": True}
    wire.call("UpdateTimeToLive", TableName=UNIFIED, TimeToLiveSpecification=specification)
    recovery = {"PointInTimeRecoveryEnabled": True}
    wire.call("UpdateContinuousBackups", TableName=UNIFIED, PointInTimeRecoverySpecification=recovery)
    return dynamodb.Table(UNIFIED)


@pytest.fixture(scope="module")
def metrics(wire, dynamodb):
    create_table(wire, "metric_name:S", name=METRICS)
    return dynamodb.Table(METRICS)


def ticket(identity, customer, status, created):
    content = {
        "ticket_id": identity,
        "customer": {"id": customer, "tier": "ENTERPRISE"},
        "status": status,
        "created_at": created,
        "symptom_text": "Does not start any more",
        "priority": "P2",
    }
    return {
        "PK": f"TICKET#{identity}",
        "SK": "METADATA",
        "entity_type": "ticket",
        "ticket_id": identity,
        "customer_id": customer,
        "status": status,
        "created_at": created,
        "symptom_text": content["symptom_text"],
        "priority": "P2",
        "GSI1PK": f"CUSTOMER#{customer}",
        "GSI1SK": f"STATUS#{status}#{created}",
        "GSI2PK": f"STATUS#{status}",
        "GSI2SK": created,
        "data": content,
    }


def feedback(identity, operator, submitted, rating):
    return {
        "PK": f"TICKET#{identity}",
        "SK": f"FEEDBACK#{submitted}",
        "entity_type": "feedback",
        "ticket_id": identity,
        "operator_id": operator,
        "submitted_at": submitted,
        "rating": rating,
        "was_helpful": rating > 3,
        "GSI3PK": f"OPERATOR#{operator}",
        "GSI3SK": submitted,
        "data": {"operator_id": operator, "rating": rating},
    }


@pytest.fixture(scope="module")
def desk(unified):
    """Tickets t0 to t7 of two customers, with feedback for one of them."""
    with unified.batch_writer() as batch:
        for number in range(8):
            status = "PROCESSING" if number % 2 else "READY"
            customer = "cust_1" if number < 5 else "cust_2"
            batch.put_item(Item=ticket(f"t{number}", customer, status, f"2025-11-{10 + number}T10:00:00Z"))
        batch.put_item(Item=feedback("t0", "op_1", "2025-11-18T10:30:00Z", 5))
        batch.put_item(Item=feedback("t0", "op_2", "2025-11-19T09:00:00Z", 2))
        batch.put_item(Item=feedback("t1", "op_1", "2025-11-20T08:00:00Z", 4))
    return unified


def tickets_of(answer):
    return [item["data"]["ticket_id"] for item in answer["Items"]]


# ---- tickets


def test_ticket_by_id(desk):
    item = desk.get_item(Key={"PK": "TICKET#t3", "SK": "METADATA"})["Item"]
    assert item == ticket("t3", "cust_1", "PROCESSING", "2025-11-13T10:00:00Z")


@pytest.mark.parametrize(
    "status, limit, expected",
    [
        (None, 20, ["t4", "t2", "t0", "t3", "t1"]),
        ("PROCESSING", 20, ["t3", "t1"]),
        ("READY", 2, ["t4", "t2"]),
        ("FAILED", 20, []),
    ],
)
def test_tickets_of_a_customer(desk, status, limit, expected):
    condition = Key("GSI1PK").eq("CUSTOMER#cust_1")
    if status:
        condition &= Key("GSI1SK").begins_with(f"STATUS#{status}#")
    answer = desk.query(
        IndexName="GSI1-customer-index", KeyConditionExpression=condition, Limit=limit, ScanIndexForward=False
    )
    assert tickets_of(answer) == expected


@pytest.mark.parametrize(
    "start, end, expected",
    [
        (None, None, ["t7", "t5", "t3", "t1"]),
        ("2025-11-12", "2025-11-16", ["t5", "t3"]),
        ("2025-11-15T00:00:00Z", None, ["t7", "t5"]),
    ],
)
def test_tickets_in_a_state(desk, start, end, expected):
    condition = Key("GSI2PK").eq("STATUS#PROCESSING")
    if start and end:
        condition &= Key("GSI2SK").between(start, end)
    elif start:
        condition &= Key("GSI2SK").gte(start)
    answer = desk.query(
        IndexName="GSI2-status-index", KeyConditionExpression=condition, Limit=100, ScanIndexForward=False
    )
    assert tickets_of(answer) == expected


def test_ticket_with_all_its_feedback_in_one_query(desk):
    items = desk.query(KeyConditionExpression=Key("PK").eq("TICKET#t0"))["Items"]
    assert [item["SK"] for item in items] == [
        "FEEDBACK#2025-11-18T10:30:00Z",
        "FEEDBACK#2025-11-19T09:00:00Z",
        "METADATA",
    ]


def test_feedback_of_an_operator_as_far_as_the_index_projects(desk):
    items = desk.query(
        IndexName="GSI3-operator-index",
        KeyConditionExpression=Key("GSI3PK").eq("OPERATOR#op_1"),
        Limit=50,
        ScanIndexForward=False,
    )["Items"]
    assert [(item["ticket_id"], item["rating"], item["was_helpful"]) for item in items] == [
        ("t1", 4, True),
        ("t0", 5, True),
    ]
    assert all("data" not in item for item in items)


def test_filter_on_a_nested_attribute_reads_everything(desk):
    answer = desk.scan(FilterExpression=Attr("data.customer.tier").eq("ENTERPRISE"))
    assert answer["Count"] == 8
    assert answer["ScannedCount"] > 8


def test_scan_in_pages(desk):
    items, start = [], {}
    while True:
        answer = desk.scan(Limit=3, **start)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert len(items) == desk.scan(Select="COUNT")["Count"]


# ---- sessions and caches


def test_session_is_kept_until_it_expires(unified):
    session = f"sess_{uuid.uuid4()}"
    expiry = datetime.utcnow() + timedelta(hours=24)
    item = {
        "PK": f"SESSION#{session}",
        "SK": "METADATA",
        "entity_type": "session",
        "session_id": session,
        "user_id": "user_1",
        "expires_at": expiry.isoformat(),
        "ttl": int(time.time()) + 24 * 3600,
        "data": {"user_id": "user_1", "session_id": session},
    }
    unified.put_item(Item=item)
    stored = unified.get_item(Key={"PK": f"SESSION#{session}", "SK": "METADATA"})["Item"]
    assert stored["data"] == {"user_id": "user_1", "session_id": session}
    assert datetime.fromisoformat(stored["expires_at"]) > datetime.utcnow()


def test_idempotency_key_of_a_request(unified):
    item = {
        "PK": "IDEMPOTENCY#request-1",
        "SK": "METADATA",
        "response": json.dumps({"ticket_id": "t1"}),
        "ttl": int(time.time()) + 24 * 3600,
    }
    unified.put_item(Item=item, ConditionExpression="attribute_not_exists(PK)")
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        unified.put_item(Item=item, ConditionExpression="attribute_not_exists(PK)")


def test_cached_answer_may_be_of_any_shape(unified):
    data = {"answers": [{"score": Decimal("0.87"), "text": "Restart it"}], "hits": 2}
    unified.put_item(Item={"PK": "CACHE#query", "SK": "DATA", "data": data, "ttl": int(time.time()) + 900})
    assert unified.get_item(Key={"PK": "CACHE#query", "SK": "DATA"})["Item"]["data"] == data


# ---- events


def test_events_of_a_ticket_by_date_and_latest_first(unified):
    for day, number in [(15, 1), (15, 2), (18, 1), (18, 2), (18, 3), (21, 1)]:
        item = {
            "PK": "TICKET#events",
            "SK": f"EVENT#2025-11-{day}#{number:03d}",
            "entity_type": "event",
            "event_type": "note",
            "details": {"number": number},
        }
        unified.put_item(Item=item)
    partition = Key("PK").eq("TICKET#events")
    between = unified.query(
        KeyConditionExpression=partition & Key("SK").between("EVENT#2025-11-15#000", "EVENT#2025-11-20#999")
    )
    assert [item["SK"][-6:] for item in between["Items"]] == ["15#001", "15#002", "18#001", "18#002", "18#003"]
    latest = unified.query(
        KeyConditionExpression=partition & Key("SK").begins_with("EVENT#"), Limit=2, ScanIndexForward=False
    )
    assert [item["SK"][-6:] for item in latest["Items"]] == ["21#001", "18#003"]
    count = unified.query(
        KeyConditionExpression=partition & Key("SK").begins_with("EVENT#2025-11-18#"), Select="COUNT"
    )
    assert count["Count"] + 1 == 4  # the next sequence number of that day


# ---- transactions


def creation(identity, request):
    now = "2025-11-18T10:00:00"
    return [
        {
            "Put": {
                "TableName": UNIFIED,
                "Item": {
                    "PK": {"S": f"IDEMPOTENCY#{request}"},
                    "SK": {"S": "METADATA"},
                    "ticket_id": {"S": identity},
                    "created_at": {"S": now},
                    "ttl": {"N": str(int(time.time()) + 86_400)},
                },
                "ConditionExpression": "attribute_not_exists(PK)",
            }
        },
        {
            "Put": {
                "TableName": UNIFIED,
                "Item": {
                    "PK": {"S": f"TICKET#{identity}"},
                    "SK": {"S": "METADATA"},
                    "entity_type": {"S": "ticket"},
                    "ticket_id": {"S": identity},
                    "status": {"S": "NEW"},
                    "created_at": {"S": now},
                    "data": {"S": json.dumps({"ticket_id": identity})},
                },
            }
        },
        {
            "Put": {
                "TableName": UNIFIED,
                "Item": {
                    "PK": {"S": f"TICKET#{identity}"},
                    "SK": {"S": f"EVENT#{now}#001"},
                    "event_type": {"S": "ticket_created"},
                    "timestamp": {"S": now},
                },
            }
        },
    ]


def test_ticket_key_and_event_are_created_together_once(client, unified):
    client.transact_write_items(TransactItems=creation("created", "request-2"))
    items = unified.query(KeyConditionExpression=Key("PK").eq("TICKET#created"))["Items"]
    assert [item["SK"].partition("#")[0] for item in items] == ["EVENT", "METADATA"]
    with pytest.raises(client.exceptions.TransactionCanceledException) as failure:
        client.transact_write_items(TransactItems=creation("created again", "request-2"))
    codes = [reason["Code"] for reason in failure.value.response["CancellationReasons"]]
    assert codes == ["ConditionalCheckFailed", "None", "None"]
    assert unified.query(KeyConditionExpression=Key("PK").eq("TICKET#created again"))["Count"] == 0


def test_change_of_state_writes_its_event(client, unified):
    client.transact_write_items(TransactItems=creation("changing", "request-3"))
    now = "2025-11-18T11:00:00"
    client.transact_write_items(
        TransactItems=[
            {
                "Update": {
                    "TableName": UNIFIED,
                    "Key": {"PK": {"S": "TICKET#changing"}, "SK": {"S": "METADATA"}},
                    "UpdateExpression": "SET #status = :new_status, updated_at = :now",
                    "ExpressionAttributeNames": {"#status": "status"},
                    "ExpressionAttributeValues": {":new_status": {"S": "PROCESSING"}, ":now": {"S": now}},
                }
            },
            {
                "Put": {
                    "TableName": UNIFIED,
                    "Item": {
                        "PK": {"S": "TICKET#changing"},
                        "SK": {"S": f"EVENT#{now}#status_change"},
                        "event_type": {"S": "status_changed"},
                        "old_status": {"S": ""},
                        "new_status": {"S": "PROCESSING"},
                    },
                }
            },
        ]
    )
    item = unified.get_item(Key={"PK": "TICKET#changing", "SK": "METADATA"})["Item"]
    assert (item["status"], item["updated_at"]) == ("PROCESSING", now)


def test_tickets_are_read_in_a_batch(client, desk):
    keys = [{"PK": {"S": f"TICKET#t{number}"}, "SK": {"S": "METADATA"}} for number in (0, 3, 5, 99)]
    answer = client.batch_get_item(RequestItems={UNIFIED: {"Keys": keys}})
    assert sorted(item["ticket_id"]["S"] for item in answer["Responses"][UNIFIED]) == ["t0", "t3", "t5"]


# ---- escalation: an index that holds few items


def test_escalated_tickets_are_in_the_sparse_index(unified):
    unified.put_item(Item=ticket("urgent", "cust_9", "PROCESSING", "2025-11-18T10:00:00Z"))
    index = "escalated-tickets-index"
    assert unified.scan(IndexName=index)["Count"] == 0
    unified.update_item(
        Key={"PK": "TICKET#urgent", "SK": "METADATA"},
        UpdateExpression="SET #status = :escalated, escalated_at = :now, escalation_reason = :reason, "
        "assigned_to = :assigned",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={
            ":escalated": "ESCALATED",
            ":now": "2025-11-18T10:00:00",
            ":reason": "no answer",
            ":assigned": "engineer_1",
        },
    )
    (item,) = unified.scan(IndexName=index)["Items"]
    assert (item["ticket_id"], item["escalation_reason"], item["customer_id"]) == ("urgent", "no answer", "cust_9")
    assert "data" not in item
    found = unified.query(
        IndexName=index,
        KeyConditionExpression=Key("escalated_at").eq("2025-11-18T10:00:00") & Key("assigned_to").eq("engineer_1"),
    )
    assert found["Count"] == 1
    with invalid("Query key condition not supported"):  # the hash key of an index takes equality alone
        unified.query(IndexName=index, KeyConditionExpression=Key("escalated_at").gte("2000-01-01"))


# ---- counters from the stream


def count(metrics, status, amount):
    metrics.update_item(
        Key={"metric_name": f"tickets_by_status#{status}"},
        UpdateExpression="ADD count_value :amount",
        ExpressionAttributeValues={":amount": amount},
    )


def average(metrics, name, total, amount):
    metrics.update_item(
        Key={"metric_name": name},
        UpdateExpression=f"SET {total} = if_not_exists({total}, :zero) + :amount, "
        "count_value = if_not_exists(count_value, :zero) + :one",
        ExpressionAttributeValues={":amount": Decimal(str(amount)), ":one": 1, ":zero": 0},
    )


def process(metrics, record):
    """The aggregation of the design, for one record of the stream."""
    new, old = record["dynamodb"].get("NewImage", {}), record["dynamodb"].get("OldImage", {})
    if record["eventName"] == "MODIFY" and old.get("status") != new.get("status"):
        if "status" in old:
            count(metrics, old["status"]["S"], -1)
        count(metrics, new["status"]["S"], 1)
        if new["status"]["S"] == "READY" and "completed_at" in new:
            start, end = (datetime.fromisoformat(new[name]["S"]) for name in ("created_at", "completed_at"))
            average(metrics, "avg_resolution_time", "total_time", (end - start).total_seconds())
    elif record["eventName"] == "INSERT" and new["SK"]["S"].startswith("FEEDBACK#"):
        average(metrics, "customer_satisfaction", "total_ratings", int(new["rating"]["N"]))
    elif record["eventName"] == "INSERT" and new["SK"]["S"] == "METADATA" and "status" in new:
        count(metrics, new["status"]["S"], 1)


def test_stream_feeds_the_dashboard(client, streams, dynamodb, unified, metrics):
    arn = client.describe_table(TableName=UNIFIED)["Table"]["LatestStreamArn"]
    shards = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    positions = [
        streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="LATEST")[
            "ShardIterator"
        ]
        for shard in shards
    ]
    for number, status in enumerate(["NEW", "NEW", "NEW"]):
        unified.put_item(Item=ticket(f"counted{number}", "cust_3", status, "2025-11-18T10:00:00"))
    for number, status in [(0, "PROCESSING"), (1, "PROCESSING"), (0, "READY")]:
        unified.update_item(
            Key={"PK": f"TICKET#counted{number}", "SK": "METADATA"},
            UpdateExpression="SET #status = :status, completed_at = :done",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":status": status, ":done": "2025-11-18T10:02:30"},
        )
    unified.put_item(Item=feedback("counted0", "op_9", "2025-11-18T12:00:00Z", 4))
    for position in positions:
        for record in streams.get_records(ShardIterator=position)["Records"]:
            process(metrics, record)
    statuses = ["NEW", "PROCESSING", "READY", "FAILED", "ESCALATED"]
    answer = dynamodb.batch_get_item(
        RequestItems={METRICS: {"Keys": [{"metric_name": f"tickets_by_status#{status}"} for status in statuses]}}
    )
    counts = {item["metric_name"].split("#")[1]: int(item["count_value"]) for item in answer["Responses"][METRICS]}
    assert counts == {"NEW": 1, "PROCESSING": 1, "READY": 1}
    resolution = metrics.get_item(Key={"metric_name": "avg_resolution_time"})["Item"]
    assert resolution["total_time"] / resolution["count_value"] == 150
    satisfaction = metrics.get_item(Key={"metric_name": "customer_satisfaction"})["Item"]
    assert (satisfaction["total_ratings"], satisfaction["count_value"]) == (4, 1)


def test_settings_of_the_template(client, unified):
    table = client.describe_table(TableName=UNIFIED)["Table"]
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    tags = client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {
        "Environment": "production",
        "Application": "ai-technical-support",
    }
    time_to_live = client.describe_time_to_live(TableName=UNIFIED)["TimeToLiveDescription"]
    assert time_to_live == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    backups = client.describe_continuous_backups(TableName=UNIFIED)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
