"""Scan: the whole table in pages and segments, filters, and through indexes."""

import pytest

from expectations import NO_TABLE, at, constraint, invalid, parameters, refused

COUNT = 60


@pytest.fixture(scope="module")
def table(wire, new_table):
    name = new_table(
        "pk:S sk:N",
        global_indexes=[("byGroup", "group:S n:N", "KEYS_ONLY")],
        local_indexes=[("byN", "pk:S n:N", ["group"])],
    )
    for number in range(COUNT):
        item = {"pk": {"S": f"p{number % 12}"}, "sk": {"N": str(number // 12)}, "n": {"N": str(number)}}
        if number % 3 == 0:
            item["group"] = {"S": "third"}
        wire.call("PutItem", TableName=name, Item=item)
    return name


def pages(wire, **request):
    """All pages of a scan, following LastEvaluatedKey."""
    found = []
    while True:
        answer = wire.call("Scan", **request)
        found.append(answer)
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def numbers(found):
    return [int(item["n"]["N"]) for page in found for item in page["Items"]]


def test_scan_returns_every_item_once_and_partitions_together(wire, table):
    (page,) = pages(wire, TableName=table)
    assert (page["Count"], page["ScannedCount"]) == (COUNT, COUNT)
    assert sorted(numbers([page])) == list(range(COUNT))
    keys = [(item["pk"]["S"], int(item["sk"]["N"])) for item in page["Items"]]
    partitions = [pk for pk, sk in keys if sk == 0]
    assert keys == [(pk, sk) for pk in partitions for sk in range(COUNT // 12)]


@pytest.mark.parametrize("limit", [1, 7, 12, 60, 61])
def test_pages_join_to_the_whole_in_the_same_order(wire, table, limit):
    found = pages(wire, TableName=table, Limit=limit)
    assert all(page["ScannedCount"] <= limit for page in found)
    assert len(found) == COUNT // limit + 1
    assert numbers(found) == numbers(pages(wire, TableName=table))


@pytest.mark.parametrize("segments", [1, 2, 3, 16])
def test_segments_divide_the_table(wire, table, segments):
    found = [
        numbers(pages(wire, TableName=table, Segment=segment, TotalSegments=segments, Limit=5))
        for segment in range(segments)
    ]
    assert sorted(number for segment in found for number in segment) == list(range(COUNT))


def test_filter_is_applied_after_reading(wire, table):
    answer = wire.call(
        "Scan",
        TableName=table,
        FilterExpression="n BETWEEN :low AND :high AND attribute_exists(#g)",
        ExpressionAttributeNames={"#g": "group"},
        ExpressionAttributeValues={":low": {"N": "10"}, ":high": {"N": "20"}},
    )
    assert sorted(numbers([answer])) == [12, 15, 18]
    assert (answer["Count"], answer["ScannedCount"]) == (3, COUNT)


def test_filter_may_name_the_key(wire, table):
    answer = wire.call(
        "Scan",
        TableName=table,
        FilterExpression="pk = :p",
        ExpressionAttributeValues={":p": {"S": "p1"}},
        ProjectionExpression="sk",
    )
    assert answer["Items"] == [{"sk": {"N": str(number)}} for number in range(5)]


def test_count_needs_no_items(wire, table):
    assert wire.call("Scan", TableName=table, Select="COUNT") == {"Count": COUNT, "ScannedCount": COUNT}


def test_scan_of_an_index_sees_only_its_items_and_projection(wire, table):
    found = pages(wire, TableName=table, IndexName="byGroup", Limit=7)
    assert sorted(numbers(found)) == list(range(0, COUNT, 3))
    assert all(set(item) == {"pk", "sk", "group", "n"} for page in found for item in page["Items"])
    assert all(set(page["LastEvaluatedKey"]) == {"pk", "sk", "group", "n"} for page in found[:-1])
    local = pages(wire, TableName=table, IndexName="byN")
    assert sorted(numbers(local)) == list(range(COUNT))


def test_segments_divide_an_index(wire, table):
    found = [
        numbers(pages(wire, TableName=table, IndexName="byN", Segment=segment, TotalSegments=4))
        for segment in range(4)
    ]
    assert sorted(number for segment in found for number in segment) == list(range(COUNT))


def test_page_ends_after_a_megabyte_before_the_filter(wire, new_table):
    table = new_table("pk:N")
    for number in range(6):
        wire.call("PutItem", TableName=table, Item={"pk": {"N": str(number)}, "pad": {"S": "x" * 300_000}})
    found = pages(
        wire, TableName=table, FilterExpression="pk = :none", ExpressionAttributeValues={":none": {"N": "-1"}}
    )
    assert [(page["Count"], page["ScannedCount"]) for page in found] == [(0, 4), (0, 2)]


def test_empty_table(wire, new_table):
    assert wire.call("Scan", TableName=new_table("pk:S")) == {"Items": [], "Count": 0, "ScannedCount": 0}


@pytest.mark.parametrize(
    "request_members, message",
    [
        (
            {"Segment": 0},
            "The TotalSegments parameter is required but was not present in the request when Segment parameter is "
            "present",
        ),
        (
            {"TotalSegments": 2},
            "The Segment parameter is required but was not present in the request when parameter TotalSegments is "
            "present",
        ),
        (
            {"Segment": 5, "TotalSegments": 5},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less "
            "than TotalSegments: 5",
        ),
        (
            {"Segment": 0, "TotalSegments": 1_000_001},
            constraint(at("totalSegments", "'1000001'", "Member must have value less than or equal to 1000000")),
        ),
        (
            {"Segment": -1, "TotalSegments": 2},
            constraint(at("segment", "'-1'", "Member must have value greater than or equal to 0")),
        ),
        ({"Limit": 0}, constraint(at("limit", "'0'", "Member must have value greater than or equal to 1"))),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"IndexName": "byGroup", "ConsistentRead": True},
            "Consistent reads are not supported on global secondary indexes",
        ),
        (
            {"IndexName": "byGroup", "Select": "ALL_ATTRIBUTES"},
            parameters(
                "Select type ALL_ATTRIBUTES is not supported for global secondary index byGroup because its projection "
                "type is not ALL"
            ),
        ),
        ({"IndexName": "nowhere"}, "The table does not have the specified index: nowhere"),
        (
            {"ExclusiveStartKey": {"pk": {"S": "p1"}}},
            "The provided starting key is invalid: The provided key element does not match the schema",
        ),
        ({"FilterExpression": ""}, "Invalid FilterExpression: The expression can not be empty;"),
    ],
    ids=str,
)
def test_faulty_scan_is_refused(wire, table, request_members, message):
    with invalid(message):
        wire.call("Scan", TableName=table, **request_members)


def test_start_key_of_another_segment_is_refused(wire, table):
    keys = {
        segment: wire.call("Scan", TableName=table, Segment=segment, TotalSegments=2, Limit=1)["LastEvaluatedKey"]
        for segment in (0, 1)
    }
    with invalid(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
        "Segment. TotalSegments: 2 Segment: 1"
    ):
        wire.call("Scan", TableName=table, Segment=1, TotalSegments=2, ExclusiveStartKey=keys[0])


def test_scan_of_a_missing_table_is_not_found(wire):
    with refused("ResourceNotFoundException", NO_TABLE):
        wire.call("Scan", TableName="no-such-table")
