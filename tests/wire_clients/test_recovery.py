"""Point-in-time recovery as boto3 and the AWS CLI use it."""

import json
import subprocess

import pytest
from botocore.exceptions import ClientError

from expectations import eventually
from postino_server import PATIENCE_SECONDS
from tables import fresh_name


@pytest.fixture
def prices(client, dynamodb):
    name = fresh_name("prices")
    table = dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "kind", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-kind",
                "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    client.update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    return table


def latest(client, table):
    description = client.describe_continuous_backups(TableName=table.name)["ContinuousBackupsDescription"]
    return description["PointInTimeRecoveryDescription"]["LatestRestorableDateTime"]


def in_a_later_second(client, table, second):
    eventually(lambda: latest(client, table) > second)


def active(client, name):
    eventually(lambda: client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE")


def test_a_table_is_brought_back_with_its_indexes(client, dynamodb, prices):
    prices.put_item(Item={"id": "stamp", "kind": "post", "cents": 95})
    prices.put_item(Item={"id": "card", "kind": "post", "cents": 60})
    second = latest(client, prices)
    in_a_later_second(client, prices, second)
    prices.put_item(Item={"id": "stamp", "kind": "none", "cents": 0})
    prices.delete_item(Key={"id": "card"})

    name = fresh_name("restored")
    answer = client.restore_table_to_point_in_time(
        SourceTableName=prices.name, TargetTableName=name, RestoreDateTime=second
    )["TableDescription"]
    assert answer["TableStatus"] == "CREATING"
    assert answer["RestoreSummary"]["RestoreInProgress"] is True
    assert answer["RestoreSummary"]["RestoreDateTime"] == second
    active(client, name)
    found = dynamodb.Table(name).query(
        IndexName="by-kind",
        KeyConditionExpression="kind = :post",
        ExpressionAttributeValues={":post": "post"},
    )["Items"]
    assert {item["id"]: int(item["cents"]) for item in found} == {"stamp": 95, "card": 60}


def test_exceptions_have_their_names(client, prices):
    restore = {"SourceTableName": prices.name, "TargetTableName": fresh_name("restored")}
    with pytest.raises(client.exceptions.InvalidRestoreTimeException):
        client.restore_table_to_point_in_time(**restore, RestoreDateTime=1_500_000_000)
    with pytest.raises(client.exceptions.TableAlreadyExistsException):
        client.restore_table_to_point_in_time(
            SourceTableName=prices.name, TargetTableName=prices.name, UseLatestRestorableTime=True
        )
    with pytest.raises(client.exceptions.TableNotFoundException):
        client.restore_table_to_point_in_time(
            SourceTableName="no-such-table", TargetTableName="other", UseLatestRestorableTime=True
        )
    client.update_continuous_backups(
        TableName=prices.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False}
    )
    with pytest.raises(client.exceptions.PointInTimeRecoveryUnavailableException):
        client.restore_table_to_point_in_time(**restore, UseLatestRestorableTime=True)
    with pytest.raises(ClientError, match="but not both"):
        client.restore_table_to_point_in_time(**restore)


def test_the_aws_cli_restores_without_indexes(server, client, prices):
    prices.put_item(Item={"id": "stamp", "kind": "post"})
    name = fresh_name("restored")
    command = ["/usr/bin/aws", "--endpoint-url", server.endpoint, "--output", "json", "dynamodb"]
    command += ["restore-table-to-point-in-time", "--source-table-name", prices.name, "--target-table-name", name]
    command += ["--use-latest-restorable-time", "--global-secondary-index-override", "[]"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["TableDescription"]["TableName"] == name
    active(client, name)
    description = client.describe_table(TableName=name)["Table"]
    assert "GlobalSecondaryIndexes" not in description
    assert description["ItemCount"] == 1
