"""Query: key conditions of every kind, order, paging, filters, indexes, Select, and how it is refused."""

import re

import pytest

from expectations import NO_TABLE, at, constraint, invalid, parameters, refused

# A partition with sort keys of each type; the numbers test that they are ordered as numbers.
NUMBERS = ["-100", "-2.5", "-1", "0", "0.5", "1", "2", "10", "1e20"]
TEXTS = ["A", "B", "a", "ab", "abc", "b", "z", "à", "\U0001f4ec"]
BYTES = ["AA==", "AAE=", "AQ==", "fw==", "gA==", "/w==", "//8="]


@pytest.fixture(scope="module")
def numbers(wire, new_table):
    return filled(wire, new_table("pk:S sk:N"), "N", NUMBERS)


@pytest.fixture(scope="module")
def texts(wire, new_table):
    return filled(wire, new_table("pk:S sk:S"), "S", TEXTS)


@pytest.fixture(scope="module")
def binaries(wire, new_table):
    return filled(wire, new_table("pk:S sk:B"), "B", BYTES)


def filled(wire, table, kind, values):
    for order in reversed(range(len(values))):
        for partition in ("p", "q"):
            item = {"pk": {"S": partition}, "sk": {kind: values[order]}, "order": {"N": str(order)}}
            wire.call("PutItem", TableName=table, Item=item)
    return table


def query(wire, table, condition="pk = :p", values=None, **more):
    values = {":p": {"S": "p"}, **(values or {})}
    used = {name: value for name, value in values.items() if name in condition + more.get("FilterExpression", "")}
    return wire.call(
        "Query", TableName=table, KeyConditionExpression=condition, ExpressionAttributeValues=used, **more
    )


def orders(answer):
    return [int(item["order"]["N"]) for item in answer["Items"]]


# ---- key conditions and order


@pytest.mark.parametrize("table, count", [("numbers", len(NUMBERS)), ("texts", len(TEXTS)), ("binaries", len(BYTES))])
def test_items_come_in_the_order_of_the_sort_key(wire, request, table, count):
    table = request.getfixturevalue(table)
    assert orders(query(wire, table)) == list(range(count))
    assert orders(query(wire, table, ScanIndexForward=False)) == list(reversed(range(count)))


@pytest.mark.parametrize(
    "condition, low, high, expected",
    [
        ("sk = :a", "0.50", None, [4]),
        ("sk = :a", "7", None, []),
        ("sk < :a", "0", None, [0, 1, 2]),
        ("sk <= :a", "0", None, [0, 1, 2, 3]),
        ("sk > :a", "2", None, [7, 8]),
        ("sk >= :a", "2", None, [6, 7, 8]),
        ("sk BETWEEN :a AND :b", "-2.5", "0.5", [1, 2, 3, 4]),
        ("sk between :a and :b", "3", "4", []),
        (":a < sk", "1", None, [6, 7, 8]),
    ],
)
def test_condition_on_a_number_key(wire, numbers, condition, low, high, expected):
    answer = query(
        wire, numbers, f"pk = :p AND {condition}", {":a": {"N": low}, **({":b": {"N": high}} if high else {})}
    )
    assert orders(answer) == expected
    assert (answer["Count"], answer["ScannedCount"]) == (len(expected), len(expected))


@pytest.mark.parametrize(
    "condition, low, high, expected",
    [
        ("begins_with(sk, :a)", "a", None, ["a", "ab", "abc"]),
        ("begins_with(sk, :a)", "abcd", None, []),
        ("sk < :a", "a", None, ["A", "B"]),
        ("sk > :a", "z", None, ["à", "\U0001f4ec"]),
        ("sk BETWEEN :a AND :b", "ab", "b", ["ab", "abc", "b"]),
    ],
)
def test_condition_on_a_text_key(wire, texts, condition, low, high, expected):
    values = {":a": {"S": low}, **({":b": {"S": high}} if high else {})}
    answer = query(wire, texts, f"{condition} AND pk = :p", values)
    assert [item["sk"]["S"] for item in answer["Items"]] == expected


@pytest.mark.parametrize(
    "condition, low, expected",
    [
        ("begins_with(sk, :a)", "/w==", ["/w==", "//8="]),
        ("begins_with(sk, :a)", "AA==", ["AA==", "AAE="]),
        ("sk >= :a", "gA==", ["gA==", "/w==", "//8="]),
    ],
)
def test_condition_on_a_binary_key(wire, binaries, condition, low, expected):
    answer = query(wire, binaries, f"pk = :p AND {condition}", {":a": {"B": low}})
    assert [item["sk"]["B"] for item in answer["Items"]] == expected


def test_parentheses_and_names_are_allowed_in_key_conditions(wire, numbers):
    answer = query(
        wire,
        numbers,
        "(#p = :p) AND (#s > :a)",
        {":a": {"N": "2"}},
        ExpressionAttributeNames={"#p": "pk", "#s": "sk"},
    )
    assert orders(answer) == [7, 8]


def test_unknown_partition_is_empty(wire, numbers):
    answer = query(wire, numbers, "pk = :z", {":z": {"S": "z"}})
    assert answer == {"Items": [], "Count": 0, "ScannedCount": 0}


# ---- paging


@pytest.mark.parametrize("limit", [1, 2, 4, 9, 100])
@pytest.mark.parametrize("forward", [True, False])
def test_pages_join_to_the_whole(wire, numbers, limit, forward):
    collected, start, pages = [], {}, 0
    while True:
        answer = query(wire, numbers, Limit=limit, ScanIndexForward=forward, **start)
        collected += orders(answer)
        pages += 1
        assert answer["ScannedCount"] <= limit
        if "LastEvaluatedKey" not in answer:
            break
        assert set(answer["LastEvaluatedKey"]) == {"pk", "sk"}
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert collected == sorted(range(len(NUMBERS)), reverse=not forward)
    assert pages == len(NUMBERS) // limit + 1


def test_start_key_need_not_exist(wire, numbers):
    start = {"pk": {"S": "p"}, "sk": {"N": "1.5"}}
    assert orders(query(wire, numbers, ExclusiveStartKey=start)) == [6, 7, 8]
    assert orders(query(wire, numbers, ExclusiveStartKey=start, ScanIndexForward=False)) == [5, 4, 3, 2, 1, 0]


def test_limit_counts_what_is_examined_not_what_passes_the_filter(wire, numbers):
    answer = query(
        wire,
        numbers,
        values={":o": {"N": "5"}},
        FilterExpression="#o >= :o",
        ExpressionAttributeNames={"#o": "order"},
        Limit=4,
    )
    assert (answer["Items"], answer["Count"], answer["ScannedCount"]) == ([], 0, 4)
    assert answer["LastEvaluatedKey"] == {"pk": {"S": "p"}, "sk": {"N": "0"}}


def test_page_ends_after_a_megabyte(wire, new_table):
    table = new_table("pk:S sk:N")
    for number in range(5):
        item = {"pk": {"S": "p"}, "sk": {"N": str(number)}, "pad": {"S": "x" * 300_000}}
        wire.call("PutItem", TableName=table, Item=item)
    answer = query(wire, table, ProjectionExpression="sk")
    assert [item["sk"]["N"] for item in answer["Items"]] == ["0", "1", "2", "3"]
    rest = query(wire, table, ProjectionExpression="sk", ExclusiveStartKey=answer["LastEvaluatedKey"])
    assert [item["sk"]["N"] for item in rest["Items"]] == ["4"]
    assert "LastEvaluatedKey" not in rest


@pytest.mark.parametrize(
    "start, condition, message",
    [
        ({"pk": {"S": "p"}}, "pk = :p", "The provided starting key is invalid"),
        ({"pk": {"S": "p"}, "sk": {"S": "0"}}, "pk = :p", "The provided starting key is invalid"),
        ({"pk": {"S": "p"}, "sk": {"N": "0"}, "x": {"S": "y"}}, "pk = :p", "The provided starting key is invalid"),
        (
            {"pk": {"S": "q"}, "sk": {"N": "0"}},
            "pk = :p",
            "The provided starting key is outside query boundaries based on provided conditions",
        ),
        (
            {"pk": {"S": "p"}, "sk": {"N": "5"}},
            "pk = :p AND sk < :a",
            "The provided starting key does not match the range key predicate",
        ),
    ],
    ids=str,
)
def test_start_key_that_cannot_be_is_refused(wire, numbers, start, condition, message):
    with invalid(message):
        query(wire, numbers, condition, {":a": {"N": "0"}}, ExclusiveStartKey=start)


# ---- filters, projections, Select


def test_filter_and_projection_apply_after_the_key_condition(wire, numbers):
    answer = query(
        wire,
        numbers,
        "pk = :p AND sk > :a",
        {":a": {"N": "0"}, ":o": {"N": "7"}},
        FilterExpression="#o < :o",
        ProjectionExpression="#o",
        ExpressionAttributeNames={"#o": "order"},
    )
    assert answer == {
        "Items": [{"order": {"N": "4"}}, {"order": {"N": "5"}}, {"order": {"N": "6"}}],
        "Count": 3,
        "ScannedCount": 5,
    }


def test_count_returns_no_items(wire, numbers):
    answer = query(wire, numbers, Select="COUNT")
    assert answer == {"Count": len(NUMBERS), "ScannedCount": len(NUMBERS)}


@pytest.mark.parametrize(
    "more, message",
    [
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "sk"},
            "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "sk"},
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "EVERYTHING"},
            constraint(
                at(
                    "select",
                    "'EVERYTHING'",
                    "Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, "
                    "ALL_PROJECTED_ATTRIBUTES]",
                )
            ),
        ),
        (
            {"Limit": 0},
            "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value "
            "greater than or equal to 1",
        ),
        (
            {"FilterExpression": "sk > :a"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
        ),
        ({"IndexName": "nowhere"}, "The table does not have the specified index: nowhere"),
    ],
    ids=str,
)
def test_query_with_bad_options_is_refused(wire, numbers, more, message):
    with invalid(message):
        query(wire, numbers, values={":a": {"N": "1"}}, **more)


@pytest.mark.parametrize(
    "condition, message",
    [
        (None, "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."),
        ("", "Invalid KeyConditionExpression: The expression can not be empty;"),
        ("sk = :n", "Query condition missed key schema element: pk"),
        ("x = :p", "Query condition missed key schema element: pk"),
        ("pk = :p AND x = :p", "Query condition missed key schema element: sk"),
        ("pk > :p", "Query key condition not supported"),
        ("pk = :p AND sk = :p", parameters("Condition parameter type does not match schema type")),
        ("pk = :n", parameters("Condition parameter type does not match schema type")),
        ("pk = :p OR sk = :n", "Invalid operator used in KeyConditionExpression: OR"),
        ("pk = :p AND NOT sk = :n", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk = :p AND sk <> :n", "Invalid operator used in KeyConditionExpression: <>"),
        ("pk = :p AND sk IN (:n)", "Invalid operator used in KeyConditionExpression: IN"),
        (
            "pk = :p AND attribute_exists(sk)",
            "Invalid operator used in KeyConditionExpression: attribute_exists",
        ),
        ("pk = :p AND contains(sk, :n)", "Invalid operator used in KeyConditionExpression: contains"),
        ("pk = :p AND size(sk) = :n", "KeyConditionExpressions cannot contain nested operations"),
        ("pk.x = :p", "KeyConditionExpressions cannot have conditions on nested attributes"),
        (
            "pk = :p AND sk > :n AND sk < :n",
            re.compile(
                "(Invalid KeyConditionExpression: )?KeyConditionExpressions must only contain one condition per key"
            ),
        ),
        (
            "pk = sk",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (
            "pk = :p AND :n BETWEEN sk AND :n",
            "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first "
            "operand",
        ),
        (
            "pk = :x",
            "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; "
            "attribute value: :x",
        ),
    ],
)
def test_key_condition_that_no_index_can_answer_is_refused(wire, numbers, condition, message):
    request = {"TableName": numbers}
    if condition is not None:
        request["KeyConditionExpression"] = condition
    known = {":p": {"S": "p"}, ":n": {"N": "1"}}
    if used := {name: value for name, value in known.items() if name in (condition or "")}:
        request["ExpressionAttributeValues"] = used
    with invalid(message):
        wire.call("Query", request)


def test_query_of_a_missing_table_is_not_found(wire):
    with refused("ResourceNotFoundException", NO_TABLE):
        query(wire, "no-such-table")


# ---- indexes


@pytest.fixture(scope="module")
def indexed(wire, new_table):
    table = new_table(
        "pk:S sk:S",
        global_indexes=[
            ("all", "color:S size:N"),
            ("keys", "color:S", "KEYS_ONLY"),
            ("some", "shape:S", ["weight"]),
        ],
        local_indexes=[("local", "pk:S size:N", "KEYS_ONLY")],
    )
    rows = [
        ("a", "1", "red", "10", "round"),
        ("a", "2", "red", "2", "square"),
        ("a", "3", "blue", "5", None),
        ("b", "1", "red", "7", "round"),
        ("b", "2", None, "1", "round"),
        ("b", "3", "red", None, "round"),
    ]
    for pk, sk, color, size, shape in rows:
        item = {"pk": {"S": pk}, "sk": {"S": sk}, "weight": {"N": pk.encode().hex() + sk}, "note": {"S": "n"}}
        for name, kind, value in (("color", "S", color), ("size", "N", size), ("shape", "S", shape)):
            if value is not None:
                item[name] = {kind: value}
        wire.call("PutItem", TableName=table, Item=item)
    return table


def ids(answer):
    return [item["pk"]["S"] + item["sk"]["S"] for item in answer["Items"]]


def by(wire, table, index, value, **more):
    attribute = {"all": "color", "keys": "color", "some": "shape", "local": "pk"}[index]
    return wire.call(
        "Query",
        TableName=table,
        IndexName=index,
        KeyConditionExpression=f"{attribute} = :v",
        ExpressionAttributeValues={":v": {"S": value}},
        **more,
    )


def test_index_is_ordered_by_its_own_key_and_holds_only_items_that_have_it(wire, indexed):
    assert ids(by(wire, indexed, "all", "red")) == ["a2", "b1", "a1"]
    assert ids(by(wire, indexed, "all", "red", ScanIndexForward=False)) == ["a1", "b1", "a2"]
    assert sorted(ids(by(wire, indexed, "keys", "red"))) == ["a1", "a2", "b1", "b3"]
    assert ids(by(wire, indexed, "all", "green")) == []
    assert ids(by(wire, indexed, "local", "b")) == ["b2", "b1"]


def test_index_returns_what_it_projects(wire, indexed):
    assert set(by(wire, indexed, "all", "blue")["Items"][0]) == {"pk", "sk", "color", "size", "weight", "note"}
    assert set(by(wire, indexed, "keys", "blue")["Items"][0]) == {"pk", "sk", "color"}
    assert set(by(wire, indexed, "some", "square")["Items"][0]) == {"pk", "sk", "shape", "weight"}
    assert set(by(wire, indexed, "local", "b")["Items"][0]) == {"pk", "sk", "size"}


def test_local_index_fetches_what_it_does_not_project(wire, indexed):
    everything = by(wire, indexed, "local", "a", Select="ALL_ATTRIBUTES")["Items"]
    assert all(item["note"] == {"S": "n"} for item in everything)
    named = by(wire, indexed, "local", "a", ProjectionExpression="note, sk", ConsistentRead=True)["Items"]
    assert named == [{"note": {"S": "n"}, "sk": {"S": sk}} for sk in ("2", "3", "1")]


def test_pages_of_an_index_continue_after_index_and_table_key(wire, indexed):
    collected, start = [], {}
    while True:
        answer = by(wire, indexed, "all", "red", Limit=1, **start)
        collected += ids(answer)
        if "LastEvaluatedKey" not in answer:
            break
        assert set(answer["LastEvaluatedKey"]) == {"pk", "sk", "color", "size"}
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert collected == ["a2", "b1", "a1"]


@pytest.mark.parametrize(
    "index, more, message",
    [
        ("all", {"ConsistentRead": True}, "Consistent reads are not supported on global secondary indexes"),
        (
            "keys",
            {"Select": "ALL_ATTRIBUTES"},
            parameters(
                "Select type ALL_ATTRIBUTES is not supported for global secondary index keys because its projection "
                "type is not ALL"
            ),
        ),
        ("some", {"ProjectionExpression": "note"}, parameters("Global secondary index some does not project [note]")),
        (
            "all",
            {"FilterExpression": "attribute_exists(color)"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: color",
        ),
    ],
    ids=str,
)
def test_query_that_an_index_cannot_answer_is_refused(wire, indexed, index, more, message):
    with invalid(message):
        by(wire, indexed, index, "red", **more)


def test_index_follows_the_item(wire, indexed):
    key = {"pk": {"S": "c"}, "sk": {"S": "1"}}
    request = {"TableName": indexed, "Key": key, "UpdateExpression": "SET color = :v"}
    wire.call("UpdateItem", request, ExpressionAttributeValues={":v": {"S": "violet"}})
    assert ids(by(wire, indexed, "keys", "violet")) == ["c1"]
    wire.call("UpdateItem", request, ExpressionAttributeValues={":v": {"S": "orange"}})
    assert ids(by(wire, indexed, "keys", "violet")) == []
    assert ids(by(wire, indexed, "keys", "orange")) == ["c1"]
    wire.call("UpdateItem", TableName=indexed, Key=key, UpdateExpression="REMOVE color")
    assert ids(by(wire, indexed, "keys", "orange")) == []
    wire.call("UpdateItem", request, ExpressionAttributeValues={":v": {"S": "orange"}})
    wire.call("DeleteItem", TableName=indexed, Key=key)
    assert ids(by(wire, indexed, "keys", "orange")) == []
