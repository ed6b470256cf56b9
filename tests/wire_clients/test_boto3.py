"""boto3 as applications use it: resources, conditions, paginators, waiters, exceptions."""

import threading
from decimal import Decimal

import pytest
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary

from tables import fresh_name


@pytest.fixture(scope="module")
def orders(dynamodb):
    table = dynamodb.create_table(
        TableName=fresh_name("orders"),
        KeySchema=[{"AttributeName": "customer", "KeyType": "HASH"}, {"AttributeName": "number", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
            {"AttributeName": "state", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-state",
                "KeySchema": [
                    {"AttributeName": "state", "KeyType": "HASH"},
                    {"AttributeName": "number", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    table.wait_until_exists()
    with table.batch_writer() as batch:
        for number in range(40):
            batch.put_item(
                Item={
                    "customer": f"customer{number % 4}",
                    "number": number,
                    "state": "open" if number % 5 else "paid",
                    "total": Decimal("19.99") * number,
                    "tags": {"a", "b"} if number % 2 else {"c"},
                }
            )
    return table


def test_every_python_type_comes_back(orders):
    item = {
        "customer": "types",
        "number": 1,
        "decimal": Decimal("3.14159265358979323846264338327950288419"[:39]),
        "bytes": Binary(b"\x00\xff"),
        "list": [1, "two", None, True, [3]],
        "map": {"nested": {"deep": Decimal("-0.5")}},
        "strings": {"x", "y"},
        "numbers": {1, Decimal("2.5")},
        "binaries": {Binary(b"1"), Binary(b"2")},
        "empty": "",
    }
    orders.put_item(Item=item)
    assert orders.get_item(Key={"customer": "types", "number": 1}, ConsistentRead=True)["Item"] == item
    orders.delete_item(Key={"customer": "types", "number": 1})


def test_query_with_condition_builders(orders):
    answer = orders.query(
        KeyConditionExpression=Key("customer").eq("customer1") & Key("number").between(5, 30),
        FilterExpression=Attr("state").ne("paid") & Attr("tags").contains("a") & ~Attr("total").lt(Decimal("200")),
        ScanIndexForward=False,
    )
    assert [int(item["number"]) for item in answer["Items"]] == [29, 21, 17, 13]


def test_query_of_an_index(orders):
    answer = orders.query(
        IndexName="by-state",
        KeyConditionExpression=Key("state").eq("paid") & Key("number").gte(20),
        ProjectionExpression="#n, customer",
        ExpressionAttributeNames={"#n": "number"},
    )
    assert [int(item["number"]) for item in answer["Items"]] == [20, 25, 30, 35]


def test_update_with_a_condition_on_the_old_state(orders):
    key = {"customer": "customer0", "number": 4}
    update = {
        "Key": key,
        "UpdateExpression": "SET #s = :new, history = list_append(if_not_exists(history, :none), :entry)",
        "ConditionExpression": Attr("state").eq("open"),
        "ExpressionAttributeNames": {"#s": "state"},
        "ExpressionAttributeValues": {":new": "shipped", ":none": [], ":entry": ["shipped"]},
        "ReturnValues": "ALL_NEW",
    }
    assert orders.update_item(**update)["Attributes"]["history"] == ["shipped"]
    with pytest.raises(orders.meta.client.exceptions.ConditionalCheckFailedException):
        orders.update_item(**update)


def test_paginators_join_all_pages(client, orders):
    scan = client.get_paginator("scan").paginate(TableName=orders.name, PaginationConfig={"PageSize": 7})
    assert sum(page["Count"] for page in scan) == 40
    query = client.get_paginator("query").paginate(
        TableName=orders.name,
        KeyConditionExpression="customer = :c",
        ExpressionAttributeValues={":c": {"S": "customer3"}},
        PaginationConfig={"PageSize": 3, "MaxItems": 8},
    )
    numbers = [int(item["number"]["N"]) for page in query for item in page["Items"]]
    assert numbers == list(range(3, 35, 4))
    names = [
        name
        for page in client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2})
        for name in page["TableNames"]
    ]
    assert orders.name in names and len(names) == len(set(names))


def test_parallel_scan(dynamodb, orders):
    found, lock = [], threading.Lock()

    def scan(segment):
        answer = orders.meta.client.scan(TableName=orders.name, Segment=segment, TotalSegments=4)
        with lock:
            found.extend(int(item["number"]) for item in answer["Items"])

    threads = [threading.Thread(target=scan, args=(segment,)) for segment in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(40))


def test_batch_get_through_the_resource(dynamodb, orders):
    keys = [{"customer": f"customer{number % 4}", "number": number} for number in (1, 2, 3)]
    answer = dynamodb.batch_get_item(RequestItems={orders.name: {"Keys": keys}})
    assert sorted(int(item["number"]) for item in answer["Responses"][orders.name]) == [1, 2, 3]


def test_errors_are_the_modelled_exceptions(client, orders):
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.describe_table(TableName="no-such-table")
    with pytest.raises(client.exceptions.ResourceInUseException):
        client.create_table(
            TableName=orders.name,
            KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    with pytest.raises(client.exceptions.ClientError) as failure:
        client.get_item(TableName=orders.name, Key={"customer": {"S": "a"}})
    assert failure.value.response["Error"] == {
        "Code": "ValidationException",
        "Message": "The provided key element does not match the schema",
    }
    assert len(failure.value.response["ResponseMetadata"]["RequestId"]) == 52


def test_waiters_see_tables_come_and_go(client):
    name = fresh_name("short-lived")
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    client.delete_table(TableName=name)
    client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    assert name not in client.list_tables()["TableNames"]


def test_transactions_through_the_client(client, orders):
    client.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": orders.name, "Item": {"customer": {"S": "t"}, "number": {"N": "1"}}}},
            {"Put": {"TableName": orders.name, "Item": {"customer": {"S": "t"}, "number": {"N": "2"}}}},
        ]
    )
    answer = client.transact_get_items(
        TransactItems=[
            {"Get": {"TableName": orders.name, "Key": {"customer": {"S": "t"}, "number": {"N": number}}}}
            for number in ("1", "2", "3")
        ]
    )
    assert [response.get("Item", {}).get("number", {}).get("N") for response in answer["Responses"]] == [
        "1",
        "2",
        None,
    ]
