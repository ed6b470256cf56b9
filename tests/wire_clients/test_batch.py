"""BatchGetItem and BatchWriteItem."""

import re

import pytest

from expectations import DUPLICATE_KEYS, KEY_MISMATCH, NO_TABLE, in_any_order, invalid, refused


@pytest.fixture(scope="module")
def table(new_table):
    return new_table("pk:S")


@pytest.fixture(scope="module")
def sorted_table(new_table):
    return new_table("pk:S sk:N")


def item(key, **attributes):
    return {"pk": {"S": key}, **attributes}


def put(entry):
    return {"PutRequest": {"Item": entry}}


def delete(key):
    return {"DeleteRequest": {"Key": key}}


# ---- writing


def test_batch_puts_and_deletes_in_several_tables(wire, table, sorted_table):
    wire.call("PutItem", TableName=table, Item=item("old"))
    answer = wire.call(
        "BatchWriteItem",
        RequestItems={
            table: [put(item("new", v={"N": "1"})), delete(item("old")), delete(item("never there"))],
            sorted_table: [put(item("s", sk={"N": str(number)})) for number in range(3)],
        },
    )
    assert answer == {"UnprocessedItems": {}}
    read = wire.call("BatchGetItem", RequestItems={table: {"Keys": [item("new"), item("old")]}})
    assert read["Responses"] == {table: [item("new", v={"N": "1"})]}
    assert wire.call("Scan", TableName=sorted_table, Select="COUNT")["Count"] == 3


def test_batch_takes_25_requests_and_no_more(wire, table):
    requests = [put(item(f"many{number}")) for number in range(26)]
    assert wire.call("BatchWriteItem", RequestItems={table: requests[:25]}) == {"UnprocessedItems": {}}
    with invalid(
        re.compile(
            r"(?s)1 validation error detected: Value '\{.+\}' at 'requestItems' failed to satisfy constraint: Map "
            r"value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have "
            r"length greater than or equal to 1\]"
        )
    ):
        wire.call("BatchWriteItem", RequestItems={table: requests})


def test_26_requests_in_two_tables_are_too_many(wire, table, sorted_table):
    with invalid("Too many items requested for the BatchWriteItem call"):
        wire.call(
            "BatchWriteItem",
            RequestItems={
                table: [put(item(f"many{number}")) for number in range(20)],
                sorted_table: [put(item("m", sk={"N": str(number)})) for number in range(6)],
            },
        )


@pytest.mark.parametrize(
    "requests",
    [
        [put(item("twice")), put(item("twice"))],
        [put(item("twice")), delete(item("twice"))],
        [delete(item("twice")), delete(item("twice"))],
    ],
    ids=["put put", "put delete", "delete delete"],
)
def test_key_may_occur_once_in_a_batch(wire, table, requests):
    with invalid(DUPLICATE_KEYS):
        wire.call("BatchWriteItem", RequestItems={table: requests})


def test_equal_numbers_are_the_same_key_in_a_batch(wire, sorted_table):
    with invalid(DUPLICATE_KEYS):
        requests = [put(item("n", sk={"N": "1"})), put(item("n", sk={"N": "1.0"}))]
        wire.call("BatchWriteItem", RequestItems={sorted_table: requests})


@pytest.mark.parametrize(
    "request_, message",
    [
        (put({"other": {"S": "x"}}), KEY_MISMATCH),
        (put({"pk": {"N": "1"}}), KEY_MISMATCH),
        (delete({"pk": {"N": "1"}}), KEY_MISMATCH),
        (delete({}), KEY_MISMATCH),
        (
            put(item("")),
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
            "contain an empty string value. Key: pk",
        ),
        (put(item("big", v={"S": "x" * 409_600})), "Item size has exceeded the maximum allowed size"),
        (
            {},
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes",
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_one_bad_request_refuses_the_batch(wire, table, request_, message):
    with invalid(message):
        wire.call("BatchWriteItem", RequestItems={table: [put(item("innocent")), request_]})
    assert "Item" not in wire.call("GetItem", TableName=table, Key=item("innocent"))


def test_empty_batch_is_refused(wire):
    with invalid("The requestItems parameter is required for BatchWriteItem"):
        wire.call("BatchWriteItem", RequestItems={})


def test_batch_into_a_missing_table_is_not_found(wire, table):
    with refused("ResourceNotFoundException", NO_TABLE):
        wire.call("BatchWriteItem", RequestItems={table: [put(item("a"))], "no-such-table": [put(item("a"))]})


# ---- reading


def test_batch_get_reads_several_tables_and_leaves_out_what_is_missing(wire, new_table):
    first, second = new_table("pk:S"), new_table("pk:S sk:N")
    for number in range(4):
        wire.call("PutItem", TableName=first, Item=item(f"k{number}", v={"N": str(number)}, w={"S": "w"}))
        wire.call("PutItem", TableName=second, Item=item("p", sk={"N": str(number)}))
    answer = wire.call(
        "BatchGetItem",
        RequestItems={
            first: {
                "Keys": [item("k3"), item("k1"), item("nobody")],
                "ProjectionExpression": "#v",
                "ExpressionAttributeNames": {"#v": "v"},
                "ConsistentRead": True,
            },
            second: {"Keys": [item("p", sk={"N": "2.0"}), item("q", sk={"N": "2"})]},
        },
    )
    assert answer["UnprocessedKeys"] == {}
    assert in_any_order(answer["Responses"][first]) == [{"v": {"N": "1"}}, {"v": {"N": "3"}}]
    assert answer["Responses"][second] == [item("p", sk={"N": "2"})]


def test_batch_get_answers_for_a_table_where_nothing_was_found(wire, table):
    answer = wire.call("BatchGetItem", RequestItems={table: {"Keys": [item("nobody")]}})
    assert answer == {"Responses": {table: []}, "UnprocessedKeys": {}}


def test_batch_get_takes_100_keys_and_no_more(wire, table):
    keys = [item(f"key{number}") for number in range(101)]
    answer = wire.call("BatchGetItem", RequestItems={table: {"Keys": keys[:100]}})
    assert answer["UnprocessedKeys"] == {}
    with invalid(
        f"1 validation error detected: Value at 'RequestItems.{table}.member.Keys' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    ):
        wire.call("BatchGetItem", RequestItems={table: {"Keys": keys}})


def test_101_keys_in_two_tables_are_too_many(wire, table, sorted_table):
    with invalid("Too many items requested for the BatchGetItem call"):
        wire.call(
            "BatchGetItem",
            RequestItems={
                table: {"Keys": [item(f"key{number}") for number in range(60)]},
                sorted_table: {"Keys": [item("p", sk={"N": str(number)}) for number in range(41)]},
            },
        )


def test_batch_get_stops_at_16_megabytes_and_returns_the_rest_as_unprocessed(wire, new_table):
    table = new_table("pk:S")
    keys = [item(f"key{number}") for number in range(45)]
    for start in range(0, len(keys), 5):
        wire.call(
            "BatchWriteItem",
            RequestItems={table: [put({**key, "pad": {"S": "x" * 400_000}}) for key in keys[start : start + 5]]},
        )
    seen, wanted, rounds = [], {table: {"Keys": keys, "ProjectionExpression": "pk", "ConsistentRead": True}}, 0
    while wanted:
        answer = wire.call("BatchGetItem", RequestItems=wanted)
        assert answer["Responses"][table], "every round must make progress"
        seen += answer["Responses"][table]
        wanted = answer["UnprocessedKeys"]
        if wanted:
            assert wanted[table]["ProjectionExpression"] == "pk"
            assert wanted[table]["ConsistentRead"] is True
        rounds += 1
    assert in_any_order(seen) == in_any_order(keys)
    assert rounds == 2


@pytest.mark.parametrize(
    "keys, message",
    [
        ([item("a"), item("a")], DUPLICATE_KEYS),
        ([{"pk": {"N": "1"}}], KEY_MISMATCH),
        ([{"pk": {"S": "a"}, "x": {"S": "b"}}], KEY_MISMATCH),
        ([{}], KEY_MISMATCH),
    ],
    ids=str,
)
def test_bad_keys_refuse_the_batch(wire, table, keys, message):
    with invalid(message):
        wire.call("BatchGetItem", RequestItems={table: {"Keys": keys}})


def test_empty_batch_get_is_refused(wire):
    with invalid("The requestItems parameter is required for BatchGetItem"):
        wire.call("BatchGetItem", RequestItems={})


def test_batch_get_from_a_missing_table_is_not_found(wire):
    with refused("ResourceNotFoundException", NO_TABLE):
        wire.call("BatchGetItem", RequestItems={"no-such-table": {"Keys": [item("a")]}})


def test_boto3_batch_writer_writes_more_than_one_batch(dynamodb, new_table):
    table = dynamodb.Table(new_table("pk:S"))
    with table.batch_writer(overwrite_by_pkeys=["pk"]) as batch:
        for number in range(120):
            batch.put_item(Item={"pk": f"key{number % 100}", "number": number})
        batch.delete_item(Key={"pk": "key7"})
    assert table.scan(Select="COUNT")["Count"] == 99
    assert table.get_item(Key={"pk": "key19"})["Item"]["number"] == 119
