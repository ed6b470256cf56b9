"""Programs that know the table of reminders by its document alone: what they write with boto3 is understood, and their
own queries find what the service has written."""

import datetime
from decimal import Decimal

import pytest
from boto3.dynamodb.conditions import Attr, Key

from store import dynamodb
from waiting import eventually

TABLE = "EmailTrackingTable"
FROM = ("--reminders-from", "Billing <billing@shop.example>")


def iso(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def compact(moment):
    return moment.strftime("%Y%m%d_%H%M%S")


def days_ago(count):
    return datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=count)


def draft_item(customer, moment):
    return {
        "PK": f"CUSTOMER#{customer}",
        "SK": f"DRAFT#{compact(moment)}_{customer}",
        "GSI1PK": "STATUS#draft",
        "GSI1SK": iso(moment),
        "customer_id": customer,
        "customer_name": "John Doe",
        "customer_email": "john@customer.example",
        "reminder_type": "first",
        "email_subject": "Payment Reminder from Innovate AI",
        "email_content": "Dear John...",
        "status": "draft",
        "created_date": iso(moment),
        "created_by": "ai_system",
        "overdue_amount": Decimal("1500.00"),
        "overdue_invoices": ["INV-001", "INV-002"],
    }


def sent_item(customer, moment, kind="first"):
    return {
        "PK": f"CUSTOMER#{customer}",
        "SK": f"SENT#{compact(moment)}_{kind}",
        "GSI1PK": "STATUS#sent",
        "GSI1SK": iso(moment),
        "customer_id": customer,
        "reminder_type": kind,
        "email_subject": "Payment Reminder from Innovate AI",
        "email_content": "Dear John...",
        "status": "sent",
        "sent_date": iso(moment),
        "approved_by": "user_123",
        "ses_message_id": "0000014a-f4d4-4f41-9d83-8c0a6df0c5a1-000000",
        "delivery_status": "delivered",
    }


TEMPLATE = {
    "PK": "TEMPLATE#reminder_first",
    "SK": "VERSION#1",
    "GSI1PK": "STATUS#active",
    "GSI1SK": "2025-09-21T12:00:00Z",
    "template_id": "reminder_first",
    "template_name": "First Reminder Template",
    "template_type": "first_reminder",
    "subject_template": "Payment Reminder: Invoice {{invoice_id}} - Innovate AI",
    "body_template": "Dear {{customer_name}}...",
    "status": "active",
    "created_date": "2025-09-21T12:00:00Z",
    "version": 1,
    "branding": "innovate_ai",
}


@pytest.fixture
def server(start, recorder):
    return start("--smtp", recorder.address, *FROM)


@pytest.fixture
def table(server):
    return dynamodb(server, "resource").Table(TABLE)


def test_the_table_is_that_of_the_document(server):
    client = dynamodb(server)
    description = client.describe_table(TableName=TABLE)["Table"]
    keys = {each["AttributeName"]: each["KeyType"] for each in description["KeySchema"]}
    assert keys == {"PK": "HASH", "SK": "RANGE"}
    (index,) = description["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "GSI1"
    assert {each["AttributeName"] for each in index["KeySchema"]} == {"GSI1PK", "GSI1SK"}
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    expiry = client.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]
    assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    backups = client.describe_continuous_backups(TableName=TABLE)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


def test_what_boto3_writes_is_understood(server, table):
    rest = server.rest()
    made = draft_item("cust_001", days_ago(1))
    table.put_item(Item=made)
    old = draft_item("cust_001", datetime.datetime(2025, 9, 21, 14, 30, 22))
    table.put_item(Item=old)
    table.put_item(Item=sent_item("cust_001", days_ago(3)))
    table.put_item(Item=TEMPLATE)

    (pending,) = rest.fetch("/reminders/drafts")["data"]
    assert pending["id"] == made["SK"].removeprefix("DRAFT#")
    for name in ("customer_id", "customer_name", "customer_email", "reminder_type", "email_subject", "email_content"):
        assert pending[name] == made[name]
    assert pending["overdue_amount"] == "1500.00" and pending["overdue_invoices"] == ["INV-001", "INV-002"]
    # The one that was sent three days ago counts.
    assert pending["decision"]["rule"] == "too_soon"
    assert rest.fetch("/reminders/drafts/20250921_143022_cust_001")["status"] == "expired"
    refused = rest.post(f"/reminders/drafts/{pending['id']}/approve", {"revision": 1, "approved_by": "user_123"})
    assert refused.problem["code"] == "REMINDER_RULE", refused

    (sent,) = rest.fetch("/reminders/customers/cust_001/history")["data"]
    assert sent["delivery_status"] == "delivered" and sent["approved_by"] == "user_123"
    assert len(rest.fetch("/reminders/sent")["data"]) == 1
    template = rest.fetch("/reminders/templates/reminder_first")
    assert template["version"] == 1 and template["body_template"] == TEMPLATE["body_template"]
    preview = rest.post("/reminders/templates/reminder_first/preview", {})
    assert preview.json["email_subject"] == "Payment Reminder: Invoice INV-001 - Innovate AI", preview


def test_what_boto3_drafted_is_approved_and_sent(server, table, recorder):
    rest = server.rest()
    made = draft_item("cust_002", days_ago(1))
    table.put_item(Item={**made, "note": "of another program"})
    identifier = made["SK"].removeprefix("DRAFT#")
    sent = rest.post(f"/reminders/drafts/{identifier}/approve", {"revision": 1, "approved_by": "user_123"})
    assert sent.status == 200, sent
    (mail,) = recorder.await_mail()
    assert mail.message["Subject"] == "Payment Reminder from Innovate AI"
    item = table.get_item(Key={"PK": made["PK"], "SK": made["SK"]})["Item"]
    assert item["status"] == "approved" and item["note"] == "of another program"


def test_the_queries_of_the_document_find_what_the_service_wrote(server, table, recorder):
    rest = server.rest()
    start_date = iso(days_ago(1))
    details = {"customer_name": "John Doe", "customer_email": "john@customer.example"}
    assert rest.put("/reminders/customers/cust_003", details).status == 200
    invoice = {"amount": "1500.00", "currency": "USD", "due_date": "2026-01-31"}
    assert rest.put("/reminders/customers/cust_003/invoices/INV-001", invoice).status == 200
    asked = {"customer_id": "cust_003", "reminder_type": "first", "created_by": "ai_system"}
    text = {"email_subject": "Please pay", "email_content": "Dear John..."}
    first, second = (rest.post("/reminders/drafts", {**asked, **text}).json["id"] for _ in range(2))

    drafts = table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("STATUS#draft"))["Items"]
    assert {each["SK"] for each in drafts} == {f"DRAFT#{first}", f"DRAFT#{second}"}
    expected = draft_item("cust_003", days_ago(0)).keys()
    for each in drafts:
        assert expected <= each.keys()
        assert each["overdue_amount"] == Decimal("1500") and each["overdue_invoices"] == ["INV-001"]
        assert each["created_by"] == "ai_system" and each["email_content"] == "Dear John..."

    answer = rest.post(f"/reminders/drafts/{first}/approve", {"revision": 1, "approved_by": "user_123"})
    assert answer.status == 200, answer
    recorder.await_mail()
    history = Key("PK").eq("CUSTOMER#cust_003") & Key("SK").begins_with("SENT#")

    def delivered():
        (item,) = table.query(KeyConditionExpression=history)["Items"]
        return item if item["delivery_status"] == "sent" else None

    sent = eventually(delivered, "the mail server's answer in the record")
    assert sent_item("cust_003", days_ago(0)).keys() <= sent.keys()
    assert sent["approved_by"] == "user_123" and sent["status"] == "sent"

    # As the document has it: recent ones of a type, and those of a range of dates.
    response = table.query(
        KeyConditionExpression="PK = :pk",
        FilterExpression="reminder_type = :reminder_type AND sent_date > :cutoff_date",
        ExpressionAttributeValues={
            ":pk": "CUSTOMER#cust_003",
            ":reminder_type": "first",
            ":cutoff_date": days_ago(7).replace(tzinfo=None).isoformat(),
        },
    )
    assert [each["SK"] for each in response["Items"]] == [sent["SK"]]
    in_range = Key("GSI1PK").eq("STATUS#sent") & Key("GSI1SK").between(start_date, iso(days_ago(-1)))
    found = table.query(IndexName="GSI1", KeyConditionExpression=in_range)["Items"]
    assert [each["SK"] for each in found] == [sent["SK"]]
    drafts = table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("STATUS#draft"))["Items"]
    assert [each["SK"] for each in drafts] == [f"DRAFT#{second}"]
    by_type = table.query(KeyConditionExpression=history, FilterExpression=Attr("reminder_type").eq("second"))
    assert by_type["Items"] == []


def test_templates_are_found_as_the_document_says(server, table):
    rest = server.rest()
    template = {
        "template_name": "Second Reminder Template",
        "template_type": "second_reminder",
        "subject_template": "Invoice {{invoice_id}}",
        "body_template": "Dear {{customer_name}}...",
    }
    for _ in range(2):
        answer = rest.post("/reminders/templates/reminder_second/versions", template)
        assert answer.status == 201, answer
    assert rest.post("/reminders/templates/reminder_second/activate", {"version": 2}).status == 200
    active = table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("STATUS#active"))["Items"]
    (item,) = active
    assert (item["PK"], item["SK"], item["version"]) == ("TEMPLATE#reminder_second", "VERSION#2", 2)
    assert TEMPLATE.keys() - {"branding"} <= item.keys()
    for name, value in template.items():
        assert item[name] == value
