"""Resource policies, contributor insights, and what AWS does between regions, as boto3 sees them, or where Debian's boto3
is older than an operation, as requests."""

import json

import pytest
from botocore.exceptions import ClientError
from wire import Refused


def code(call, **parameters):
    with pytest.raises(ClientError) as raised:
        call(**parameters)
    return raised.value.response["Error"]["Code"]


def refusal(wire, operation, **members):
    with pytest.raises(Refused) as raised:
        wire.call(operation, members)
    return raised.value.code


@pytest.fixture
def table(new_table):
    return new_table("pk:S sk:S")


@pytest.fixture
def arn(client, table):
    return client.describe_table(TableName=table)["Table"]["TableArn"]


def test_a_policy_is_set_shown_and_deleted(wire, arn):
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": "arn:aws:iam::123456789012:user/guest"},
                "Action": ["dynamodb:GetItem", "dynamodb:Query"],
                "Resource": arn,
            }
        ],
    }
    mine = {"ResourceArn": arn}
    assert refusal(wire, "GetResourcePolicy", **mine) == "PolicyNotFoundException"
    revision = wire.call("PutResourcePolicy", mine, Policy=json.dumps(policy))["RevisionId"]
    shown = wire.call("GetResourcePolicy", mine)
    assert (json.loads(shown["Policy"]), shown["RevisionId"]) == (policy, revision)
    assert wire.call("DeleteResourcePolicy", mine)["RevisionId"] == revision
    assert "RevisionId" not in wire.call("DeleteResourcePolicy", mine)


def test_a_policy_that_denies_holds_until_it_is_deleted(wire, client, table, arn):
    statement = {"Effect": "Deny", "Principal": "*", "Action": "dynamodb:PutItem", "Resource": arn}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    wire.call("PutResourcePolicy", ResourceArn=arn, Policy=policy)
    item = {"pk": {"S": "policy"}, "sk": {"S": "1"}}
    assert code(client.put_item, TableName=table, Item=item) == "AccessDeniedException"
    wire.call("DeleteResourcePolicy", ResourceArn=arn)
    client.put_item(TableName=table, Item=item)


def test_contributor_insights_are_switched_on_and_off(client, table):
    described = client.describe_contributor_insights(TableName=table)
    assert described["ContributorInsightsStatus"] == "DISABLED"
    answer = client.update_contributor_insights(
        TableName=table, ContributorInsightsAction="ENABLE"
    )
    assert answer["ContributorInsightsStatus"] == "ENABLING"
    described = client.describe_contributor_insights(TableName=table)
    assert described["ContributorInsightsStatus"] == "ENABLED"
    listed = client.list_contributor_insights(TableName=table)["ContributorInsightsSummaries"]
    assert [(each["TableName"], each["ContributorInsightsStatus"]) for each in listed] == [
        (table, "ENABLED")
    ]
    client.update_contributor_insights(TableName=table, ContributorInsightsAction="DISABLE")
    assert client.describe_contributor_insights(TableName=table)["ContributorInsightsStatus"] == "DISABLED"
    assert code(client.describe_contributor_insights, TableName="no-such-table") == "ResourceNotFoundException"
    assert (
        code(client.describe_contributor_insights, TableName=table, IndexName="no-such-index")
        == "ResourceNotFoundException"
    )


def test_what_needs_kinesis_or_other_regions_is_refused_and_told_of_as_none(wire, client, table):
    stream = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
    assert client.describe_kinesis_streaming_destination(TableName=table)["KinesisDataStreamDestinations"] == []
    for change in ("Enable", "Disable", "Update"):
        operation = change + "KinesisStreamingDestination"
        assert refusal(wire, operation, TableName=table, StreamArn=stream) == "ValidationException"
    assert code(client.describe_kinesis_streaming_destination, TableName="no-such-table") == "ResourceNotFoundException"
    assert client.list_global_tables()["GlobalTables"] == []
    assert code(client.describe_global_table, GlobalTableName="orders") == "GlobalTableNotFoundException"
    replica = [{"Create": {"RegionName": "eu-west-1"}}]
    assert code(client.update_table, TableName=table, ReplicaUpdates=replica) == "ValidationException"
    replicas = client.describe_table_replica_auto_scaling(TableName=table)["TableAutoScalingDescription"]
    assert replicas["Replicas"] == []
