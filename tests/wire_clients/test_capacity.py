"""ReturnConsumedCapacity and ReturnItemCollectionMetrics: the units that requests cost."""

import pytest


@pytest.fixture(scope="module")
def table(new_table):
    return new_table("pk:S")


def item_of(size, key="item"):
    """An item of exactly this many bytes."""
    return {"pk": {"S": key}, "pad": {"S": "x" * (size - len("pk") - len(key) - len("pad"))}}


def total(answer):
    return answer["ConsumedCapacity"]["CapacityUnits"]


@pytest.mark.parametrize("size, units", [(100, 1), (1024, 1), (1025, 2), (10_240, 10), (10_241, 11)])
def test_write_costs_a_unit_per_kilobyte_begun(wire, table, size, units):
    key = f"w{size}"
    put = {"TableName": table, "Item": item_of(size, key), "ReturnConsumedCapacity": "TOTAL"}
    answer = wire.call("PutItem", put)
    assert answer["ConsumedCapacity"] == {"TableName": table, "CapacityUnits": units}
    deleted = wire.call("DeleteItem", TableName=table, Key={"pk": {"S": key}}, ReturnConsumedCapacity="TOTAL")
    assert total(deleted) == units


def test_overwrite_costs_the_larger_of_old_and_new(wire, table):
    wire.call("PutItem", TableName=table, Item=item_of(5000, "shrink"))
    answer = wire.call("PutItem", TableName=table, Item=item_of(100, "shrink"), ReturnConsumedCapacity="TOTAL")
    assert total(answer) == 5


def test_delete_of_nothing_costs_one_unit(wire, table):
    answer = wire.call("DeleteItem", TableName=table, Key={"pk": {"S": "nobody"}}, ReturnConsumedCapacity="TOTAL")
    assert total(answer) == 1


@pytest.mark.parametrize("size, units", [(100, 1), (4096, 1), (4097, 2), (409_600, 100)])
def test_read_costs_a_unit_per_four_kilobytes_and_half_when_not_consistent(wire, table, size, units):
    wire.call("PutItem", TableName=table, Item=item_of(size, f"r{size}"))
    request = {"TableName": table, "Key": {"pk": {"S": f"r{size}"}}, "ReturnConsumedCapacity": "TOTAL"}
    assert total(wire.call("GetItem", request, ConsistentRead=True)) == units
    assert total(wire.call("GetItem", request)) == units / 2
    projected = wire.call("GetItem", request, ProjectionExpression="pk")
    assert total(projected) == units / 2


def test_reading_nothing_costs_the_least(wire, table):
    request = {"TableName": table, "Key": {"pk": {"S": "nobody"}}, "ReturnConsumedCapacity": "TOTAL"}
    assert total(wire.call("GetItem", request)) == 0.5
    assert total(wire.call("GetItem", request, ConsistentRead=True)) == 1


def test_query_costs_the_sum_of_what_it_read(wire, new_table):
    table = new_table("pk:S sk:N")
    for number in range(10):
        wire.call("PutItem", TableName=table, Item={**item_of(1000, "p"), "sk": {"N": str(number)}})
    request = {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "p"}},
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert total(wire.call("Query", request, ConsistentRead=True)) == 3  # about 10,030 bytes
    assert total(wire.call("Query", request)) == 1.5
    assert total(wire.call("Query", request, Limit=1)) == 0.5
    filtered = wire.call("Query", request, FilterExpression="attribute_exists(nothing)")
    assert (filtered["Count"], total(filtered)) == (0, 1.5)


@pytest.mark.parametrize("wanted", [None, "NONE"])
def test_consumption_is_not_reported_unasked(wire, table, wanted):
    more = {"ReturnConsumedCapacity": wanted} if wanted else {}
    assert "ConsumedCapacity" not in wire.call("PutItem", TableName=table, Item=item_of(100), **more)


@pytest.fixture(scope="module")
def indexed(new_table):
    return new_table(
        "pk:S sk:S",
        global_indexes=[("all", "color:S"), ("keys", "color:S", "KEYS_ONLY")],
        local_indexes=[("local", "pk:S date:S")],
    )


def put_indexed(wire, indexed, **attributes):
    item = {"pk": {"S": "p"}, "sk": {"S": "s"}, **{name: {"S": value} for name, value in attributes.items()}}
    return wire.call("PutItem", TableName=indexed, Item=item, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]


def test_writes_pay_for_the_indexes_they_change(wire, indexed):
    units = {"CapacityUnits": 1}
    assert put_indexed(wire, indexed, note="a") == {"TableName": indexed, "CapacityUnits": 1, "Table": units}
    assert put_indexed(wire, indexed, note="a", color="red", date="d") == {
        "TableName": indexed,
        "CapacityUnits": 4,
        "Table": units,
        "GlobalSecondaryIndexes": {"all": units, "keys": units},
        "LocalSecondaryIndexes": {"local": units},
    }
    changed = put_indexed(wire, indexed, note="b", color="red", date="d")
    assert changed == {
        "TableName": indexed,
        "CapacityUnits": 3,
        "Table": units,
        "GlobalSecondaryIndexes": {"all": units},
        "LocalSecondaryIndexes": {"local": units},
    }
    moved = put_indexed(wire, indexed, note="b", color="blue", date="d")
    assert moved["GlobalSecondaryIndexes"] == {"all": {"CapacityUnits": 2}, "keys": {"CapacityUnits": 2}}


def test_reads_of_an_index_are_charged_to_it(wire, indexed):
    put_indexed(wire, indexed, color="red")
    answer = wire.call("Scan", TableName=indexed, IndexName="keys", ReturnConsumedCapacity="INDEXES")
    consumed = answer["ConsumedCapacity"]
    assert consumed["GlobalSecondaryIndexes"] == {"keys": {"CapacityUnits": consumed["CapacityUnits"]}}
    assert consumed["Table"] == {"CapacityUnits": 0}


def test_transactions_cost_twice(wire, table):
    put = {"Put": {"TableName": table, "Item": item_of(1500, "t1")}}
    check = {
        "ConditionCheck": {
            "TableName": table,
            "Key": {"pk": {"S": "t2"}},
            "ConditionExpression": "attribute_not_exists(pk)",
        }
    }
    answer = wire.call("TransactWriteItems", TransactItems=[put, check], ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 6, "WriteCapacityUnits": 6},
    ]
    get = {"Get": {"TableName": table, "Key": {"pk": {"S": "t1"}}}}
    answer = wire.call("TransactGetItems", TransactItems=[get], ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 2, "ReadCapacityUnits": 2}]


def test_batches_report_each_table(wire, table, indexed):
    answer = wire.call(
        "BatchWriteItem",
        RequestItems={
            table: [{"PutRequest": {"Item": item_of(2000, f"b{number}")}} for number in range(3)],
            indexed: [{"PutRequest": {"Item": {"pk": {"S": "b"}, "sk": {"S": "b"}}}}],
        },
        ReturnConsumedCapacity="TOTAL",
    )
    units = {consumed["TableName"]: consumed["CapacityUnits"] for consumed in answer["ConsumedCapacity"]}
    assert units == {table: 6, indexed: 1}
    keys = [{"pk": {"S": f"b{number}"}} for number in range(4)]
    answer = wire.call("BatchGetItem", RequestItems={table: {"Keys": keys}}, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 2}]


def test_item_collections_are_measured_where_there_are_local_indexes(wire, table, indexed):
    item = {"pk": {"S": "collection"}, "sk": {"S": "s"}}
    metrics = wire.call("PutItem", TableName=indexed, Item=item, ReturnItemCollectionMetrics="SIZE")
    low, high = metrics["ItemCollectionMetrics"]["SizeEstimateRangeGB"]
    assert metrics["ItemCollectionMetrics"]["ItemCollectionKey"] == {"pk": {"S": "collection"}}
    assert 0 <= low <= high <= 1
    unmeasured = wire.call("PutItem", TableName=table, Item=item_of(100), ReturnItemCollectionMetrics="SIZE")
    assert "ItemCollectionMetrics" not in unmeasured
