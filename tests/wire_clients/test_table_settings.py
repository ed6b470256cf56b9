"""What a table can be given besides its schema: tags, time to live, continuous backups; and the account's limits."""

import json
import re

import pytest

from expectations import ANY_MESSAGE, NO_TABLE, at, constraint, invalid, refused
from tables import create_table
from wire import Wire


@pytest.fixture(scope="module")
def table(new_table):
    return new_table("pk:S")


def arn_of(wire, table):
    return wire.call("DescribeTable", TableName=table)["Table"]["TableArn"]


# ---- tags


def tags_of(wire, arn):
    tags = wire.call("ListTagsOfResource", ResourceArn=arn)["Tags"]
    return {tag["Key"]: tag["Value"] for tag in tags}


def as_tags(**tags):
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def test_tags_are_added_replaced_and_removed(wire, new_table):
    arn = arn_of(wire, new_table("pk:S", Tags=as_tags(team="mail", stage="test")))
    assert tags_of(wire, arn) == {"team": "mail", "stage": "test"}
    wire.call("TagResource", ResourceArn=arn, Tags=as_tags(stage="live", cost="42"))
    assert tags_of(wire, arn) == {"team": "mail", "stage": "live", "cost": "42"}
    wire.call("UntagResource", ResourceArn=arn, TagKeys=["team", "never there"])
    assert tags_of(wire, arn) == {"stage": "live", "cost": "42"}


def test_tagging_answers_with_an_empty_body(wire, table):
    body = json.dumps({"ResourceArn": arn_of(wire, table), "Tags": as_tags(a="b")})
    answer = wire.post("TagResource", body)
    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.parametrize(
    "operation, members, message",
    [
        ("TagResource", {"Tags": []}, "Atleast one Tag needs to be provided as Input."),
        ("UntagResource", {"TagKeys": []}, "Atleast one Tag Key needs to be provided as Input."),
        ("TagResource", {"Tags": as_tags(**{"aws:mine": "x"})}, "Tag Key cannot be prefixed with aws:, Key: aws:mine"),
        (
            "TagResource",
            {"Tags": [{"Key": "twice", "Value": "1"}, {"Key": "twice", "Value": "2"}]},
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found twice",
        ),
        (
            "TagResource",
            {"Tags": as_tags(**{f"tag{number}": "x" for number in range(51)})},
            "Number of Tags exceed the current limit for the provided ResourceArn",
        ),
    ],
    ids=["no tags", "no keys", "aws:", "twice", "51"],
)
def test_faulty_tags_are_refused(wire, table, operation, members, message):
    with invalid(message):
        wire.call(operation, ResourceArn=arn_of(wire, table), **members)


def test_tags_need_a_table_that_exists(wire, table):
    arn = arn_of(wire, table).replace(table, "no-such-table")
    with refused("ResourceNotFoundException", f"{NO_TABLE}: ResourceArn: {arn} not found"):
        wire.call("TagResource", ResourceArn=arn, Tags=as_tags(a="b"))


def test_tags_need_the_arn_of_a_table(wire, table):
    with invalid(ANY_MESSAGE):
        wire.call("ListTagsOfResource", ResourceArn="not-an-arn")
    arn = arn_of(wire, table) + "/stream/2026-01-02T03:04:05.678"
    with invalid(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}"):
        wire.call("ListTagsOfResource", ResourceArn=arn)


# ---- time to live


def time_to_live(wire, table, attribute, enabled):
    specification = {"AttributeName": attribute, "Enabled": enabled}
    return wire.call("UpdateTimeToLive", TableName=table, TimeToLiveSpecification=specification)


def described_time_to_live(wire, table):
    return wire.call("DescribeTimeToLive", TableName=table)["TimeToLiveDescription"]


def test_time_to_live_is_switched_on_and_off(wire, new_table):
    table = new_table("pk:S")
    assert described_time_to_live(wire, table) == {"TimeToLiveStatus": "DISABLED"}
    with invalid("TimeToLive is already disabled"):
        time_to_live(wire, table, "expires", False)
    assert time_to_live(wire, table, "expires", True) == {
        "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True}
    }
    assert described_time_to_live(wire, table) == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    with invalid("TimeToLive is already enabled"):
        time_to_live(wire, table, "expires", True)
    with invalid("TimeToLive is active on a different AttributeName: current AttributeName is expires"):
        time_to_live(wire, table, "other", True)
    time_to_live(wire, table, "expires", False)
    assert described_time_to_live(wire, table) == {"TimeToLiveStatus": "DISABLED"}


def test_time_to_live_needs_a_table_and_an_attribute(wire, table):
    with refused("ResourceNotFoundException", f"{NO_TABLE}: Table: no-such-table not found"):
        described_time_to_live(wire, "no-such-table")
    with invalid(
        constraint(
            at(
                "timeToLiveSpecification.attributeName",
                "''",
                "Member must have length greater than or equal to 1",
            )
        )
    ):
        time_to_live(wire, table, "", True)


# ---- continuous backups


def recovery(wire, table, **specification):
    return wire.call("UpdateContinuousBackups", TableName=table, PointInTimeRecoverySpecification=specification)[
        "ContinuousBackupsDescription"
    ]["PointInTimeRecoveryDescription"]


def test_point_in_time_recovery_is_a_setting(wire, new_table):
    table = new_table("pk:S")
    assert wire.call("DescribeContinuousBackups", TableName=table) == {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }
    enabled = recovery(wire, table, PointInTimeRecoveryEnabled=True)
    assert (enabled["PointInTimeRecoveryStatus"], enabled["RecoveryPeriodInDays"]) == ("ENABLED", 35)
    assert isinstance(enabled["EarliestRestorableDateTime"], (int, float))
    assert recovery(wire, table, PointInTimeRecoveryEnabled=True, RecoveryPeriodInDays=7)["RecoveryPeriodInDays"] == 7
    assert recovery(wire, table, PointInTimeRecoveryEnabled=False) == {"PointInTimeRecoveryStatus": "DISABLED"}


def test_point_in_time_recovery_of_a_missing_table(wire):
    with refused("TableNotFoundException", "Table not found: no-such-table"):
        wire.call("DescribeContinuousBackups", TableName="no-such-table")


# ---- encryption and streams


def test_encryption_is_described(wire, new_table):
    table = new_table("pk:S", SSESpecification={"Enabled": True, "SSEType": "KMS"})
    encryption = wire.call("DescribeTable", TableName=table)["Table"]["SSEDescription"]
    assert (encryption["Status"], encryption["SSEType"]) == ("ENABLED", "KMS")
    assert encryption["KMSMasterKeyArn"].startswith("arn:aws:kms:")


# ---- the account


def test_limits_of_the_account(wire):
    assert wire.call("DescribeLimits") == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_endpoint_is_this_server(wire, server):
    (endpoint,) = wire.call("DescribeEndpoints")["Endpoints"]
    assert endpoint["CachePeriodInMinutes"] == 1440
    assert re.fullmatch(r"[a-z0-9.:-]+", endpoint["Address"])


def test_settings_survive_a_restart(start_server):
    with start_server() as server:
        wire = Wire(server)
        table = create_table(wire, "pk:S", Tags=as_tags(team="mail"), global_indexes=[("byKind", "kind:S")])
        time_to_live(wire, table, "expires", True)
        recovery(wire, table, PointInTimeRecoveryEnabled=True)
        described = wire.call("DescribeTable", TableName=table)
        wire.close()
    with start_server() as server:
        wire = Wire(server)
        assert wire.call("DescribeTable", TableName=table) == described
        assert tags_of(wire, arn_of(wire, table)) == {"team": "mail"}
        assert described_time_to_live(wire, table) == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
        backups = wire.call("DescribeContinuousBackups", TableName=table)["ContinuousBackupsDescription"]
        assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
        wire.close()
