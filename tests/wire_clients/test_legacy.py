"""The parameters from before expressions: Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter,
AttributesToGet, ConditionalOperator."""

import pytest

from expectations import CONDITION_FAILED, canonical, invalid, parameters, refused

ITEM = {
    "pk": {"S": "a"},
    "sk": {"N": "1"},
    "s": {"S": "banana"},
    "n": {"N": "10"},
    "ss": {"SS": ["x", "y"]},
    "l": {"L": [{"N": "1"}]},
}
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


@pytest.fixture(scope="module")
def table(wire, new_table):
    name = new_table("pk:S sk:N")
    for number in range(2, 6):
        wire.call("PutItem", TableName=name, Item={**KEY, "sk": {"N": str(number)}, "n": {"N": str(number)}})
    return name


@pytest.fixture(autouse=True)
def fresh_item(wire, table):
    wire.call("PutItem", TableName=table, Item=ITEM)


def condition(operator, *values):
    return {"ComparisonOperator": operator, **({"AttributeValueList": list(values)} if values else {})}


def s(text):
    return {"S": text}


def n(number):
    return {"N": str(number)}


HOLDS = [
    {"s": {"Value": s("banana")}},
    {"s": {"Value": s("banana"), "Exists": True}},
    {"absent": {"Exists": False}},
    {"s": condition("EQ", s("banana"))},
    {"s": condition("NE", s("apple"))},
    {"n": condition("LT", n(11))},
    {"n": condition("LE", n(10))},
    {"n": condition("GT", n(9))},
    {"n": condition("GE", n(10))},
    {"n": condition("BETWEEN", n(9), n(11))},
    {"s": condition("IN", s("apple"), s("banana"))},
    {"s": condition("BEGINS_WITH", s("ban"))},
    {"s": condition("CONTAINS", s("nan"))},
    {"ss": condition("CONTAINS", s("x"))},
    {"s": condition("NOT_CONTAINS", s("x"))},
    {"s": condition("NOT_NULL")},
    {"absent": condition("NULL")},
    {"s": condition("EQ", s("banana")), "n": condition("EQ", n(10))},
    {"ss": condition("EQ", {"SS": ["y", "x"]})},
]
FAILS = [
    {"s": {"Value": s("apple")}},
    {"s": {"Exists": False}},
    {"absent": {"Value": s("x")}},
    {"s": condition("EQ", s("apple"))},
    {"n": condition("GT", n(10))},
    {"n": condition("BETWEEN", n(11), n(12))},
    {"s": condition("NULL")},
    {"absent": condition("NOT_NULL")},
    {"s": condition("EQ", s("banana")), "n": condition("EQ", n(11))},
]


@pytest.mark.parametrize("expected", HOLDS, ids=str)
def test_expected_holds(wire, table, expected):
    wire.call("PutItem", TableName=table, Item=ITEM, Expected=expected)


@pytest.mark.parametrize("expected", FAILS, ids=str)
def test_expected_does_not_hold(wire, table, expected):
    for operation, content in (
        ("PutItem", {"Item": ITEM}),
        ("DeleteItem", {"Key": KEY}),
        ("UpdateItem", {"Key": KEY}),
    ):
        with refused("ConditionalCheckFailedException", CONDITION_FAILED):
            wire.call(operation, TableName=table, Expected=expected, **content)


def test_conditional_operator_joins_with_or(wire, table):
    expected = {"s": condition("EQ", s("apple")), "n": condition("EQ", n(10))}
    wire.call("PutItem", TableName=table, Item=ITEM, Expected=expected, ConditionalOperator="OR")
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        wire.call("PutItem", TableName=table, Item=ITEM, Expected=expected, ConditionalOperator="AND")


@pytest.mark.parametrize(
    "expected, message",
    [
        (
            {"s": {"Value": s("x"), "AttributeValueList": [s("x")], "ComparisonOperator": "EQ"}},
            parameters("Value and AttributeValueList cannot be used together for Attribute: s"),
        ),
        (
            {"s": {"Exists": False, "ComparisonOperator": "NULL"}},
            parameters("Exists and ComparisonOperator cannot be used together for Attribute: s"),
        ),
        (
            {"s": {"ComparisonOperator": "EQ"}},
            parameters("Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: s"),
        ),
        (
            {"s": {"AttributeValueList": [s("x")]}},
            parameters("AttributeValueList can only be used with a ComparisonOperator for Attribute: s"),
        ),
        ({"s": {}}, parameters("Value must be provided when Exists is null for Attribute: s")),
        ({"s": {"Exists": True}}, parameters("Value must be provided when Exists is true for Attribute: s")),
        (
            {"s": {"Exists": False, "Value": s("x")}},
            parameters("Value cannot be used when Exists is false for Attribute: s"),
        ),
        (
            {"s": condition("EQ", s("x"), s("y"))},
            parameters("Invalid number of argument(s) for the EQ ComparisonOperator"),
        ),
        (
            {"s": condition("IN", s("x"), n(1))},
            parameters("AttributeValues inside AttributeValueList must be of same type"),
        ),
        (
            {"s": condition("LT", {"SS": ["x"]})},
            parameters("ComparisonOperator LT is not valid for SS AttributeValue type"),
        ),
        (
            {"n": condition("BETWEEN", n(2), n(1))},
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
        ),
    ],
    ids=str,
)
def test_faulty_expected_is_refused(wire, table, expected, message):
    with invalid(message):
        wire.call("PutItem", TableName=table, Item=ITEM, Expected=expected)


def test_conditional_operator_needs_two_conditions(wire, table):
    with invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements"):
        expected = {"s": condition("NOT_NULL")}
        wire.call("PutItem", TableName=table, Item=ITEM, Expected=expected, ConditionalOperator="OR")


# ---- AttributeUpdates


@pytest.mark.parametrize(
    "updates, changed",
    [
        ({"s": {"Value": s("x")}}, {"s": s("x")}),
        ({"s": {"Action": "PUT", "Value": n(1)}}, {"s": n(1)}),
        ({"fresh": {"Action": "PUT", "Value": n(1)}}, {"fresh": n(1)}),
        ({"n": {"Action": "ADD", "Value": n(5)}}, {"n": n(15)}),
        ({"fresh": {"Action": "ADD", "Value": n(5)}}, {"fresh": n(5)}),
        ({"ss": {"Action": "ADD", "Value": {"SS": ["z"]}}}, {"ss": {"SS": ["x", "y", "z"]}}),
        ({"l": {"Action": "ADD", "Value": {"L": [n(2)]}}}, {"l": {"L": [n(1), n(2)]}}),
        ({"s": {"Action": "DELETE"}}, {"s": None}),
        ({"absent": {"Action": "DELETE"}}, {}),
        ({"ss": {"Action": "DELETE", "Value": {"SS": ["x"]}}}, {"ss": {"SS": ["y"]}}),
        ({"ss": {"Action": "DELETE", "Value": {"SS": ["x", "y"]}}}, {"ss": None}),
    ],
    ids=str,
)
def test_attribute_updates(wire, table, updates, changed):
    wire.call("UpdateItem", TableName=table, Key=KEY, AttributeUpdates=updates)
    expected = {name: value for name, value in {**ITEM, **changed}.items() if value is not None}
    assert canonical(wire.call("GetItem", TableName=table, Key=KEY)["Item"]) == canonical(expected)


@pytest.mark.parametrize(
    "updates, message",
    [
        ({"s": {"Action": "PUT"}}, parameters("Only DELETE action is allowed when no attribute value is specified")),
        (
            {"s": {"Action": "DELETE", "Value": s("x")}},
            parameters("DELETE action with value is not supported for the type S"),
        ),
        ({"s": {"Action": "ADD", "Value": s("x")}}, parameters("ADD action is not supported for the type S")),
        ({"s": {"Action": "ADD", "Value": n(1)}}, "Type mismatch for attribute to update"),
        (
            {"pk": {"Action": "PUT", "Value": s("x")}},
            parameters("Cannot update attribute pk. This attribute is part of the key"),
        ),
    ],
    ids=str,
)
def test_faulty_attribute_updates_are_refused(wire, table, updates, message):
    with invalid(message):
        wire.call("UpdateItem", TableName=table, Key=KEY, AttributeUpdates=updates)


# ---- reading


def test_attributes_to_get(wire, table):
    answer = wire.call("GetItem", TableName=table, Key=KEY, AttributesToGet=["s", "absent"])
    assert answer == {"Item": {"s": s("banana")}}
    with invalid(parameters("Duplicate value in attribute name: s")):
        wire.call("GetItem", TableName=table, Key=KEY, AttributesToGet=["s", "s"])
    with invalid(
        "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
        "{AttributesToGet} Expression parameters: {ProjectionExpression}"
    ):
        wire.call("GetItem", TableName=table, Key=KEY, AttributesToGet=["s"], ProjectionExpression="n")
    batch = wire.call("BatchGetItem", RequestItems={table: {"Keys": [KEY], "AttributesToGet": ["n"]}})
    assert batch["Responses"] == {table: [{"n": n(10)}]}


def query(wire, table, **more):
    return wire.call("Query", TableName=table, **more)


@pytest.mark.parametrize(
    "sort, expected",
    [
        (None, [1, 2, 3, 4, 5]),
        (condition("EQ", n(2)), [2]),
        (condition("LT", n(3)), [1, 2]),
        (condition("GE", n(4)), [4, 5]),
        (condition("BETWEEN", n(2), n(4)), [2, 3, 4]),
    ],
    ids=str,
)
def test_key_conditions(wire, table, sort, expected):
    conditions = {"pk": condition("EQ", s("a")), **({"sk": sort} if sort else {})}
    answer = query(wire, table, KeyConditions=conditions)
    assert [int(item["sk"]["N"]) for item in answer["Items"]] == expected


@pytest.mark.parametrize(
    "conditions, message",
    [
        (
            {"pk": condition("EQ", s("a")), "sk": condition("NE", n(1))},
            "Attempted conditional constraint is not an indexable operation",
        ),
        ({"sk": condition("EQ", n(1))}, "Query condition missed key schema element: pk"),
        ({"pk": condition("GT", s("a"))}, "Query key condition not supported"),
        ({"pk": condition("EQ", n(1))}, parameters("Condition parameter type does not match schema type")),
    ],
    ids=str,
)
def test_faulty_key_conditions_are_refused(wire, table, conditions, message):
    with invalid(message):
        query(wire, table, KeyConditions=conditions)


def test_filters(wire, table):
    key = {"pk": condition("EQ", s("a"))}
    answer = query(wire, table, KeyConditions=key, QueryFilter={"n": condition("GT", n(3))})
    assert ([int(item["sk"]["N"]) for item in answer["Items"]], answer["ScannedCount"]) == ([1, 4, 5], 5)
    filters = {"n": condition("EQ", n(4)), "s": condition("NOT_NULL")}
    answer = query(wire, table, KeyConditions=key, QueryFilter=filters, ConditionalOperator="OR")
    assert [int(item["sk"]["N"]) for item in answer["Items"]] == [1, 4]
    answer = wire.call(
        "Scan", TableName=table, ScanFilter={"n": condition("BETWEEN", n(3), n(5))}, AttributesToGet=["sk"]
    )
    assert sorted(int(item["sk"]["N"]) for item in answer["Items"]) == [3, 4, 5]
    with invalid("QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"):
        query(wire, table, KeyConditions=key, QueryFilter={"sk": condition("EQ", n(1))})
