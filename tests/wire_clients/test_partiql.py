"""PartiQL: ExecuteStatement, BatchExecuteStatement and ExecuteTransaction."""

import re

import pytest

from expectations import ANY_MESSAGE, CONDITION_FAILED, NO_TABLE, canonical, in_any_order, invalid, refused

NOT_WELL_FORMED = re.compile("Statement wasn't well formed, can't be processed: .+")


def run(wire, statement, *parameters, **more):
    if parameters:
        more["Parameters"] = list(parameters)
    return wire.call("ExecuteStatement", Statement=statement, **more)


def items(wire, statement, *parameters, **more):
    return run(wire, statement, *parameters, **more)["Items"]


def s(text):
    return {"S": text}


def n(number):
    return {"N": str(number)}


@pytest.fixture(scope="module")
def people(wire, new_table):
    """Five items in two partitions, with an index over one attribute."""
    table = new_table("pk:S sk:N", global_indexes=[("byCity", "city:S sk:N")])
    rows = [
        ("a", 1, "Roma", {"age": n(30), "tags": {"SS": ["x", "y"]}}),
        ("a", 2, "Milano", {"age": n(41), "info": {"M": {"zip": s("20121"), "list": {"L": [n(7), n(8)]}}}}),
        ("a", 3, "Roma", {"age": n(25), "note": {"NULL": True}}),
        ("b", 1, "Roma", {"age": n(60)}),
        ("b", 2, None, {"age": n(18), "it's": s("quoted")}),
    ]
    for pk, sk, city, more in rows:
        item = {"pk": s(pk), "sk": n(sk), **more, **({"city": s(city)} if city else {})}
        wire.call("PutItem", TableName=table, Item=item)
    return table


@pytest.fixture
def table(new_table):
    return new_table("pk:S")


def ids(found):
    return sorted(item["pk"]["S"] + item["sk"]["N"] for item in found)


# ---- SELECT


@pytest.mark.parametrize(
    "where, parameters, expected",
    [
        ("", [], ["a1", "a2", "a3", "b1", "b2"]),
        ("WHERE pk = 'a'", [], ["a1", "a2", "a3"]),
        ("where pk = ? and sk = ?", [s("a"), n(2)], ["a2"]),
        ("WHERE pk = 'a' AND sk >= 2", [], ["a2", "a3"]),
        ("WHERE pk = 'a' AND sk BETWEEN 1 AND 2", [], ["a1", "a2"]),
        ("WHERE pk IN ['a', 'b'] AND sk = 1", [], ["a1", "b1"]),
        ("WHERE pk = 'a' AND age > 26", [], ["a1", "a2"]),
        ("WHERE age < 26", [], ["a3", "b2"]),
        ("WHERE age <> 30 AND NOT age = 41", [], ["a3", "b1", "b2"]),
        ("WHERE age = 30 OR age = 60", [], ["a1", "b1"]),
        ("WHERE age IN [30, 60]", [], ["a1", "b1"]),
        ("WHERE begins_with(city, 'Ro')", [], ["a1", "a3", "b1"]),
        ("WHERE BEGINS_WITH(city, ?)", [s("Mi")], ["a2"]),
        ("WHERE contains(tags, 'x')", [], ["a1"]),
        ("WHERE attribute_type(age, 'N') AND age > 50", [], ["b1"]),
        ("WHERE attribute_exists(info)", [], ["a2"]),
        ("WHERE city IS MISSING", [], ["b2"]),
        ("WHERE city IS NOT MISSING AND pk = 'b'", [], ["b1"]),
        ("WHERE note IS NULL", [], ["a3"]),
        ("WHERE size(tags) = 2", [], ["a1"]),
        ("WHERE info.zip = '20121'", [], ["a2"]),
        ('WHERE info."list"[1] = 8', [], ["a2"]),
        ("WHERE \"it's\" = 'quoted'", [], ["b2"]),
        ("WHERE pk = 'nobody'", [], []),
        ("WHERE city = 'Roma' -- a comment\n AND /* another */ age > 26", [], ["a1", "b1"]),
    ],
)
def test_select_finds_what_the_where_clause_describes(wire, people, where, parameters, expected):
    assert ids(items(wire, f'SELECT * FROM "{people}" {where}', *parameters)) == expected


def test_select_returns_whole_items_or_the_named_paths(wire, people):
    where = f"FROM \"{people}\" WHERE pk = 'a' AND sk = 2"
    assert items(wire, f"SELECT * {where}") == [
        {
            "pk": s("a"),
            "sk": n(2),
            "city": s("Milano"),
            "age": n(41),
            "info": {"M": {"zip": s("20121"), "list": {"L": [n(7), n(8)]}}},
        }
    ]
    assert items(wire, f"SELECT age, city {where}") == [{"age": n(41), "city": s("Milano")}]
    assert items(wire, f"SELECT info.zip, absent {where}") == [{"zip": s("20121")}]
    assert items(wire, f'SELECT info."list"[0] {where}') == [{"list[0]": n(7)}]


def test_keyed_select_comes_in_key_order(wire, people):
    ordered = items(wire, f"SELECT sk FROM \"{people}\" WHERE pk = 'a' ORDER BY sk DESC")
    assert ordered == [{"sk": n(3)}, {"sk": n(2)}, {"sk": n(1)}]
    assert items(wire, f"SELECT sk FROM \"{people}\" WHERE pk = 'a' ORDER BY sk ASC") == ordered[::-1]


def test_select_through_an_index(wire, people):
    found = items(wire, f'SELECT pk, sk FROM "{people}"."byCity" WHERE city = ? AND sk > ?', s("Roma"), n(1))
    assert found == [{"pk": s("a"), "sk": n(3)}]
    assert ids(items(wire, f'SELECT * FROM "{people}"."byCity"')) == ["a1", "a2", "a3", "b1"]


def test_select_in_pages(wire, people):
    statement, found, token = f'SELECT * FROM "{people}"', [], {}
    while True:
        answer = run(wire, statement, Limit=2, **token)
        assert len(answer["Items"]) <= 2
        found += answer["Items"]
        if "NextToken" not in answer:
            break
        token = {"NextToken": answer["NextToken"]}
    assert ids(found) == ["a1", "a2", "a3", "b1", "b2"]


@pytest.mark.parametrize(
    "statement, message",
    [
        (
            "",
            "1 validation error detected: Value '' at 'statement' failed to satisfy constraint: Member must have "
            "length greater than or equal to 1",
        ),
        ("SELECT", NOT_WELL_FORMED),
        ("nonsense", ANY_MESSAGE),
        ('SELECT FROM "{table}"', NOT_WELL_FORMED),
        ('SELECT * FROM "{table}" WHERE', NOT_WELL_FORMED),
        ('SELECT * FROM "{table}" WHERE pk = ', NOT_WELL_FORMED),
        ('SELECT * FROM "{table}" WHERE pk = \'a', ANY_MESSAGE),
        ('SELECT * FROM "{table}"."nowhere"', "The table does not have the specified index"),
        (
            'SELECT * FROM "{table}" WHERE pk = 1',
            "Key attribute's data type should match its data type in table's schema: Key pk",
        ),
        (
            'SELECT * FROM "{table}" ORDER BY sk',
            "Must have WHERE clause in the statement when using ORDER BY clause.",
        ),
        (
            'SELECT * FROM "{table}" WHERE age = 1 ORDER BY sk',
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
        ),
        (
            "SELECT * FROM \"{table}\" WHERE pk = 'a' ORDER BY age",
            "Attribute age in ORDER BY clause must be part of the primary key",
        ),
        ("SELECT * FROM \"{table}\" WHERE pk = 'a' AND sk = ?", ANY_MESSAGE),
    ],
)
def test_faulty_select_is_refused(wire, people, statement, message):
    with invalid(message):
        run(wire, statement.format(table=people))


def test_consistent_select_through_a_global_index_is_refused(wire, people):
    with invalid("Strongly consistent read is not supported on Global Secondary Indexes"):
        run(wire, f'SELECT * FROM "{people}"."byCity" WHERE city = \'Roma\'', ConsistentRead=True)


def test_select_from_a_missing_table_is_not_found(wire):
    with refused("ResourceNotFoundException", NO_TABLE):
        run(wire, 'SELECT * FROM "no-such-table"')


# ---- INSERT, UPDATE, DELETE


def test_insert_takes_literals_of_every_type(wire, table):
    answer = run(
        wire,
        f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'n': -1.5, 't': true, 'nothing': null, 'l': [1, 'two', [3]], "
        "'m': {'k': {'deep': 'v'}}, 'ss': <<'x', 'y'>>, 'ns': <<1, 2>>, 'quote': 'it''s'}",
    )
    assert answer == {"Items": []}
    assert canonical(items(wire, f"SELECT * FROM \"{table}\" WHERE pk = 'a'")) == [
        canonical(
            {
                "pk": s("a"),
                "n": n("-1.5"),
                "t": {"BOOL": True},
                "nothing": {"NULL": True},
                "l": {"L": [n(1), s("two"), {"L": [n(3)]}]},
                "m": {"M": {"k": {"M": {"deep": s("v")}}}},
                "ss": {"SS": ["x", "y"]},
                "ns": {"NS": ["1", "2"]},
                "quote": s("it's"),
            }
        )
    ]


def test_insert_takes_parameters_of_every_type(wire, table):
    values = [s("a"), {"B": "AAE="}, {"BS": ["AQ=="]}, {"M": {"k": n(1)}}, {"L": []}]
    run(wire, f"INSERT INTO \"{table}\" VALUE {{'pk': ?, 'b': ?, 'bs': ?, 'm': ?, 'l': ?}}", *values)
    assert items(wire, f'SELECT * FROM "{table}"') == [dict(zip(("pk", "b", "bs", "m", "l"), values))]


def test_insert_never_replaces(wire, table):
    run(wire, f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'v': 1}}")
    with refused("DuplicateItemException", "Duplicate primary key exists in table"):
        run(wire, f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'v': 2}}")
    assert items(wire, f'SELECT v FROM "{table}"') == [{"v": n(1)}]


@pytest.mark.parametrize(
    "change, expected",
    [
        ("SET v = 2", {"v": n(2)}),
        ("SET v = v + 5", {"v": n(6)}),
        ("SET v = v - 1 SET fresh = 'x'", {"v": n(0), "fresh": s("x")}),
        ("SET m.k = 'new'", {"m": {"M": {"k": s("new")}}}),
        ("SET l = list_append(l, [3])", {"l": {"L": [n(1), n(2), n(3)]}}),
        ("SET l[0] = 9", {"l": {"L": [n(9), n(2)]}}),
        ("SET ss = set_add(ss, <<'z'>>)", {"ss": {"SS": ["x", "y", "z"]}}),
        ("SET ss = set_delete(ss, <<'x'>>)", {"ss": {"SS": ["y"]}}),
        ("REMOVE v", {"v": None}),
        ("REMOVE m.k", {"m": {"M": {}}}),
        ("REMOVE l[0]", {"l": {"L": [n(2)]}}),
        ("SET v = 3 REMOVE ss", {"v": n(3), "ss": None}),
    ],
)
def test_update_changes_exactly_this(wire, table, change, expected):
    start = {
        "pk": s("a"),
        "v": n(1),
        "m": {"M": {"k": s("old")}},
        "l": {"L": [n(1), n(2)]},
        "ss": {"SS": ["x", "y"]},
    }
    wire.call("PutItem", TableName=table, Item=start)
    assert run(wire, f"UPDATE \"{table}\" {change} WHERE pk = 'a'") == {"Items": []}
    item = wire.call("GetItem", TableName=table, Key={"pk": s("a")})["Item"]
    after = {name: value for name, value in {**start, **expected}.items() if value is not None}
    assert canonical(item) == canonical(after)


@pytest.mark.parametrize(
    "returning, expected",
    [
        ("ALL OLD", {"pk": s("a"), "v": n(1), "w": n(5)}),
        ("ALL NEW", {"pk": s("a"), "v": n(2), "w": n(5)}),
        ("MODIFIED OLD", {"v": n(1)}),
        ("MODIFIED NEW", {"v": n(2)}),
    ],
)
def test_update_returns_what_was_asked_for(wire, table, returning, expected):
    wire.call("PutItem", TableName=table, Item={"pk": s("a"), "v": n(1), "w": n(5)})
    assert items(wire, f"UPDATE \"{table}\" SET v = 2 WHERE pk = 'a' RETURNING {returning} *") == [expected]


def test_update_needs_an_item_that_matches(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": s("a"), "v": n(1)})
    run(wire, f"UPDATE \"{table}\" SET v = 2 WHERE pk = 'a' AND v = 1")
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        run(wire, f"UPDATE \"{table}\" SET v = 3 WHERE pk = 'a' AND v = 1")
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        run(wire, f"UPDATE \"{table}\" SET v = 3 WHERE pk = 'nobody'")
    assert items(wire, f'SELECT * FROM "{table}"') == [{"pk": s("a"), "v": n(2)}]


def test_delete_removes_what_matches(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": s("a"), "v": n(1)})
    with refused("ConditionalCheckFailedException", CONDITION_FAILED):
        run(wire, f"DELETE FROM \"{table}\" WHERE pk = 'a' AND v = 2")
    assert items(wire, f"DELETE FROM \"{table}\" WHERE pk = 'a' AND v = 1 RETURNING ALL OLD *") == [
        {"pk": s("a"), "v": n(1)}
    ]
    assert run(wire, f"DELETE FROM \"{table}\" WHERE pk = 'a'") == {"Items": []}


@pytest.mark.parametrize(
    "statement, message",
    [
        (
            'UPDATE "{table}" SET v = 1 WHERE v = 2',
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        (
            "DELETE FROM \"{table}\" WHERE pk > 'a'",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        (
            "DELETE FROM \"{table}\" WHERE pk = 'a' RETURNING MODIFIED OLD *",
            "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE "
            "statements.",
        ),
        (
            "UPDATE \"{table}\" SET pk = 'b' WHERE pk = 'a'",
            "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key",
        ),
        ("INSERT INTO \"{table}\" VALUE {{'v': 1}}", re.compile(".*[Mm]issing.*key.*pk.*|.*pk.*")),
        ("UPDATE \"{table}\" SET WHERE pk = 'a'", NOT_WELL_FORMED),
        ("INSERT INTO \"{table}\" VALUES {{'pk': 'a'}}", NOT_WELL_FORMED),
    ],
)
def test_faulty_write_is_refused(wire, table, statement, message):
    with invalid(message):
        run(wire, statement.format(table=table))


# ---- batches


def statements(*texts):
    return [{"Statement": text} if isinstance(text, str) else text for text in texts]


def test_batch_of_writes_answers_each_by_itself(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": s("taken")})
    answer = wire.call(
        "BatchExecuteStatement",
        Statements=statements(
            f"INSERT INTO \"{table}\" VALUE {{'pk': 'fresh'}}",
            f"INSERT INTO \"{table}\" VALUE {{'pk': 'taken'}}",
            f"UPDATE \"{table}\" SET v = 1 WHERE pk = 'nobody'",
            {"Statement": f'DELETE FROM "{table}" WHERE pk = ?', "Parameters": [s("gone anyway")]},
            "INSERT INTO \"no-such-table\" VALUE {'pk': 'a'}",
        ),
    )
    codes = [response.get("Error", {}).get("Code") for response in answer["Responses"]]
    assert codes == [None, "DuplicateItem", "ConditionalCheckFailed", None, "ResourceNotFound"]
    assert all(response["TableName"] == table for response in answer["Responses"][:4])
    assert items(wire, f"SELECT pk FROM \"{table}\" WHERE pk = 'fresh'") == [{"pk": s("fresh")}]


def test_batch_of_reads(wire, table):
    for key in ("a", "b"):
        wire.call("PutItem", TableName=table, Item={"pk": s(key), "v": s(key)})
    answer = wire.call(
        "BatchExecuteStatement",
        Statements=statements(
            f"SELECT * FROM \"{table}\" WHERE pk = 'b'",
            f"SELECT v FROM \"{table}\" WHERE pk = 'a'",
            f"SELECT * FROM \"{table}\" WHERE pk = 'nobody'",
        ),
    )
    assert answer["Responses"] == [
        {"TableName": table, "Item": {"pk": s("b"), "v": s("b")}},
        {"TableName": table, "Item": {"v": s("a")}},
        {"TableName": table},
    ]


def test_batch_has_1_to_25_statements_and_reads_by_key(wire, table):
    with invalid(
        re.compile(r"(?s)1 validation error detected: Value '\[.*\]' at 'statements' .* less than or equal to 25")
    ):
        wire.call("BatchExecuteStatement", Statements=statements(*[f"SELECT * FROM \"{table}\" WHERE pk = 'a'"] * 26))
    (answer,) = wire.call("BatchExecuteStatement", Statements=statements(f'SELECT * FROM "{table}"'))["Responses"]
    assert answer["Error"]["Code"] == "ValidationError"
    assert answer["Error"]["Message"] == (
        "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
    )


# ---- transactions


def transact(wire, *texts, **more):
    return wire.call("ExecuteTransaction", TransactStatements=statements(*texts), **more)


def test_transaction_writes_all_or_nothing(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": s("meta"), "v": n(1)})
    answer = transact(
        wire,
        f"UPDATE \"{table}\" SET v = 2 WHERE pk = 'meta' AND v = 1",
        f"INSERT INTO \"{table}\" VALUE {{'pk': 'event'}}",
    )
    assert answer == {"Responses": []}
    with refused(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, "
        "DuplicateItem, None]",
    ) as seen:
        transact(
            wire,
            f"UPDATE \"{table}\" SET v = 3 WHERE pk = 'meta' AND v = 1",
            f"INSERT INTO \"{table}\" VALUE {{'pk': 'event'}}",
            f"INSERT INTO \"{table}\" VALUE {{'pk': 'innocent'}}",
        )
    assert [reason["Code"] for reason in seen.body["CancellationReasons"]] == [
        "ConditionalCheckFailed",
        "DuplicateItem",
        "None",
    ]
    assert in_any_order(items(wire, f'SELECT * FROM "{table}"')) == in_any_order(
        [{"pk": s("meta"), "v": n(2)}, {"pk": s("event")}]
    )


def test_transaction_checks_with_exists(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": s("gate"), "open": {"BOOL": True}})
    check = f'EXISTS(SELECT * FROM "{table}" WHERE pk = \'gate\' AND "open" = ?)'
    write = f"INSERT INTO \"{table}\" VALUE {{'pk': ?}}"
    transact(
        wire,
        {"Statement": check, "Parameters": [{"BOOL": True}]},
        {"Statement": write, "Parameters": [s("through")]},
    )
    with refused("TransactionCanceledException", re.compile(r".*\[ConditionalCheckFailed, None\]")):
        transact(
            wire,
            {"Statement": check, "Parameters": [{"BOOL": False}]},
            {"Statement": write, "Parameters": [s("stopped")]},
        )
    assert items(wire, f"SELECT * FROM \"{table}\" WHERE pk = 'stopped'") == []


def test_transaction_reads(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": s("a"), "v": n(1)})
    answer = transact(
        wire,
        f"SELECT v FROM \"{table}\" WHERE pk = 'a'",
        f"SELECT * FROM \"{table}\" WHERE pk = 'nobody'",
    )
    assert answer["Responses"] == [{"Item": {"v": n(1)}}, {}]


def test_transaction_token_makes_a_repeat_harmless(wire, table):
    wire.call("PutItem", TableName=table, Item={"pk": s("a"), "v": n(1)})
    for _ in range(3):
        transact(wire, f"UPDATE \"{table}\" SET v = v + 1 WHERE pk = 'a'", ClientRequestToken="partiql-token")
    assert items(wire, f'SELECT v FROM "{table}"') == [{"v": n(2)}]


@pytest.mark.parametrize(
    "texts, message",
    [
        (
            ["SELECT * FROM \"{table}\" WHERE pk = 'a'", "DELETE FROM \"{table}\" WHERE pk = 'b'"],
            "ExecuteTransaction API does not support both read and write operations in the same request.",
        ),
        (
            ["DELETE FROM \"{table}\" WHERE pk = 'b' RETURNING ALL OLD *"],
            "Validation failed in TransactStatements[0]: RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (
            ['SELECT * FROM "{table}"'],
            "Validation failed in TransactStatements[0]: Select statements within ExecuteTransaction must specify the "
            "primary key in the where clause.",
        ),
        (
            ["UPDATE \"{table}\" SET v = 1 WHERE pk = 'a'", "DELETE FROM \"{table}\" WHERE pk = 'a'"],
            "Transaction request cannot include multiple operations on one item",
        ),
    ],
    ids=["mixed", "returning", "scan", "twice"],
)
def test_faulty_transaction_is_refused(wire, table, texts, message):
    with invalid(message):
        transact(wire, *(text.format(table=table) for text in texts))


def test_exists_belongs_in_transactions(wire, table):
    with invalid(ANY_MESSAGE):
        run(wire, f"EXISTS(SELECT * FROM \"{table}\" WHERE pk = 'a' AND v = 1)")


def test_boto3_pages_through_a_select(client, people):
    found, token = [], {}
    while True:
        answer = client.execute_statement(Statement=f'SELECT * FROM "{people}"', Limit=2, **token)
        found += answer["Items"]
        if "NextToken" not in answer:
            break
        token = {"NextToken": answer["NextToken"]}
    assert ids(found) == ["a1", "a2", "a3", "b1", "b2"]
