"""Policies of access keys, with AWS's own client: what a key may not do is refused in AWS's words, and does nothing."""


import boto3
import pytest
from boto3.dynamodb.conditions import Key
from botocore.exceptions import ClientError

from conftest import BINARY
from postino_server import Server

# As the documents of the support desk have it.
OWN_TICKETS = """
{
  "Effect": "Allow",
  "Action": "dynamodb:Query",
  "Resource": "arn:aws:dynamodb:*:*:table/tickets/index/customer-index",
  "Condition": {
    "ForAllValues:StringEquals": {
      "dynamodb:LeadingKeys": ["CUSTOMER#${cognito-identity.amazonaws.com:sub}"]
    }
  }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("policies")


@pytest.fixture(scope="module")
def guarded(folder):
    (folder / "tickets.json").write_text(OWN_TICKETS)
    flags = ["--access-key", "DESK:desk-secret", "--access-key", "ANNA:anna-secret"]
    flags += ["--policy", f"ANNA={folder / 'tickets.json'}", "--principal", "ANNA:cognito-identity.amazonaws.com:sub=17"]
    with Server(BINARY, folder / "data", *flags) as server:
        yield server


def resource(server, key, secret):
    return boto3.resource(
        "dynamodb",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
    )


@pytest.fixture(scope="module")
def desk(guarded):
    table = resource(guarded, "DESK", "desk-secret").create_table(
        TableName="tickets",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "GSI1PK")],
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "customer-index",
                "KeySchema": [{"AttributeName": "GSI1PK", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    for number, customer in (("1", "17"), ("2", "17"), ("3", "18")):
        table.put_item(Item={"PK": f"TICKET#{number}", "GSI1PK": f"CUSTOMER#{customer}"})
    return table


@pytest.fixture(scope="module")
def anna(guarded, desk):
    return resource(guarded, "ANNA", "anna-secret").Table("tickets")


def denial(call, **parameters):
    with pytest.raises(ClientError) as refused:
        call(**parameters)
    assert refused.value.response["Error"]["Code"] == "AccessDeniedException"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return refused.value.response["Error"]["Message"]


def test_a_customer_reads_its_own_tickets_and_no_others(anna):
    def tickets_of(customer):
        condition = Key("GSI1PK").eq(f"CUSTOMER#{customer}")
        return anna.query(IndexName="customer-index", KeyConditionExpression=condition)["Items"]

    assert {item["PK"] for item in tickets_of("17")} == {"TICKET#1", "TICKET#2"}
    assert denial(tickets_of, customer="18") == (
        "User: arn:aws:iam::123456789012:user/ANNA is not authorized to perform: dynamodb:Query on resource: "
        "arn:aws:dynamodb:us-east-1:123456789012:table/tickets/index/customer-index because no identity-based policy "
        "allows the dynamodb:Query action"
    )


def test_what_is_denied_changes_nothing(anna, desk):
    before = desk.scan()["Items"]
    denial(anna.put_item, Item={"PK": "TICKET#1"})
    denial(anna.delete_item, Key={"PK": "TICKET#1"})
    denial(anna.delete)
    denial(anna.scan)
    denial(anna.meta.client.list_tables)
    delete = {"Delete": {"TableName": "tickets", "Key": {"PK": "TICKET#1"}}}
    denial(anna.meta.client.transact_write_items, TransactItems=[delete])
    denial(anna.meta.client.execute_statement, Statement="DELETE FROM tickets WHERE PK = 'TICKET#1'")
    assert desk.scan()["Items"] == before


def test_a_policy_that_makes_no_sense_keeps_the_server_from_starting(folder):
    policy = folder / "wrong.json"
    policy.write_text(OWN_TICKETS.replace("LeadingKeys", "LeadingKey"))
    with pytest.raises(RuntimeError, match="dynamodb:LeadingKey: is no condition key that is known here"):
        Server(BINARY, folder / "other", "--access-key", "A:b", "--policy", f"A={policy}")
