"""What update expressions do, and what UpdateItem returns."""

import pytest

from expectations import CONDITION_FAILED, canonical, invalid, parameters, refused

INCORRECT_TYPE = "An operand in the update expression has an incorrect data type"
INVALID_PATH = "The document path provided in the update expression is invalid for update"
NO_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"

START = {
    "n": {"N": "10"},
    "s": {"S": "text"},
    "l": {"L": [{"N": "0"}, {"N": "1"}, {"N": "2"}]},
    "m": {"M": {"a": {"N": "1"}, "deep": {"M": {"b": {"S": "B"}}}}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["AQ=="]},
}
VALUES = {
    ":one": {"N": "1"},
    ":two": {"N": "2"},
    ":zero": {"N": "0"},
    ":x": {"S": "x"},
    ":list": {"L": [{"S": "x"}, {"S": "y"}]},
    ":map": {"M": {"k": {"S": "v"}}},
    ":bc": {"SS": ["b", "c"]},
    ":ab": {"SS": ["a", "b"]},
    ":numbers": {"NS": ["2.0", "3"]},
    ":bytes": {"BS": ["Ag=="]},
    ":huge": {"N": "9e125"},
    ":tiny": {"N": "0.1"},
    ":none": {"L": []},
}


@pytest.fixture(scope="module")
def table(new_table):
    return new_table("pk:S")


def used_values(expression):
    words = "".join(character if character.isalnum() or character in ":_" else " " for character in expression).split()
    return {word: VALUES[word] for word in words if word.startswith(":")}


def update(wire, table, expression, key="subject", **more):
    if values := used_values(expression):
        more["ExpressionAttributeValues"] = values
    return wire.call("UpdateItem", TableName=table, Key={"pk": {"S": key}}, UpdateExpression=expression, **more)


def restart(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "subject"}, **START})


def read(wire, table, key="subject"):
    item = wire.call("GetItem", TableName=table, Key={"pk": {"S": key}}, ConsistentRead=True).get("Item")
    return item and {name: canonical(value) for name, value in item.items() if name != "pk"}


def numbers(*values):
    return {"L": [{"N": str(value)} for value in values]}


@pytest.mark.parametrize(
    "expression, changed",
    [
        ("SET n = :one", {"n": {"N": "1"}}),
        ("SET fresh = :x", {"fresh": {"S": "x"}}),
        ("SET s = :map", {"s": {"M": {"k": {"S": "v"}}}}),
        ("SET n = n + :one", {"n": {"N": "11"}}),
        ("SET n = n - :tiny", {"n": {"N": "9.9"}}),
        ("SET n = :one - n", {"n": {"N": "-9"}}),
        ("SET n = n + n", {"n": {"N": "20"}}),
        ("SET n = m.a, m.a = n", {"n": {"N": "1"}, "m": {"M": {"a": {"N": "10"}, "deep": {"M": {"b": {"S": "B"}}}}}}),
        ("SET n = if_not_exists(n, :zero) + :one", {"n": {"N": "11"}}),
        ("SET hits = if_not_exists(hits, :zero) + :one", {"hits": {"N": "1"}}),
        ("SET fresh = if_not_exists(absent, if_not_exists(absent2, :x))", {"fresh": {"S": "x"}}),
        ("SET m.c = :x", {"m": {"M": {"a": {"N": "1"}, "c": {"S": "x"}, "deep": {"M": {"b": {"S": "B"}}}}}}),
        ("SET m.deep.b = :x", {"m": {"M": {"a": {"N": "1"}, "deep": {"M": {"b": {"S": "x"}}}}}}),
        ("SET l[1] = :two", {"l": numbers(0, 2, 2)}),
        ("SET l[99] = :two", {"l": numbers(0, 1, 2, 2)}),
        ("SET l[7] = :two, l[5] = :one", {"l": numbers(0, 1, 2, 1, 2)}),
        ("SET l = list_append(l, :list)", {"l": {"L": [*numbers(0, 1, 2)["L"], {"S": "x"}, {"S": "y"}]}}),
        ("SET l = list_append(:list, l)", {"l": {"L": [{"S": "x"}, {"S": "y"}, *numbers(0, 1, 2)["L"]]}}),
        ("SET q = list_append(if_not_exists(q, :none), :list)", {"q": {"L": [{"S": "x"}, {"S": "y"}]}}),
        ("set n = :one remove s", {"n": {"N": "1"}, "s": None}),
        ("REMOVE s", {"s": None}),
        ("REMOVE absent", {}),
        ("REMOVE l[0], l[2]", {"l": numbers(1)}),
        ("REMOVE l[50]", {}),
        ("REMOVE m.deep.b", {"m": {"M": {"a": {"N": "1"}, "deep": {"M": {}}}}}),
        ("REMOVE m.absent", {}),
        ("ADD n :one", {"n": {"N": "11"}}),
        ("ADD fresh :two", {"fresh": {"N": "2"}}),
        ("ADD ss :bc", {"ss": {"SS": ["a", "b", "c"]}}),
        ("ADD ns :numbers", {"ns": {"NS": ["1", "2", "3"]}}),
        ("ADD bs :bytes", {"bs": {"BS": ["AQ==", "Ag=="]}}),
        ("ADD freshset :bc", {"freshset": {"SS": ["b", "c"]}}),
        ("ADD m.a :two", {"m": {"M": {"a": {"N": "3"}, "deep": {"M": {"b": {"S": "B"}}}}}}),
        ("DELETE ss :bc", {"ss": {"SS": ["a"]}}),
        ("DELETE ss :ab", {"ss": None}),
        ("DELETE absent :ab", {}),
        ("DELETE ns :numbers", {"ns": {"NS": ["1"]}}),
        (
            "SET n = :one REMOVE s ADD ns :numbers DELETE ss :bc",
            {"n": {"N": "1"}, "s": None, "ns": {"NS": ["1", "2", "3"]}, "ss": {"SS": ["a"]}},
        ),
    ],
)
def test_update_changes_exactly_this(wire, table, expression, changed):
    restart(wire, table)
    update(wire, table, expression)
    expected = {name: value for name, value in {**START, **changed}.items() if value is not None}
    assert read(wire, table) == canonical(expected)


@pytest.mark.parametrize(
    "expression, message",
    [
        ("SET x1 = absent", NO_ATTRIBUTE),
        ("SET x1 = absent + :one", NO_ATTRIBUTE),
        ("SET x1 = l[9]", NO_ATTRIBUTE),
        ("SET x1 = list_append(absent, :list)", NO_ATTRIBUTE),
        ("SET n = s + :one", INCORRECT_TYPE),
        ("SET l = list_append(s, :list)", INCORRECT_TYPE),
        ("ADD s :one", INCORRECT_TYPE),
        ("ADD n :bc", INCORRECT_TYPE),
        ("ADD ns :bc", INCORRECT_TYPE),
        ("DELETE n :bc", INCORRECT_TYPE),
        ("SET absent.k = :x", INVALID_PATH),
        ("SET s.k = :x", INVALID_PATH),
        ("SET m[0] = :x", INVALID_PATH),
        ("SET l.k = :x", INVALID_PATH),
        ("REMOVE absent.k", INVALID_PATH),
        (
            "SET n = :huge + :huge",
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
    ],
)
def test_update_that_does_not_fit_the_item_is_refused_and_changes_nothing(wire, table, expression, message):
    restart(wire, table)
    before = read(wire, table)
    with invalid(message):
        update(wire, table, expression)
    assert read(wire, table) == before


def test_condition_is_checked_before_the_update_meets_the_item(wire, table):
    restart(wire, table)
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        update(wire, table, "SET x1 = absent", ConditionExpression="attribute_exists(absent)")


@pytest.mark.parametrize("attribute", ["pk", "sk"])
def test_key_cannot_be_updated(wire, new_table, attribute):
    table = new_table("pk:S sk:S")
    request = {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"S": "b"}}}
    with invalid(parameters(f"Cannot update attribute {attribute}. This attribute is part of the key")):
        wire.call(
            "UpdateItem",
            request,
            UpdateExpression=f"SET {attribute} = :x",
            ExpressionAttributeValues={":x": {"S": "x"}},
        )
    with invalid(parameters(f"Cannot update attribute {attribute}. This attribute is part of the key")):
        wire.call("UpdateItem", request, UpdateExpression=f"REMOVE {attribute}")


# ---- items that do not exist


@pytest.mark.parametrize(
    "expression, created",
    [
        ("SET a = :x", {"a": {"S": "x"}}),
        ("ADD a :one", {"a": {"N": "1"}}),
        ("SET a = :x REMOVE b", {"a": {"S": "x"}}),
        (None, {}),
        ("REMOVE a", None),
        ("DELETE a :ab", None),
        ("REMOVE a.b", None),
    ],
)
def test_update_of_a_missing_item_creates_it_when_it_sets_something(wire, table, expression, created):
    key = f"missing {expression}"
    if expression is None:
        wire.call("UpdateItem", TableName=table, Key={"pk": {"S": key}})
    else:
        update(wire, table, expression, key)
    assert read(wire, table, key) == created


# ---- indexes


def test_index_key_cannot_become_something_no_index_can_hold(wire, new_table):
    table = new_table("pk:S", global_indexes=[("byKind", "kind:S")])
    request = {"TableName": table, "Key": {"pk": {"S": "a"}}}
    wire.call("UpdateItem", request, UpdateExpression="SET kind = :k", ExpressionAttributeValues={":k": {"S": "k"}})
    with invalid(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index key "
        "to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value."
    ):
        wire.call("UpdateItem", request, UpdateExpression="SET kind = :k", ExpressionAttributeValues={":k": {"S": ""}})
    with invalid(parameters("Type mismatch for Index Key kind Expected: S Actual: N IndexName: byKind")):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "a"}, "kind": {"N": "1"}})
    with invalid(
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. The "
        "AttributeValue for a key attribute cannot contain an empty string value. IndexName: byKind, IndexKey: kind"
    ):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "a"}, "kind": {"S": ""}})


# ---- what is returned


@pytest.mark.parametrize(
    "return_values, expression, returned",
    [
        ("NONE", "SET n = :one", None),
        ("ALL_OLD", "SET n = :one", {"pk": {"S": "subject"}, **START}),
        ("ALL_NEW", "SET n = :one", {"pk": {"S": "subject"}, **START, "n": {"N": "1"}}),
        ("UPDATED_OLD", "SET n = :one, fresh = :x", {"n": {"N": "10"}}),
        ("UPDATED_NEW", "SET n = :one, fresh = :x", {"n": {"N": "1"}, "fresh": {"S": "x"}}),
        ("UPDATED_OLD", "SET m.a = :x", {"m": {"M": {"a": {"N": "1"}}}}),
        ("UPDATED_NEW", "SET m.deep.b = :x", {"m": {"M": {"deep": {"M": {"b": {"S": "x"}}}}}}),
        ("UPDATED_NEW", "SET l[1] = :x", {"l": {"L": [{"S": "x"}]}}),
        ("UPDATED_NEW", "REMOVE l[1]", {"l": {"L": [{"N": "2"}]}}),
        ("UPDATED_OLD", "REMOVE s", {"s": {"S": "text"}}),
        ("UPDATED_NEW", "REMOVE s", None),
        ("UPDATED_NEW", "ADD ss :bc", {"ss": {"SS": ["a", "b", "c"]}}),
        ("UPDATED_OLD", "SET fresh = :x", None),
    ],
)
def test_update_returns_what_was_asked_for(wire, table, return_values, expression, returned):
    restart(wire, table)
    answer = update(wire, table, expression, ReturnValues=return_values)
    assert canonical(answer) == ({} if returned is None else {"Attributes": canonical(returned)})


def test_counter_hands_out_each_number_once(wire, table):
    seen = [
        update(wire, table, "ADD hits :one", "counter", ReturnValues="UPDATED_NEW")["Attributes"]["hits"]["N"]
        for _ in range(20)
    ]
    assert seen == [str(number) for number in range(1, 21)]


def test_update_cannot_grow_an_item_past_the_limit(wire, table):
    key = {"pk": {"S": "big"}}
    wire.call("PutItem", TableName=table, Item={**key, "a": {"S": "x" * 300_000}})
    with invalid("Item size to update has exceeded the maximum allowed size"):
        wire.call(
            "UpdateItem",
            TableName=table,
            Key=key,
            UpdateExpression="SET b = :b",
            ExpressionAttributeValues={":b": {"S": "y" * 110_000}},
        )
