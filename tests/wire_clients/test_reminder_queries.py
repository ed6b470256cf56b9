"""The access patterns of payment reminders: drafts, sent records and templates in one table with one index."""

from decimal import Decimal

import pytest
from boto3.dynamodb.conditions import Attr, Key

from tables import create_table

DRAFT = {
    "PK": "CUSTOMER#cust_001",
    "SK": "DRAFT#20250921_143022_cust_001",
    "GSI1PK": "STATUS#draft",
    "GSI1SK": "2025-09-21T14:30:22Z",
    "customer_id": "cust_001",
    "customer_name": "John Doe",
    "customer_email": "john@example.com",
    "reminder_type": "first",
    "email_subject": "Payment Reminder from Innovate AI",
    "email_content": "Dear John...",
    "status": "draft",
    "created_date": "2025-09-21T14:30:22Z",
    "created_by": "ai_system",
    "overdue_amount": Decimal("1500.00"),
    "overdue_invoices": ["INV-001", "INV-002"],
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
    "version": 1,
    "branding": "innovate_ai",
}


def sent(customer, kind, when):
    """A sent record as the schema has it; the time in the sort key has no separators."""
    compact = when.replace("-", "").replace(":", "").replace("T", "_").rstrip("Z")
    return {
        "PK": f"CUSTOMER#{customer}",
        "SK": f"SENT#{compact}_{kind}",
        "GSI1PK": "STATUS#sent",
        "GSI1SK": when,
        "customer_id": customer,
        "reminder_type": kind,
        "email_subject": "Payment Reminder from Innovate AI",
        "status": "sent",
        "sent_date": when,
        "approved_by": "user_123",
        "ses_message_id": "0000014a-f4d4-4f41-9d83-8c0a6df0c5a1-000000",
        "delivery_status": "delivered",
    }


@pytest.fixture(scope="module")
def tracking(wire, dynamodb):
    create_table(wire, "PK:S SK:S", name="EmailTrackingTable", global_indexes=[("GSI1", "GSI1PK:S GSI1SK:S")])
    table = dynamodb.Table("EmailTrackingTable")
    with table.batch_writer() as batch:
        batch.put_item(Item=DRAFT)
        batch.put_item(
            Item={
                **DRAFT,
                "PK": "CUSTOMER#cust_002",
                "SK": "DRAFT#20250920_090000_cust_002",
                "GSI1SK": "2025-09-20T09:00:00Z",
                "customer_id": "cust_002",
            }
        )
        batch.put_item(Item=TEMPLATE)
        batch.put_item(Item=sent("cust_001", "first", "2025-09-01T15:00:00Z"))
        batch.put_item(Item=sent("cust_001", "second", "2025-09-10T15:00:00Z"))
        batch.put_item(Item=sent("cust_001", "first", "2025-09-21T15:00:00Z"))
        batch.put_item(Item=sent("cust_002", "first", "2025-09-15T08:00:00Z"))
    return table


def test_draft_comes_back_whole(tracking):
    assert tracking.get_item(Key={"PK": DRAFT["PK"], "SK": DRAFT["SK"]})["Item"] == DRAFT


def test_drafts_pending_approval_in_order_of_time(tracking):
    answer = tracking.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("STATUS#draft"))
    assert [item["customer_id"] for item in answer["Items"]] == ["cust_002", "cust_001"]


def test_history_of_a_customer(tracking):
    answer = tracking.query(
        KeyConditionExpression=Key("PK").eq("CUSTOMER#cust_001") & Key("SK").begins_with("SENT#"),
        ScanIndexForward=False,
    )
    assert [(item["sent_date"][:10], item["reminder_type"]) for item in answer["Items"]] == [
        ("2025-09-21", "first"),
        ("2025-09-10", "second"),
        ("2025-09-01", "first"),
    ]


@pytest.mark.parametrize(
    "kind, cutoff, found",
    [
        ("first", "2025-09-14T00:00:00", 1),
        ("first", "2025-08-01T00:00:00", 2),
        ("first", "2025-09-22T00:00:00", 0),
        ("second", "2025-09-05T00:00:00", 1),
        ("final", "2025-01-01T00:00:00", 0),
    ],
)
def test_recent_emails_of_a_type(tracking, kind, cutoff, found):
    answer = tracking.query(
        KeyConditionExpression="PK = :pk",
        FilterExpression="reminder_type = :reminder_type AND sent_date > :cutoff_date",
        ExpressionAttributeValues={
            ":pk": "CUSTOMER#cust_001",
            ":reminder_type": kind,
            ":cutoff_date": cutoff,
        },
    )
    assert (answer["Count"], answer["ScannedCount"]) == (found, 4)


def test_sent_emails_in_a_range_of_dates(tracking):
    answer = tracking.query(
        IndexName="GSI1",
        KeyConditionExpression=Key("GSI1PK").eq("STATUS#sent")
        & Key("GSI1SK").between("2025-09-10T00:00:00Z", "2025-09-20T23:59:59Z"),
    )
    assert [item["customer_id"] for item in answer["Items"]] == ["cust_001", "cust_002"]


def test_active_template(tracking):
    answer = tracking.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("STATUS#active"))
    assert answer["Items"] == [TEMPLATE]


def test_approval_turns_a_draft_into_a_sent_record_once(tracking, client):
    """The draft is marked and the sent record written together; a second approval finds the draft taken."""
    record = sent("cust_002", "second", "2025-09-25T10:00:00Z")
    actions = [
        {
            "Update": {
                "TableName": tracking.name,
                "Key": {"PK": {"S": "CUSTOMER#cust_002"}, "SK": {"S": "DRAFT#20250920_090000_cust_002"}},
                "UpdateExpression": "SET #status = :approved, GSI1PK = :index",
                "ConditionExpression": "#status = :draft",
                "ExpressionAttributeNames": {"#status": "status"},
                "ExpressionAttributeValues": {
                    ":approved": {"S": "approved"},
                    ":draft": {"S": "draft"},
                    ":index": {"S": "STATUS#approved"},
                },
            }
        },
        {
            "Put": {
                "TableName": tracking.name,
                "Item": {name: {"S": value} for name, value in record.items()},
                "ConditionExpression": "attribute_not_exists(PK)",
            }
        },
    ]
    client.transact_write_items(TransactItems=actions)
    with pytest.raises(client.exceptions.TransactionCanceledException) as failure:
        client.transact_write_items(TransactItems=actions)
    codes = [reason["Code"] for reason in failure.value.response["CancellationReasons"]]
    assert codes == ["ConditionalCheckFailed", "ConditionalCheckFailed"]
    drafts = tracking.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("STATUS#draft"))
    assert [item["customer_id"] for item in drafts["Items"]] == ["cust_001"]


def test_amounts_are_exact(tracking):
    answer = tracking.scan(FilterExpression=Attr("overdue_amount").eq(Decimal("1500")))
    assert answer["Count"] == 2


def test_backups_are_on(tracking, client):
    client.update_continuous_backups(
        TableName=tracking.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    description = client.describe_continuous_backups(TableName=tracking.name)["ContinuousBackupsDescription"]
    assert description["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
