"""What condition expressions mean. Every condition is asked of one item by an update that changes nothing."""

import pytest

from expectations import CONDITION_FAILED, refused

ITEM = {
    "pk": {"S": "subject"},
    "s": {"S": "banana"},
    "n": {"N": "10"},
    "b": {"B": "AQID"},
    "t": {"BOOL": True},
    "nothing": {"NULL": True},
    "ss": {"SS": ["a", "b", "c"]},
    "ns": {"NS": ["1", "2.5"]},
    "bs": {"BS": ["AQ==", "Ag=="]},
    "l": {"L": [{"S": "x"}, {"N": "1"}, {"L": [{"S": "deep"}]}]},
    "m": {"M": {"k": {"S": "v"}, "n": {"M": {"z": {"N": "7"}}}}},
    "blank": {"S": ""},
    "umlaut": {"S": "äö"},
}
VALUES = {
    ":banana": {"S": "banana"},
    ":ban": {"S": "ban"},
    ":nan": {"S": "nan"},
    ":apple": {"S": "apple"},
    ":cherry": {"S": "cherry"},
    ":upper": {"S": "Banana"},
    ":ten": {"N": "10"},
    ":ten_too": {"N": "1.0e1"},
    ":nine": {"N": "9"},
    ":hundred": {"N": "100"},
    ":ten_text": {"S": "10"},
    ":bytes": {"B": "AQID"},
    ":bytes_start": {"B": "AQI="},
    ":bytes_inside": {"B": "Ag=="},
    ":bytes_more": {"B": "/w=="},
    ":yes": {"BOOL": True},
    ":no": {"BOOL": False},
    ":null": {"NULL": True},
    ":a": {"S": "a"},
    ":set": {"SS": ["c", "a", "b"]},
    ":smaller_set": {"SS": ["a", "b"]},
    ":number_set": {"NS": ["2.50", "1"]},
    ":two_and_a_half": {"N": "2.5"},
    ":list": {"L": [{"S": "x"}, {"N": "1.0"}, {"L": [{"S": "deep"}]}]},
    ":inner_list": {"L": [{"S": "deep"}]},
    ":map": {"M": {"n": {"M": {"z": {"N": "7"}}}, "k": {"S": "v"}}},
    ":v": {"S": "v"},
    ":seven": {"N": "7"},
    ":x": {"S": "x"},
    ":six": {"N": "6"},
    ":three": {"N": "3"},
    ":two": {"N": "2"},
    ":zero": {"N": "0"},
    ":four": {"N": "4"},
    ":none": {"S": ""},
    ":type_s": {"S": "S"},
    ":type_n": {"S": "N"},
    ":type_m": {"S": "M"},
    ":type_l": {"S": "L"},
    ":type_ss": {"S": "SS"},
    ":type_null": {"S": "NULL"},
    ":type_bool": {"S": "BOOL"},
}

TRUE = [
    "s = :banana",
    "s <> :apple",
    "s <> :upper",
    "s > :apple",
    "s < :cherry",
    "s >= :banana AND s <= :banana",
    "s BETWEEN :apple AND :cherry",
    "s BETWEEN :banana AND :banana",
    "s IN (:apple, :banana)",
    "s IN (:ten, :banana)",
    "n = :ten",
    "n = :ten_too",
    "n <> :ten_text",
    "n > :nine",
    "n < :hundred",
    "n IN (:nine, :ten)",
    ":nine < n",
    ":ten = n",
    "b = :bytes",
    "b > :bytes_start",
    "b < :bytes_more",
    "t = :yes",
    "t <> :no",
    "nothing = :null",
    "ss = :set",
    "ss <> :smaller_set",
    "ns = :number_set",
    "l = :list",
    "m = :map",
    "m.k = :v",
    "m.n.z = :seven",
    "l[0] = :x",
    "l[2] = :inner_list",
    "l[9] <> :x",
    "m.absent <> :x",
    "absent <> :x",
    "absent <> absent_too",
    "s <> n",
    "NOT absent = :x",
    "NOT absent < :x",
    "NOT (s = :apple)",
    "NOT NOT s = :banana",
    "s = :apple OR n = :ten",
    "s = :apple OR s = :cherry OR n = :ten AND t = :yes",
    "(s = :apple OR s = :banana) AND n = :ten",
    "not s = :apple and n = :ten",
    "attribute_exists(s)",
    "attribute_exists(m.n.z)",
    "attribute_exists(l[2][0])",
    "attribute_exists(nothing)",
    "attribute_not_exists(absent)",
    "attribute_not_exists(m.absent.x)",
    "attribute_not_exists(s.k)",
    "attribute_not_exists(l[3])",
    "attribute_type(s, :type_s)",
    "attribute_type(n, :type_n)",
    "attribute_type(m.n, :type_m)",
    "attribute_type(l[2], :type_l)",
    "attribute_type(ss, :type_ss)",
    "attribute_type(nothing, :type_null)",
    "attribute_type(t, :type_bool)",
    "begins_with(s, :ban)",
    "begins_with(s, :none)",
    "begins_with(b, :bytes_start)",
    "contains(s, :nan)",
    "contains(b, :bytes_inside)",
    "contains(ss, :a)",
    "contains(ns, :two_and_a_half)",
    "contains(l, :x)",
    "contains(l, :inner_list)",
    "size(s) = :six",
    "size(b) = :three",
    "size(ss) = :three",
    "size(l) = :three",
    "size(m) = :two",
    "size(blank) = :zero",
    "size(:banana) = :six",
    "size(s) > size(b)",
    "size(s) BETWEEN :three AND :ten",
    "size(l) IN (:two, :three)",
]

FALSE = [
    "s = :apple",
    "s = :upper",
    "s <> :banana",
    "s < :banana",
    "s BETWEEN :cherry AND :cherry",
    "s IN (:apple, :cherry)",
    "n = :ten_text",
    "n < :ten",
    "b = :bytes_start",
    "t = :no",
    "ss = :smaller_set",
    "m.k = :x",
    "l[1] = :x",
    "absent = :x",
    "absent = absent_too",
    "absent < :x",
    "absent > :x",
    "absent BETWEEN :a AND :x",
    "absent IN (:a, :x)",
    "n > :apple",
    "n BETWEEN :apple AND :cherry",
    "NOT s = :banana",
    "s = :banana AND n = :nine",
    "NOT (s = :banana OR absent = :x)",
    "attribute_exists(absent)",
    "attribute_exists(m.absent)",
    "attribute_exists(s[0])",
    "attribute_not_exists(s)",
    "attribute_type(s, :type_n)",
    "attribute_type(absent, :type_s)",
    "begins_with(s, :nan)",
    "begins_with(absent, :ban)",
    "begins_with(b, :bytes_inside)",
    "contains(s, :cherry)",
    "contains(ss, :x)",
    "contains(absent, :x)",
    "contains(l, :a)",
    "contains(ss, :ten)",
    "contains(t, :x)",
    "size(absent) = :zero",
    "size(n) = :two",
    "size(t) = :zero",
]


@pytest.fixture(scope="module")
def table(wire, new_table):
    name = new_table("pk:S")
    wire.call("PutItem", TableName=name, Item=ITEM)
    return name


def used_values(expression):
    words = "".join(character if character.isalnum() or character in ":_" else " " for character in expression).split()
    return {word: VALUES[word] for word in words if word.startswith(":")}


def ask(wire, table, expression, key="subject"):
    values = used_values(expression)
    more = {"ExpressionAttributeValues": values} if values else {}
    wire.call("UpdateItem", TableName=table, Key={"pk": {"S": key}}, ConditionExpression=expression, **more)


@pytest.mark.parametrize("expression", TRUE)
def test_condition_holds(wire, table, expression):
    ask(wire, table, expression)


@pytest.mark.parametrize("expression", FALSE)
def test_condition_does_not_hold(wire, table, expression):
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        ask(wire, table, expression)


@pytest.mark.parametrize("expression", TRUE)
def test_filter_lets_pass_what_a_condition_accepts(wire, table, expression):
    assert scan_count(wire, table, expression) == 1


@pytest.mark.parametrize("expression", FALSE)
def test_filter_holds_back_what_a_condition_refuses(wire, table, expression):
    assert scan_count(wire, table, expression) == 0


def scan_count(wire, table, expression):
    values = used_values(expression)
    more = {"ExpressionAttributeValues": values} if values else {}
    answer = wire.call("Scan", TableName=table, FilterExpression=expression, Select="COUNT", **more)
    assert answer["ScannedCount"] == 1
    return answer["Count"]


@pytest.mark.parametrize(
    "expression, holds",
    [
        ("attribute_not_exists(pk)", True),
        ("attribute_exists(pk)", False),
        ("s <> :banana", True),
        ("NOT s = :banana", True),
        ("s = :banana", False),
    ],
)
def test_missing_item_is_an_empty_item_to_a_condition(wire, table, expression, holds):
    request = {"TableName": table, "Key": {"pk": {"S": "nobody"}}, "ConditionExpression": expression}
    if values := used_values(expression):
        request["ExpressionAttributeValues"] = values
    if holds:
        wire.call("DeleteItem", request)
    else:
        with refused("ConditionalCheckFailedException", CONDITION_FAILED):
            wire.call("DeleteItem", request)


@pytest.mark.parametrize("word", ["status", "name", "size", "value", "data", "count"])
def test_reserved_words_are_usable_through_names(wire, table, word):
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "reserved"}, word: {"S": "banana"}})
    wire.call(
        "DeleteItem",
        TableName=table,
        Key={"pk": {"S": "reserved"}},
        ConditionExpression="#w = :banana",
        ExpressionAttributeNames={"#w": word},
        ExpressionAttributeValues={":banana": {"S": "banana"}},
    )


def test_names_with_dots_are_one_attribute_through_names(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "dotted"}, "a.b": {"N": "1"}})
    request = {"TableName": table, "Key": {"pk": {"S": "dotted"}}}
    wire.call(
        "UpdateItem",
        request,
        ConditionExpression="attribute_exists(#d) AND attribute_not_exists(a.b)",
        ExpressionAttributeNames={"#d": "a.b"},
    )
    wire.call("DeleteItem", request)
