"""Programs of the system that the desk replaces: their functions, written by its rules with boto3, read what the desk has
written, and the desk reads what they write."""

import datetime
import json
import uuid
from decimal import Decimal

import pytest
from boto3.dynamodb.conditions import Key
from store import dynamodb
from tickets import move, open_ticket
from waiting import eventually

TABLE = "prod-tickets-unified"
FORMS = ("map", "json")


@pytest.fixture(params=FORMS)
def server(start, request):
    return start("--tickets-data", request.param)


@pytest.fixture
def table(server):
    return dynamodb(server, "resource").Table(TABLE)


def as_dict(data):
    """Some of the functions read a map, others JSON."""
    return json.loads(data) if isinstance(data, str) else data


def put_ticket(table, ticket):
    table.put_item(
        Item={
            "PK": f"TICKET#{ticket['ticket_id']}",
            "SK": "METADATA",
            "entity_type": "ticket",
            "ticket_id": ticket["ticket_id"],
            "customer_id": ticket["customer"]["id"],
            "status": ticket["status"],
            "created_at": ticket["created_at"],
            "symptom_text": ticket["symptom_text"],
            "priority": ticket["priority"],
            "GSI1PK": f"CUSTOMER#{ticket['customer']['id']}",
            "GSI1SK": f"STATUS#{ticket['status']}#{ticket['created_at']}",
            "GSI2PK": f"STATUS#{ticket['status']}",
            "GSI2SK": ticket["created_at"],
            "data": ticket,
        }
    )


def former_ticket(customer="cust_9", status="PROCESSING"):
    return {
        "ticket_id": f"tkt_{uuid.uuid4()}",
        "customer": {"id": customer, "tier": "ENTERPRISE"},
        "status": status,
        "created_at": datetime.datetime.utcnow().isoformat(),
        "symptom_text": "Does not start any more",
        "priority": "P2",
        "ai_answer": {"confidence": Decimal("0.93"), "steps": ["Restart it."]},
    }


def get_ticket(table, identifier):
    item = table.get_item(Key={"PK": f"TICKET#{identifier}", "SK": "METADATA"}).get("Item", {})
    return as_dict(item.get("data"))


def tickets_by_customer(table, customer, status=None, limit=20):
    condition = Key("GSI1PK").eq(f"CUSTOMER#{customer}")
    if status:
        condition &= Key("GSI1SK").begins_with(f"STATUS#{status}#")
    page = table.query(
        IndexName="GSI1-customer-index", KeyConditionExpression=condition, Limit=limit, ScanIndexForward=False
    )
    return [as_dict(item["data"]) for item in page["Items"]]


def tickets_by_status(table, status, start=None, end=None):
    condition = Key("GSI2PK").eq(f"STATUS#{status}")
    if start and end:
        condition &= Key("GSI2SK").between(start, end)
    page = table.query(IndexName="GSI2-status-index", KeyConditionExpression=condition, Limit=100, ScanIndexForward=False)
    return [as_dict(item["data"]) for item in page["Items"]]


def put_feedback(table, identifier, feedback):
    table.put_item(
        Item={
            "PK": f"TICKET#{identifier}",
            "SK": f"FEEDBACK#{feedback['submitted_at']}",
            "entity_type": "feedback",
            "ticket_id": identifier,
            "operator_id": feedback["operator_id"],
            "submitted_at": feedback["submitted_at"],
            "rating": feedback["rating"],
            "GSI3PK": f"OPERATOR#{feedback['operator_id']}",
            "GSI3SK": feedback["submitted_at"],
            "data": feedback,
        }
    )


def ticket_with_feedback(table, identifier):
    items = table.query(KeyConditionExpression=Key("PK").eq(f"TICKET#{identifier}"))["Items"]
    (ticket,) = [as_dict(item["data"]) for item in items if item["SK"] == "METADATA"]
    return ticket, [item["data"] for item in items if item["SK"].startswith("FEEDBACK#")]


def feedback_by_operator(table, operator):
    page = table.query(
        IndexName="GSI3-operator-index",
        KeyConditionExpression=Key("GSI3PK").eq(f"OPERATOR#{operator}"),
        Limit=50,
        ScanIndexForward=False,
    )
    return [item["data"] for item in page["Items"]]


def ids(tickets):
    return [each["ticket_id"] for each in tickets]


def test_the_table_is_that_of_the_template(server):
    client = dynamodb(server)
    description = client.describe_table(TableName=TABLE)["Table"]
    assert {each["AttributeName"]: each["KeyType"] for each in description["KeySchema"]} == {"PK": "HASH", "SK": "RANGE"}
    indexes = {each["IndexName"]: each["Projection"]["ProjectionType"] for each in description["GlobalSecondaryIndexes"]}
    assert indexes == {
        "GSI1-customer-index": "ALL",
        "GSI2-status-index": "ALL",
        "GSI3-operator-index": "INCLUDE",
        "escalated-tickets-index": "INCLUDE",
    }
    assert description["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    expiry = client.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]
    assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    backups = client.describe_continuous_backups(TableName=TABLE)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    tags = {each["Key"] for each in client.list_tags_of_resource(ResourceArn=description["TableArn"])["Tags"]}
    assert tags >= {"Environment", "Application"}


def test_former_programs_read_what_the_desk_writes(server, table):
    rest = server.rest()
    identifier = open_ticket(rest, headers={"Idempotency-Key": "k-1"})
    stored = get_ticket(table, identifier)
    assert stored["symptom_text"] == "It restarts every ten minutes." and stored["customer"]["id"] == "cust_1"
    assert ids(tickets_by_customer(table, "cust_1", "NEW")) == [identifier]
    move(rest, identifier, "PROCESSING")
    assert ids(tickets_by_customer(table, "cust_1", "NEW")) == []
    assert ids(tickets_by_status(table, "PROCESSING", "2020-01-01", "2100-01-01")) == [identifier]
    assert tickets_by_status(table, "PROCESSING")[0]["status"] == "PROCESSING"
    answer = rest.post(f"/tickets/{identifier}/feedback", {"operator_id": "op_1", "rating": 5})
    assert answer.status == 201, answer
    ticket, feedback = ticket_with_feedback(table, identifier)
    assert ticket["ticket_id"] == identifier and feedback[0]["rating"] == 5
    assert feedback_by_operator(table, "op_1")[0]["operator_id"] == "op_1"
    key = table.get_item(Key={"PK": "IDEMPOTENCY#k-1", "SK": "METADATA"})["Item"]
    assert json.loads(key["response"])["ticket_id"] == identifier and key["ttl"] > 0
    events = table.query(KeyConditionExpression=Key("PK").eq(f"TICKET#{identifier}") & Key("SK").begins_with("EVENT#"))
    assert [each["SK"].rsplit("#", 1)[1] for each in events["Items"]] == ["001", "002", "003"]


def test_the_desk_reads_what_former_programs_write(server, table):
    rest = server.rest()
    made = former_ticket()
    identifier = made["ticket_id"]
    put_ticket(table, made)
    shown = rest.fetch(f"/tickets/{identifier}")
    assert shown["status"] == "PROCESSING" and shown["data"]["ai_answer"] == {"confidence": 0.93, "steps": ["Restart it."]}
    assert ids(rest.fetch("/tickets", customer_id="cust_9")["data"]) == [identifier]
    now = datetime.datetime.utcnow().isoformat()
    put_feedback(table, identifier, {"operator_id": "op_7", "submitted_at": now, "rating": 2, "comments": "Slow"})
    assert rest.fetch(f"/tickets/{identifier}/feedback")["data"][0]["comments"] == "Slow"
    assert ids(rest.fetch("/tickets/feedback", operator_id="op_7")["data"]) == [identifier]
    # Their own way to change a status leaves the keys of the indexes as they were: the desk completes them.
    table.update_item(
        Key={"PK": f"TICKET#{identifier}", "SK": "METADATA"},
        UpdateExpression="SET #s = :s, escalated_at = :at, assigned_to = :who, escalation_reason = :why",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":s": "ESCALATED", ":at": now, ":who": "eng_7", ":why": "hard"},
    )
    assert rest.fetch(f"/tickets/{identifier}")["assigned_to"] == "eng_7"
    eventually(lambda: ids(rest.fetch("/tickets/escalated", engineer="eng_7")["data"]) == [identifier], "its place in the list")
    assert ids(rest.fetch("/tickets", priority="P2", status="ESCALATED")["data"]) == [identifier]
    moved = move(rest, identifier, "PROCESSING", seen_status="ESCALATED")
    assert "escalated_at" not in moved
    stored = get_ticket(table, identifier)
    assert stored["ai_answer"]["steps"] == ["Restart it."], "what others have added stays"


def test_a_repeated_key_of_a_former_program_is_answered(server, table):
    response = {"ticket_id": "tkt_of_theirs", "status": "PROCESSING", "created_at": "2026-01-02T03:04:05.678901"}
    expiry = int(datetime.datetime.now().timestamp()) + 3600
    table.put_item(
        Item={"PK": "IDEMPOTENCY#theirs", "SK": "METADATA", "response": json.dumps(response), "ttl": expiry}
    )
    answer = server.rest().post(
        "/tickets",
        {"customer": {"id": "c"}, "symptom_text": "long enough to be one"},
        {"Idempotency-Key": "theirs"},
    )
    told = {**response, "created_at": response["created_at"] + "Z", "status_url": "/tickets/tkt_of_theirs"}
    assert answer.status == 202 and answer.json == told, answer
