"""DynamoDB Streams: what is recorded, and how it is read."""

import re
import time

import pytest

from expectations import ANY_MESSAGE, canonical, eventually, invalid, refused
from tables import await_active, create_table

STREAM_ARN = re.compile(
    r"arn:aws:dynamodb:[a-z0-9-]+:\d{12}:table/(.+)/stream/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})"
)
SHARD_ID = re.compile(r"shardId-\d{20}-[0-9a-f]{8}")


def streamed(wire, view="NEW_AND_OLD_IMAGES", keys="pk:S", **more):
    """A table with a stream: its name, and the stream's ARN."""
    name = create_table(wire, keys, StreamSpecification={"StreamEnabled": True, "StreamViewType": view}, **more)
    return name, wire.call("DescribeTable", TableName=name)["Table"]["LatestStreamArn"]


def shards(wire, arn):
    return wire.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]


def iterator(wire, arn, shard, kind="TRIM_HORIZON", **more):
    request = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind, **more}
    return wire.call("GetShardIterator", request)["ShardIterator"]


def read_all(wire, arn):
    """All records of all shards, parents before children as listed, until each has nothing more."""
    records = []
    for shard in shards(wire, arn):
        position = iterator(wire, arn, shard["ShardId"])
        while position:
            answer = wire.call("GetRecords", ShardIterator=position)
            records += answer["Records"]
            position = answer.get("NextShardIterator") if answer["Records"] else None
    return records


def put(wire, table, key, **attributes):
    item = {"pk": {"S": key}, **{name: {"S": value} for name, value in attributes.items()}}
    wire.call("PutItem", TableName=table, Item=item)
    return item


# ---- the description


def test_stream_is_described(wire):
    table, arn = streamed(wire)
    described = wire.call("DescribeTable", TableName=table)["Table"]
    assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    name, label = STREAM_ARN.fullmatch(arn).groups()
    assert (name, label) == (table, described["LatestStreamLabel"])
    stream = wire.call("DescribeStream", StreamArn=arn)["StreamDescription"]
    assert (stream["StreamArn"], stream["StreamLabel"], stream["TableName"]) == (arn, label, table)
    assert (stream["StreamStatus"], stream["StreamViewType"]) == ("ENABLED", "NEW_AND_OLD_IMAGES")
    assert stream["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]
    assert isinstance(stream["CreationRequestDateTime"], (int, float))
    for shard in stream["Shards"]:
        assert SHARD_ID.fullmatch(shard["ShardId"])
        assert re.fullmatch(r"\d{21,40}", shard["SequenceNumberRange"]["StartingSequenceNumber"])
        assert "EndingSequenceNumber" not in shard["SequenceNumberRange"]


def test_streams_are_listed(wire):
    table, arn = streamed(wire)
    (entry,) = wire.call("ListStreams", TableName=table)["Streams"]
    assert entry == {"StreamArn": arn, "TableName": table, "StreamLabel": arn.rpartition("/")[2]}
    assert wire.call("ListStreams", TableName="no-such-table") == {"Streams": []}
    streamed(wire)
    seen, start = [], {}
    while True:
        answer = wire.call("ListStreams", Limit=1, **start)
        seen += [stream["StreamArn"] for stream in answer["Streams"]]
        if "LastEvaluatedStreamArn" not in answer:
            break
        start = {"ExclusiveStartStreamArn": answer["LastEvaluatedStreamArn"]}
    assert arn in seen and len(seen) == len(set(seen))


# ---- the records


def test_every_change_is_recorded_once_and_in_order(wire):
    table, arn = streamed(wire)
    first = put(wire, table, "a", v="1")
    second = put(wire, table, "a", v="2")
    key = {"pk": {"S": "a"}}
    wire.call("UpdateItem", TableName=table, Key=key, UpdateExpression="REMOVE v")
    wire.call("DeleteItem", TableName=table, Key=key)
    records = read_all(wire, arn)
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "MODIFY", "REMOVE"]
    images = [(change["dynamodb"].get("OldImage"), change["dynamodb"].get("NewImage")) for change in records]
    assert images == [(None, first), (first, second), (second, key), (key, None)]
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
    assert numbers == sorted(set(numbers))
    for record in records:
        assert record["eventSource"] == "aws:dynamodb"
        assert record["eventVersion"] == "1.1"
        assert re.fullmatch("[0-9a-f]{32}", record["eventID"])
        assert record["dynamodb"]["Keys"] == key
        assert record["dynamodb"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
        assert abs(record["dynamodb"]["ApproximateCreationDateTime"] - time.time()) < 600
        assert record["dynamodb"]["SizeBytes"] > 0
        assert "userIdentity" not in record
    assert len({record["eventID"] for record in records}) == 4


@pytest.mark.parametrize(
    "view, old, new",
    [
        ("KEYS_ONLY", False, False),
        ("NEW_IMAGE", False, True),
        ("OLD_IMAGE", True, False),
        ("NEW_AND_OLD_IMAGES", True, True),
    ],
)
def test_view_type_chooses_the_images(wire, view, old, new):
    table, arn = streamed(wire, view)
    put(wire, table, "a", v="1")
    put(wire, table, "a", v="2")
    modify = read_all(wire, arn)[1]["dynamodb"]
    assert ("OldImage" in modify, "NewImage" in modify) == (old, new)
    assert modify["StreamViewType"] == view


def test_writes_that_change_nothing_are_not_recorded(wire):
    table, arn = streamed(wire)
    put(wire, table, "a", v="1")
    put(wire, table, "a", v="1")
    update = {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": {"S": "1"}}}
    wire.call("UpdateItem", TableName=table, Key={"pk": {"S": "a"}}, **update)
    wire.call("DeleteItem", TableName=table, Key={"pk": {"S": "nobody"}})
    wire.call("UpdateItem", TableName=table, Key={"pk": {"S": "nobody"}}, UpdateExpression="REMOVE v")
    with refused("ConditionalCheckFailedException", "The conditional request failed"):
        put_request = {"Item": {"pk": {"S": "a"}, "v": {"S": "3"}}, "ConditionExpression": "attribute_not_exists(pk)"}
        wire.call("PutItem", TableName=table, **put_request)
    assert [record["eventName"] for record in read_all(wire, arn)] == ["INSERT"]


def test_batches_and_transactions_are_recorded(wire):
    table, arn = streamed(wire)
    puts = [{"PutRequest": {"Item": {"pk": {"S": f"batch{number}"}}}} for number in range(5)]
    wire.call("BatchWriteItem", RequestItems={table: puts})
    actions = [{"Put": {"TableName": table, "Item": {"pk": {"S": f"transaction{number}"}}}} for number in range(5)]
    wire.call("TransactWriteItems", TransactItems=actions)
    keys = sorted(record["dynamodb"]["Keys"]["pk"]["S"] for record in read_all(wire, arn))
    assert keys == sorted(f"{kind}{number}" for kind in ("batch", "transaction") for number in range(5))


def test_binary_and_sets_are_recorded_as_they_are(wire):
    table, arn = streamed(wire)
    item = {"pk": {"S": "a"}, "b": {"B": "AAEC"}, "s": {"SS": ["x", "y"]}, "m": {"M": {"l": {"L": [{"NULL": True}]}}}}
    wire.call("PutItem", TableName=table, Item=item)
    (record,) = read_all(wire, arn)
    assert canonical(record["dynamodb"]["NewImage"]) == canonical(item)


def test_expired_items_are_removed_by_the_service(wire):
    table, arn = streamed(wire)
    specification = {"AttributeName": "expires", "Enabled": True}
    wire.call("UpdateTimeToLive", TableName=table, TimeToLiveSpecification=specification)
    now = int(time.time())
    rows = {
        "expired": {"N": str(now - 60)},
        "expired fraction": {"N": f"{now - 60}.5"},
        "not yet": {"N": str(now + 3600)},
        "too old": {"N": str(now - 6 * 365 * 86400)},
        "text": {"S": str(now - 60)},
    }
    for key, expires in rows.items():
        wire.call("PutItem", TableName=table, Item={"pk": {"S": key}, "expires": expires})

    def both_removed():
        records = [record for record in read_all(wire, arn) if record["eventName"] == "REMOVE"]
        return len(records) >= 2 and records

    removed = eventually(both_removed)
    assert sorted(record["dynamodb"]["Keys"]["pk"]["S"] for record in removed) == ["expired", "expired fraction"]
    for record in removed:
        assert record["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    left = wire.call("Scan", TableName=table)["Items"]
    assert sorted(item["pk"]["S"] for item in left) == ["not yet", "text", "too old"]


# ---- iterators


def test_iterators_start_where_they_are_told_to(wire):
    table, arn = streamed(wire)
    for number in range(5):
        put(wire, table, f"k{number}")
    records = read_all(wire, arn)
    shard, third = shards(wire, arn)[0]["ShardId"], records[2]["dynamodb"]["SequenceNumber"]

    def keys(kind, **more):
        answer = wire.call("GetRecords", ShardIterator=iterator(wire, arn, shard, kind, **more))
        return [record["dynamodb"]["Keys"]["pk"]["S"] for record in answer["Records"]]

    assert keys("TRIM_HORIZON") == ["k0", "k1", "k2", "k3", "k4"]
    assert keys("AT_SEQUENCE_NUMBER", SequenceNumber=third) == ["k2", "k3", "k4"]
    assert keys("AFTER_SEQUENCE_NUMBER", SequenceNumber=third) == ["k3", "k4"]
    assert keys("LATEST") == []


def test_latest_sees_what_comes_after_it(wire):
    table, arn = streamed(wire)
    put(wire, table, "before")
    position = iterator(wire, arn, shards(wire, arn)[-1]["ShardId"], "LATEST")
    put(wire, table, "after")
    answer = wire.call("GetRecords", ShardIterator=position)
    assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in answer["Records"]] == ["after"]
    again = wire.call("GetRecords", ShardIterator=answer["NextShardIterator"])
    assert again["Records"] == [] and "NextShardIterator" in again


def test_records_come_in_pages(wire):
    table, arn = streamed(wire, "KEYS_ONLY")
    for number in range(7):
        put(wire, table, f"k{number}")
    position, sizes = iterator(wire, arn, shards(wire, arn)[0]["ShardId"]), []
    while sum(sizes) < 7:
        answer = wire.call("GetRecords", ShardIterator=position, Limit=3)
        sizes.append(len(answer["Records"]))
        position = answer["NextShardIterator"]
    assert sizes == [3, 3, 1]


@pytest.mark.parametrize(
    "kind, more",
    [("TRIM_HORIZON", {"SequenceNumber": "1" * 21}), ("AT_SEQUENCE_NUMBER", {}), ("AFTER_SEQUENCE_NUMBER", {})],
)
def test_iterator_type_decides_whether_a_sequence_number_is_needed(wire, kind, more):
    _, arn = streamed(wire)
    with invalid(ANY_MESSAGE):
        iterator(wire, arn, shards(wire, arn)[0]["ShardId"], kind, **more)


def test_missing_streams_shards_and_broken_iterators_are_refused(wire):
    table, arn = streamed(wire)
    shard = shards(wire, arn)[0]["ShardId"]
    with invalid("Invalid StreamArn"):
        wire.call("DescribeStream", StreamArn="arn:aws:dynamodb:us-east-1:000000000000:table/nothing-like-a-stream")
    with refused("ResourceNotFoundException", ANY_MESSAGE):
        wire.call("DescribeStream", StreamArn=arn.rpartition("/")[0] + "/2000-01-01T00:00:00.000")
    with refused("ResourceNotFoundException", ANY_MESSAGE):
        iterator(wire, arn, "shardId-00000000000000000001-deadbeef")
    with invalid(ANY_MESSAGE):
        wire.call("GetRecords", ShardIterator="nonsense")
    with invalid(
        re.compile(
            "1 validation error detected: Value 'SOMEWHERE' at 'shardIteratorType' failed to satisfy constraint: "
            r"Member must satisfy enum value set: \[.*\]"
        )
    ):
        iterator(wire, arn, shard, "SOMEWHERE")
    with invalid(
        re.compile("1 validation error detected: Value '1001' at 'limit' failed .* less than or equal to 1000")
    ):
        wire.call("GetRecords", ShardIterator=iterator(wire, arn, shard), Limit=1001)


# ---- switching


def test_stream_is_switched_on_and_off(wire, new_table):
    table = new_table("pk:S")
    on = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    put(wire, table, "before")
    with invalid(f"Table has no stream to disable: TableName: {table}"):
        wire.call("UpdateTable", TableName=table, StreamSpecification={"StreamEnabled": False})
    wire.call("UpdateTable", TableName=table, StreamSpecification=on)
    arn = await_active(wire, table)["LatestStreamArn"]
    with invalid(f"Table already has an enabled stream: TableName: {table}"):
        wire.call("UpdateTable", TableName=table, StreamSpecification=on)
    put(wire, table, "during")
    wire.call("UpdateTable", TableName=table, StreamSpecification={"StreamEnabled": False})
    described = await_active(wire, table)
    assert "StreamSpecification" not in described and described["LatestStreamArn"] == arn
    put(wire, table, "afterwards")
    stream = wire.call("DescribeStream", StreamArn=arn)["StreamDescription"]
    assert stream["StreamStatus"] == "DISABLED"
    keys, position = [], iterator(wire, arn, stream["Shards"][0]["ShardId"])
    while position:  # a closed shard comes to its end
        answer = wire.call("GetRecords", ShardIterator=position)
        keys += [record["dynamodb"]["Keys"]["pk"]["S"] for record in answer["Records"]]
        position = answer.get("NextShardIterator")
    assert keys == ["during"]
    wire.call("UpdateTable", TableName=table, StreamSpecification=on)
    assert await_active(wire, table)["LatestStreamArn"] != arn


def test_boto3_reads_a_stream(client, streams, wire):
    table, arn = streamed(wire)
    client.put_item(TableName=table, Item={"pk": {"S": "a"}, "b": {"B": b"\x00\x01"}})
    (shard,) = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    position = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")[
        "ShardIterator"
    ]
    (record,) = streams.get_records(ShardIterator=position)["Records"]
    assert record["dynamodb"]["NewImage"] == {"pk": {"S": "a"}, "b": {"B": b"\x00\x01"}}
    assert abs(record["dynamodb"]["ApproximateCreationDateTime"].timestamp() - time.time()) < 600
