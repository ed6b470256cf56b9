"""PutItem, GetItem and DeleteItem: every type of value, keys, sizes, and what the writes return."""

import pytest

from expectations import (
    ANY_MESSAGE,
    CONDITION_FAILED,
    KEY_MISMATCH,
    NO_TABLE,
    at,
    canonical,
    constraint,
    invalid,
    parameters,
    refused,
)

NOT_EMPTY = "The AttributeValue for a key attribute cannot contain an empty {} value. Key: {}"


@pytest.fixture(scope="module")
def table(new_table):
    return new_table("pk:S")


@pytest.fixture(scope="module")
def sorted_table(new_table):
    return new_table("pk:S sk:N")


def put(wire, table, key, **attributes):
    return wire.call("PutItem", TableName=table, Item={"pk": {"S": key}, **attributes})


def get(wire, table, key, **more):
    return wire.call("GetItem", TableName=table, Key={"pk": {"S": key}}, ConsistentRead=True, **more).get("Item")


def nested(levels, leaf=None):
    value = leaf or {"S": "leaf"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


# ---- types


@pytest.mark.parametrize(
    "value",
    [
        {"S": ""},
        {"S": "plain"},
        {"S": 'perché no? \u2028 \U0001f4ec \x00 \\ " \n'},
        {"S": "x" * 100_000},
        {"B": ""},
        {"B": "AAECAwT/"},
        {"BOOL": True},
        {"BOOL": False},
        {"NULL": True},
        {"SS": ["b", "a", ""]},
        {"NS": ["3", "-1", "0.5"]},
        {"BS": ["AQ==", "Ag==", ""]},
        {"L": []},
        {"M": {}},
        {"L": [{"N": "1"}, {"S": "two"}, {"L": [{"BOOL": False}]}, {"NULL": True}]},
        {"M": {"a": {"M": {"b": {"SS": ["x", "y"]}}}}},
        nested(31),
    ],
    ids=lambda value: str(value)[:40],
)
def test_value_comes_back_as_it_was(wire, table, value):
    put(wire, table, "type", value=value)
    assert canonical(get(wire, table, "type")) == {"pk": {"S": "type"}, "value": canonical(value)}


@pytest.mark.parametrize(
    "written, read",
    [
        ("0", "0"),
        ("-0", "0"),
        ("0.000", "0"),
        ("1.0", "1"),
        ("+5", "5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1.e5", "100000"),
        ("00042", "42"),
        ("123.4500", "123.45"),
        ("-1.5e-3", "-0.0015"),
        ("1E2", "100"),
        ("1e125", "1" + "0" * 125),
        ("-1e125", "-1" + "0" * 125),
        ("1e-130", "0." + "0" * 129 + "1"),
        ("9.9999999999999999999999999999999999999E+125", "9" * 38 + "0" * 88),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("0.00012345678901234567890123456789012345678", "0.00012345678901234567890123456789012345678"),
        ("100000000000000000000000000000000000000000", "1" + "0" * 41),
    ],
)
def test_number_is_shown_in_plain_decimals(wire, table, written, read):
    put(wire, table, "number", value={"N": written}, inside={"NS": [written]})
    item = get(wire, table, "number")
    assert (item["value"], item["inside"]) == ({"N": read}, {"NS": [read]})


@pytest.mark.parametrize(
    "text", ["e2", "1+2", "1.2.3", "+", "1e", ".", "0x1F", "NaN", "Infinity", "1_000", " 1", "1 ", "abc"]
)
def test_text_that_is_no_number_is_refused(wire, table, text):
    with invalid(f"The parameter cannot be converted to a numeric value: {text}"):
        put(wire, table, "number", value={"N": text})


@pytest.mark.parametrize(
    "number, message",
    [
        ("1e126", "Number overflow. Attempting to store a number with magnitude larger than supported range"),
        ("-1e126", "Number overflow. Attempting to store a number with magnitude larger than supported range"),
        ("1e-131", "Number underflow. Attempting to store a number with magnitude smaller than supported range"),
        ("1" * 39, "Attempting to store more than 38 significant digits in a Number"),
        ("1." + "0" * 37 + "1", "Attempting to store more than 38 significant digits in a Number"),
        ("", "The parameter cannot be converted to a numeric value"),
    ],
)
def test_number_outside_the_range_is_refused(wire, table, number, message):
    with invalid(message):
        put(wire, table, "number", value={"N": number})


@pytest.mark.parametrize(
    "value, message",
    [
        ({"SS": []}, parameters("An string set  may not be empty")),
        ({"NS": []}, parameters("An number set  may not be empty")),
        ({"BS": []}, parameters("Binary sets should not be empty")),
        ({"SS": ["a", "a"]}, parameters("Input collection [a, a] contains duplicates.")),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        ({"BS": ["Yg==", "Yg=="]}, parameters("Input collection [Yg==, Yg==]of type BS contains duplicates.")),
        ({"NULL": False}, parameters("Null attribute value types must have the value of true")),
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        (
            {"S": "a", "N": "1"},
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes",
        ),
        ({"M": {"deep": {"L": [{"SS": []}]}}}, parameters("An string set  may not be empty")),
        (
            nested(32),
            "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
            "limit",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_malformed_value_is_refused(wire, table, value, message):
    with invalid(message):
        put(wire, table, "malformed", value=value)


def test_attribute_without_a_name_is_refused(wire, table):
    with invalid("Empty attribute name"):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "a"}, "": {"S": "b"}})


# ---- sizes


@pytest.mark.parametrize(
    "value, size",
    [
        ({"S": "é"}, 2),
        ({"S": "\U0001f4ec"}, 4),
        ({"B": "AAECAw=="}, 4),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["ab", "c"]}, 3),
        ({"N": "0"}, 1),
        ({"N": "100"}, 2),
        ({"N": "1E125"}, 2),
        ({"N": "0.15"}, 2),
        ({"N": "1234"}, 3),
        ({"N": "-42"}, 3),
        ({"N": "100.5"}, 4),
        ({"N": "3.14159"}, 5),
        ({"N": "12345678901234567890123456789012345678"}, 20),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}]}, 3 + 1 + 2),
        ({"M": {"key": {"BOOL": True}}}, 3 + 1 + 3 + 1),
    ],
    ids=str,
)
def test_item_size_is_the_sum_of_names_and_values(wire, table, value, size):
    rest = 409_600 - len("pk") - len("size") - len("value") - size - len("pad")
    put(wire, table, "size", value=value, pad={"S": "x" * rest})
    with invalid("Item size has exceeded the maximum allowed size"):
        put(wire, table, "size", value=value, pad={"S": "x" * (rest + 1)})


@pytest.mark.parametrize("name_bytes, accepted", [(65_535, True), (65_536, False)])
def test_attribute_name_has_at_most_64_kilobytes(wire, table, name_bytes, accepted):
    name = "n" * name_bytes
    if accepted:
        put(wire, table, "name", **{name: {"S": "v"}})
        assert get(wire, table, "name")[name] == {"S": "v"}
    else:
        with refused("ValidationException", ANY_MESSAGE):
            put(wire, table, "name", **{name: {"S": "v"}})


# ---- keys


@pytest.mark.parametrize(
    "item, message",
    [
        ({"other": {"S": "a"}}, parameters("Missing the key pk in the item")),
        ({"pk": {"S": "a"}}, parameters("Missing the key sk in the item")),
        ({"pk": {"N": "1"}, "sk": {"N": "1"}}, parameters("Type mismatch for key pk expected: S actual: N")),
        ({"pk": {"S": "a"}, "sk": {"S": "1"}}, parameters("Type mismatch for key sk expected: N actual: S")),
        ({"pk": {"S": "a"}, "sk": {"M": {}}}, parameters("Type mismatch for key sk expected: N actual: M")),
        (
            {"pk": {"S": ""}, "sk": {"N": "1"}},
            "One or more parameter values are not valid. " + NOT_EMPTY.format("string", "pk"),
        ),
        (
            {"pk": {"S": "x" * 2049}, "sk": {"N": "1"}},
            parameters("Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_put_with_a_bad_key_is_refused(wire, sorted_table, item, message):
    with invalid(message):
        wire.call("PutItem", TableName=sorted_table, Item=item)


def test_sort_key_has_at_most_1024_bytes(wire, new_table):
    table = new_table("pk:S sk:B")
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "x" * 2048}, "sk": {"B": "AAAA" * 341 + "AA=="}})
    with invalid(parameters("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "a"}, "sk": {"B": "AAAA" * 341 + "AAA="}})
    with invalid("One or more parameter values are not valid. " + NOT_EMPTY.format("binary", "sk")):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "a"}, "sk": {"B": ""}})


@pytest.mark.parametrize(
    "key",
    [
        {},
        {"pk": {"S": "a"}},
        {"sk": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"S": "1"}},
        {"pk": {"S": "a"}, "other": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "more": {"S": "b"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("operation", ["GetItem", "DeleteItem", "UpdateItem"])
def test_key_that_does_not_fit_the_schema_is_refused(wire, sorted_table, operation, key):
    with invalid(KEY_MISMATCH):
        wire.call(operation, TableName=sorted_table, Key=key)


def test_numbers_are_one_key_when_they_are_equal(wire, new_table):
    table = new_table("pk:N")
    wire.call("PutItem", TableName=table, Item={"pk": {"N": "1"}, "v": {"S": "first"}})
    wire.call("PutItem", TableName=table, Item={"pk": {"N": "1.0"}, "v": {"S": "second"}})
    for spelling in ("1", "1.00", "1e0", "10e-1"):
        item = wire.call("GetItem", TableName=table, Key={"pk": {"N": spelling}})["Item"]
        assert item == {"pk": {"N": "1"}, "v": {"S": "second"}}
    assert wire.call("Scan", TableName=table)["Count"] == 1


@pytest.mark.parametrize("operation", ["GetItem", "PutItem", "DeleteItem", "UpdateItem"])
def test_missing_table_is_not_found(wire, operation):
    content = {"Item" if operation == "PutItem" else "Key": {"pk": {"S": "a"}}}
    with refused("ResourceNotFoundException", NO_TABLE):
        wire.call(operation, TableName="no-such-table", **content)


@pytest.mark.parametrize(
    "name, fault",
    [
        (None, at("tableName", "null", "Member must not be null")),
        ("", at("tableName", "''", "Member must have length greater than or equal to 1")),
        (
            "bad table!",
            at("tableName", "'bad table!'", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
        ),
        ("a" * 256, at("tableName", f"'{'a' * 256}'", "Member must have length less than or equal to 255")),
    ],
    ids=lambda value: str(value)[:30],
)
@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem", "UpdateItem"])
def test_bad_table_name_breaks_a_constraint(wire, operation, name, fault):
    content = {"Item" if operation == "PutItem" else "Key": {"pk": {"S": "a"}}}
    with invalid(constraint(fault)):
        wire.call(operation, TableName=name, **content)


def test_table_can_be_named_by_its_arn(wire, table):
    arn = wire.call("DescribeTable", TableName=table)["Table"]["TableArn"]
    put(wire, table, "arn", v={"N": "1"})
    assert get(wire, arn, "arn") == {"pk": {"S": "arn"}, "v": {"N": "1"}}


# ---- reading


def test_get_of_nothing_answers_without_an_item(wire, table):
    assert wire.call("GetItem", TableName=table, Key={"pk": {"S": "nobody"}}) == {}


@pytest.mark.parametrize(
    "projection, expected",
    [
        ("a", {"a": {"N": "1"}}),
        ("a, absent", {"a": {"N": "1"}}),
        ("absent", {}),
        ("m.x", {"m": {"M": {"x": {"S": "X"}}}}),
        ("m.nest.y, m.x", {"m": {"M": {"x": {"S": "X"}, "nest": {"M": {"y": {"S": "Y"}}}}}}),
        ("l[2], l[0]", {"l": {"L": [{"N": "10"}, {"N": "30"}]}}),
        ("l[9]", {}),
        ("#n", {"name": {"S": "reserved"}}),
        ("#m.#x", {"m": {"M": {"x": {"S": "X"}}}}),
    ],
)
def test_projection_returns_the_paths_that_exist(wire, table, projection, expected):
    put(
        wire,
        table,
        "projection",
        a={"N": "1"},
        m={"M": {"x": {"S": "X"}, "nest": {"M": {"y": {"S": "Y"}, "z": {"S": "Z"}}}}},
        l={"L": [{"N": "10"}, {"N": "20"}, {"N": "30"}]},
        name={"S": "reserved"},
    )
    names = {place: name for place, name in {"#n": "name", "#m": "m", "#x": "x"}.items() if place in projection}
    more = {"ExpressionAttributeNames": names} if names else {}
    assert get(wire, table, "projection", ProjectionExpression=projection, **more) == expected


# ---- what writes return


def test_put_replaces_the_whole_item_and_can_return_the_old_one(wire, table):
    put(wire, table, "replace", a={"N": "1"}, b={"N": "2"})
    answer = wire.call(
        "PutItem", TableName=table, Item={"pk": {"S": "replace"}, "c": {"N": "3"}}, ReturnValues="ALL_OLD"
    )
    assert answer == {"Attributes": {"pk": {"S": "replace"}, "a": {"N": "1"}, "b": {"N": "2"}}}
    assert get(wire, table, "replace") == {"pk": {"S": "replace"}, "c": {"N": "3"}}


def test_first_put_has_no_old_item_to_return(wire, table):
    assert wire.call("PutItem", TableName=table, Item={"pk": {"S": "new"}}, ReturnValues="ALL_OLD") == {}


def test_delete_removes_and_can_return_the_item(wire, table):
    put(wire, table, "gone", a={"N": "1"})
    key = {"pk": {"S": "gone"}}
    answer = wire.call("DeleteItem", TableName=table, Key=key, ReturnValues="ALL_OLD")
    assert answer == {"Attributes": {"pk": {"S": "gone"}, "a": {"N": "1"}}}
    assert get(wire, table, "gone") is None
    assert wire.call("DeleteItem", TableName=table, Key=key, ReturnValues="ALL_OLD") == {}


@pytest.mark.parametrize("values", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_put_and_delete_return_nothing_but_the_old_item(wire, table, values):
    with invalid("ReturnValues can only be ALL_OLD or NONE"):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "a"}}, ReturnValues=values)
    with invalid("ReturnValues can only be ALL_OLD or NONE"):
        wire.call("DeleteItem", TableName=table, Key={"pk": {"S": "a"}}, ReturnValues=values)


def test_unknown_enumeration_members_are_all_reported(wire, table):
    faults = [
        at(
            "returnConsumedCapacity",
            "'MUCH'",
            "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
        ),
        at(
            "returnItemCollectionMetrics",
            "'LARGE'",
            "Member must satisfy enum value set: [SIZE, NONE]",
        ),
        at(
            "returnValues",
            "'SOME'",
            "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
        ),
    ]
    with refused("ValidationException", ANY_MESSAGE) as seen:
        wire.call(
            "PutItem",
            TableName=table,
            Item={"pk": {"S": "a"}},
            ReturnConsumedCapacity="MUCH",
            ReturnItemCollectionMetrics="LARGE",
            ReturnValues="SOME",
        )
    start = "3 validation errors detected: "
    assert seen.message.startswith(start)
    assert sorted(seen.message[len(start) :].split("; ")) == sorted(faults)


# ---- conditions of writes


def test_put_can_insist_on_a_new_item(wire, table):
    request = {"TableName": table, "ConditionExpression": "attribute_not_exists(pk)"}
    wire.call("PutItem", request, Item={"pk": {"S": "once"}, "v": {"N": "1"}})
    with refused("ConditionalCheckFailedException", CONDITION_FAILED) as seen:
        wire.call("PutItem", request, Item={"pk": {"S": "once"}, "v": {"N": "2"}})
    assert "Item" not in seen.body
    assert get(wire, table, "once")["v"] == {"N": "1"}


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_failed_condition_can_return_the_item_it_saw(wire, table, operation):
    put(wire, table, "seen", v={"N": "1"})
    content = {"Item" if operation == "PutItem" else "Key": {"pk": {"S": "seen"}}}
    request = {
        "TableName": table,
        "ConditionExpression": "v = :two",
        "ExpressionAttributeValues": {":two": {"N": "2"}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    with refused("ConditionalCheckFailedException", CONDITION_FAILED) as seen:
        wire.call(operation, request, **content)
    assert seen.body["Item"] == {"pk": {"S": "seen"}, "v": {"N": "1"}}
    content = {"Item" if operation == "PutItem" else "Key": {"pk": {"S": "seen by nobody"}}}
    with refused("ConditionalCheckFailedException", CONDITION_FAILED) as seen:
        wire.call(operation, request, **content)
    assert "Item" not in seen.body


def test_conditional_delete_keeps_what_does_not_match(wire, table):
    put(wire, table, "kept", v={"N": "1"})
    request = {"TableName": table, "Key": {"pk": {"S": "kept"}}, "ConditionExpression": "v > :limit"}
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        wire.call("DeleteItem", request, ExpressionAttributeValues={":limit": {"N": "1"}})
    assert get(wire, table, "kept") is not None
    wire.call("DeleteItem", request, ExpressionAttributeValues={":limit": {"N": "0"}})
    assert get(wire, table, "kept") is None
