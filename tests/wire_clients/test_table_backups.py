"""Backups of tables as boto3 and the AWS CLI use them."""

import datetime
import json
import re
import subprocess

import pytest

from expectations import eventually
from postino_server import PATIENCE_SECONDS
from tables import fresh_name


@pytest.fixture
def stock(client, dynamodb):
    return dynamodb.create_table(
        TableName=fresh_name("stock"),
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "kind", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-kind",
                "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def details(client, arn):
    return client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]


def back_up(client, table, name="nightly"):
    arn = client.create_backup(TableName=table.name, BackupName=name)["BackupDetails"]["BackupArn"]
    eventually(lambda: details(client, arn)["BackupStatus"] == "AVAILABLE")
    return arn


def restored(client, arn, **overrides):
    name = fresh_name("restored")
    client.restore_table_from_backup(TargetTableName=name, BackupArn=arn, **overrides)
    eventually(lambda: client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE")
    return name


def contents(dynamodb, name):
    return {item["id"]: item["kind"] for item in dynamodb.Table(name).scan()["Items"]}


def test_a_table_is_backed_up_and_restored(client, dynamodb, stock):
    stock.put_item(Item={"id": "a", "kind": "stamp"})
    made = client.create_backup(TableName=stock.name, BackupName="nightly")["BackupDetails"]
    assert re.fullmatch(rf"arn:aws:dynamodb:[a-z0-9-]+:\d{{12}}:table/{stock.name}/backup/\d{{14}}-[0-9a-f]{{8}}",
                        made["BackupArn"])
    assert (made["BackupName"], made["BackupStatus"], made["BackupType"]) == ("nightly", "CREATING", "USER")
    assert isinstance(made["BackupCreationDateTime"], datetime.datetime)
    stock.put_item(Item={"id": "a", "kind": "card"})
    stock.put_item(Item={"id": "b", "kind": "card"})
    arn = made["BackupArn"]
    eventually(lambda: details(client, arn)["BackupStatus"] == "AVAILABLE")
    name = restored(client, arn)
    assert contents(dynamodb, name) == {"a": "stamp"}
    found = dynamodb.Table(name).query(
        IndexName="by-kind", KeyConditionExpression="kind = :k", ExpressionAttributeValues={":k": "stamp"}
    )
    assert found["Count"] == 1


def test_a_backup_describes_its_table(client, stock):
    client.update_time_to_live(
        TableName=stock.name, TimeToLiveSpecification={"AttributeName": "until", "Enabled": True}
    )
    stock.put_item(Item={"id": "a", "kind": "stamp"})
    described = client.describe_backup(BackupArn=back_up(client, stock))["BackupDescription"]
    table = client.describe_table(TableName=stock.name)["Table"]
    source = described["SourceTableDetails"]
    assert source["TableArn"] == table["TableArn"]
    assert source["TableId"] == table["TableId"]
    assert source["KeySchema"] == table["KeySchema"]
    assert source["TableCreationDateTime"] == table["CreationDateTime"]
    assert (source["ItemCount"], source["BillingMode"]) == (1, "PAY_PER_REQUEST")
    features = described["SourceTableFeatureDetails"]
    assert [index["IndexName"] for index in features["GlobalSecondaryIndexes"]] == ["by-kind"]
    assert features["GlobalSecondaryIndexes"][0]["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert features["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}


def test_backups_are_listed_in_pages(client, stock):
    arns = [back_up(client, stock, name) for name in ("one", "two", "three")]
    first = client.list_backups(TableName=stock.name, Limit=2)
    assert [backup["BackupName"] for backup in first["BackupSummaries"]] == ["one", "two"]
    assert first["LastEvaluatedBackupArn"] == arns[1]
    rest = client.list_backups(TableName=stock.name, ExclusiveStartBackupArn=arns[1])
    assert [backup["BackupArn"] for backup in rest["BackupSummaries"]] == arns[2:]
    assert "LastEvaluatedBackupArn" not in rest
    assert rest["BackupSummaries"][0]["TableName"] == stock.name
    for other in ("SYSTEM", "AWS_BACKUP"):
        assert client.list_backups(TableName=stock.name, BackupType=other)["BackupSummaries"] == []
    assert len(client.list_backups(TableName=stock.name, BackupType="ALL")["BackupSummaries"]) == 3


def test_a_deleted_table_leaves_a_backup(client, dynamodb, stock):
    client.update_continuous_backups(
        TableName=stock.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    stock.put_item(Item={"id": "a", "kind": "stamp"})
    stock.delete()
    (left,) = client.list_backups(TableName=stock.name, BackupType="SYSTEM")["BackupSummaries"]
    assert left["BackupName"] == f"{stock.name}$DeletedTableBackup"
    assert left["BackupExpiryDateTime"] - left["BackupCreationDateTime"] == datetime.timedelta(days=35)
    assert contents(dynamodb, restored(client, left["BackupArn"])) == {"a": "stamp"}


def test_exceptions_have_their_names(client, stock):
    arn = back_up(client, stock)
    with pytest.raises(client.exceptions.TableNotFoundException):
        client.create_backup(TableName="no-such-table", BackupName="nightly")
    with pytest.raises(client.exceptions.TableAlreadyExistsException):
        client.restore_table_from_backup(TargetTableName=stock.name, BackupArn=arn)
    deleted = client.delete_backup(BackupArn=arn)["BackupDescription"]
    assert deleted["BackupDetails"]["BackupStatus"] == "DELETED"
    for call in (client.describe_backup, client.delete_backup):
        with pytest.raises(client.exceptions.BackupNotFoundException, match=re.escape(f"Backup not found: {arn}")):
            call(BackupArn=arn)
    with pytest.raises(client.exceptions.BackupNotFoundException):
        client.restore_table_from_backup(TargetTableName=fresh_name("restored"), BackupArn=arn)


def test_the_aws_cli_restores_without_indexes(server, client, stock):
    stock.put_item(Item={"id": "a", "kind": "stamp"})
    arn = back_up(client, stock)
    name = fresh_name("restored")
    command = ["/usr/bin/aws", "--endpoint-url", server.endpoint, "--output", "json", "dynamodb"]
    command += ["restore-table-from-backup", "--target-table-name", name, "--backup-arn", arn]
    command += ["--global-secondary-index-override", "[]"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads(ended.stdout)["TableDescription"]["RestoreSummary"]
    assert summary["SourceBackupArn"] == arn
    eventually(lambda: client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE")
    description = client.describe_table(TableName=name)["Table"]
    assert "GlobalSecondaryIndexes" not in description
    assert description["ItemCount"] == 1
