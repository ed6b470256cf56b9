"""How expressions are refused: every fault with its message, and which of two faults is reported."""

import pytest

from expectations import invalid, parameters

NAMES = {"#a": "a", "#b": "b"}
VALUES = {
    ":a": {"S": "a"},
    ":b": {"S": "b"},
    ":n": {"N": "1"},
    ":five": {"N": "5"},
    ":l": {"L": []},
    ":ss": {"SS": ["x"]},
}


@pytest.fixture(scope="module")
def table(wire, new_table):
    name = new_table("pk:S sk:S")
    wire.call("PutItem", TableName=name, Item={"pk": {"S": "a"}, "sk": {"S": "b"}, "a": {"S": "x"}})
    return name


def placeholders(expression, known):
    words = "".join(
        character if character.isalnum() or character in ":#_" else " " for character in expression
    ).split()
    return {word: known[word] for word in words if word in known}


def with_placeholders(expression, **request):
    for member, known in (("ExpressionAttributeNames", NAMES), ("ExpressionAttributeValues", VALUES)):
        if used := placeholders(expression, known):
            request[member] = used
    return request


def key(table):
    return {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"S": "b"}}}


CONDITION_FAULTS = [
    ("", "The expression can not be empty;"),
    ("INVALID SYNTAX HERE", 'Syntax error; token: "SYNTAX", near: "INVALID SYNTAX HERE"'),
    ("!!!", 'Syntax error; token: "!", near: "!!"'),
    ("a = = b", 'Syntax error; token: "=", near: "= = b"'),
    ("attribute_exists(", 'Syntax error; token: "<EOF>", near: "("'),
    ("((a = :a))", "The expression has redundant parentheses;"),
    ("a = :a OR ((b = :b))", "The expression has redundant parentheses;"),
    ("status = :a", "Attribute name is a reserved keyword; reserved keyword: status"),
    ("a.Size = :a", "Attribute name is a reserved keyword; reserved keyword: Size"),
    ("wrong(a)", "Invalid function name; function: wrong"),
    ("Attribute_Exists(a)", "Invalid function name; function: Attribute_Exists"),
    ("size(a)", "The function is not allowed to be used this way in an expression; function: size"),
    (
        "attribute_exists(a) = :a",
        "The function is not allowed to be used this way in an expression; function: attribute_exists",
    ),
    (
        "size(a, b) = :n",
        "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
    ),
    (
        "attribute_exists(a, b)",
        "Incorrect number of operands for operator or function; operator or function: attribute_exists, "
        "number of operands: 2",
    ),
    (
        "#unknown = :a",
        "An expression attribute name used in the document path is not defined; attribute name: #unknown",
    ),
    ("a = :unknown", "An expression attribute value used in expression is not defined; attribute value: :unknown"),
    (
        "attribute_exists(:a)",
        "Operator or function requires a document path; operator or function: attribute_exists",
    ),
    (
        "begins_with(a, :n)",
        "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
    ),
    ("a < :ss", "Incorrect operand type for operator or function; operator or function: <, operand type: SS"),
    ("a >= :l", "Incorrect operand type for operator or function; operator or function: >=, operand type: L"),
    (
        "a BETWEEN :ss AND :ss",
        "Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: SS",
    ),
    ("size(:n) = :n", "Incorrect operand type for operator or function; operator or function: size, operand type: N"),
    (
        "a = a",
        "The first operand must be distinct from the remaining operands for this operator or function; operator: =, "
        "first operand: [a]",
    ),
    (
        "contains(a, a)",
        "The first operand must be distinct from the remaining operands for this operator or function; operator: "
        "contains, first operand: [a]",
    ),
    (
        "a BETWEEN :a AND :n",
        "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: "
        "AttributeValue: {S:a}, upper bound operand: AttributeValue: {N:1}",
    ),
    (
        "a BETWEEN :b AND :a",
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: "
        "AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
    ),
    (
        f"a IN ({', '.join([':a'] * 101)})",
        "The IN operator is provided with too many operands; number of operands: 101",
    ),
    ("a[2147483648] = :a", "List index is not within the allowable range; index: [2147483648]"),
    (" AND ".join(["a = :a"] * 151), "The expression contains too many operators; operator count: 301"),
    ("a = :a" + " " * 4091, "Expression size has exceeded the maximum allowed size; expression size: 4097"),
]


@pytest.mark.parametrize("expression, fault", CONDITION_FAULTS, ids=lambda text: text[:50])
@pytest.mark.parametrize("kind", ["ConditionExpression", "FilterExpression"])
def test_faulty_condition_is_refused(wire, table, kind, expression, fault):
    with invalid(f"Invalid {kind}: {fault}"):
        if kind == "ConditionExpression":
            wire.call("UpdateItem", with_placeholders(expression, **key(table)), ConditionExpression=expression)
        else:
            wire.call("Scan", with_placeholders(expression, TableName=table), FilterExpression=expression)


def test_limits_of_conditions_are_inclusive(wire, table):
    for expression in (
        "a <> :a" + " " * (4096 - len("a <> :a")),
        " AND ".join(["a <> :a"] * 150),
        f"NOT a IN ({', '.join([':a'] * 100)})",
    ):
        wire.call("UpdateItem", with_placeholders(expression, **key(table)), ConditionExpression=expression)


def test_unknown_attribute_type_is_refused(wire, table):
    with invalid(
        "Invalid ConditionExpression: Invalid attribute type name found; type: a, "
        "valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}"
    ):
        expression = "attribute_type(a, :a)"
        wire.call("UpdateItem", with_placeholders(expression, **key(table)), ConditionExpression=expression)


@pytest.mark.parametrize(
    "expression, fault",
    [
        ("", "The expression can not be empty;"),
        ("INVALID SYNTAX HERE", 'Syntax error; token: "INVALID", near: "INVALID SYNTAX"'),
        ("SET _123 = :a", 'Syntax error; token: "_", near: "SET _123"'),
        ("SET l[a] = :a", 'Syntax error; token: "a", near: "[a]"'),
        ("SET a = :a SET b = :b", 'The "SET" section can only be used once in an update expression;'),
        ("REMOVE a REMOVE b", 'The "REMOVE" section can only be used once in an update expression;'),
        (
            "SET a = :a, a = :b",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], "
            "path two: [a]",
        ),
        (
            "SET a = :a REMOVE a.b",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], "
            "path two: [a, b]",
        ),
        (
            "SET l[0] = :a, l[0].x = :b",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [l, [0]], path two: [l, [0], x]",
        ),
        (
            "SET a.b = :a, a[0] = :b",
            "Two document paths conflict with each other; must remove or rewrite one of these paths; "
            "path one: [a, b], path two: [a, [0]]",
        ),
        ("SET name = :a", "Attribute name is a reserved keyword; reserved keyword: name"),
        ("SET a = wrong(:a)", "Invalid function name; function: wrong"),
        (
            "SET a = #unknown",
            "An expression attribute name used in the document path is not defined; attribute name: #unknown",
        ),
        (
            "SET a = :unknown",
            "An expression attribute value used in expression is not defined; attribute value: :unknown",
        ),
        (
            "SET a = if_not_exists(a)",
            "Incorrect number of operands for operator or function; operator or function: if_not_exists, "
            "number of operands: 1",
        ),
        (
            "SET a = if_not_exists(:a, :b)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET a = list_append(a, :a)",
            "Incorrect operand type for operator or function; operator or function: list_append, operand type: S",
        ),
        (
            "SET a = b + :a",
            "Incorrect operand type for operator or function; operator or function: +, operand type: S",
        ),
        (
            "SET a = b - :l",
            "Incorrect operand type for operator or function; operator or function: -, operand type: L",
        ),
        (
            "ADD a :a",
            "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, "
            "typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "ADD a :l",
            "Incorrect operand type for operator or function; operator: ADD, operand type: LIST, "
            "typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "DELETE a :n",
            "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, "
            "typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        ("SET a[2147483648] = :a", "List index is not within the allowable range; index: [2147483648]"),
        ("SET a = :a" + " " * 4087, "Expression size has exceeded the maximum allowed size;"),
    ],
    ids=lambda text: text[:50],
)
def test_faulty_update_is_refused(wire, table, expression, fault):
    with invalid(f"Invalid UpdateExpression: {fault}"):
        wire.call("UpdateItem", with_placeholders(expression, **key(table)), UpdateExpression=expression)


@pytest.mark.parametrize(
    "expression, fault",
    [
        ("", "The expression can not be empty;"),
        ("!!!", 'Syntax error; token: "!", near: "!!"'),
        ("a,", 'Syntax error; token: "<EOF>", near: ","'),
        ("a, timestamp", "Attribute name is a reserved keyword; reserved keyword: timestamp"),
        (
            "#unknown",
            "An expression attribute name used in the document path is not defined; attribute name: #unknown",
        ),
        (
            "a, a.b",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], "
            "path two: [a, b]",
        ),
        (
            "a.b, a[0]",
            "Two document paths conflict with each other; must remove or rewrite one of these paths; "
            "path one: [a, b], path two: [a, [0]]",
        ),
    ],
    ids=lambda text: text[:50],
)
@pytest.mark.parametrize("operation", ["GetItem", "Scan", "BatchGetItem"])
def test_faulty_projection_is_refused(wire, table, operation, expression, fault):
    request = {
        "GetItem": {**key(table), "ProjectionExpression": expression},
        "Scan": {"TableName": table, "ProjectionExpression": expression},
        "BatchGetItem": {
            "RequestItems": {table: {"Keys": [key(table)["Key"]], "ProjectionExpression": expression}},
        },
    }[operation]
    with invalid(f"Invalid ProjectionExpression: {fault}"):
        wire.call(operation, request)


@pytest.mark.parametrize(
    "request_members, message",
    [
        (
            {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues must not be empty",
        ),
        (
            {"UpdateExpression": "REMOVE a", "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
        ),
        (
            {"UpdateExpression": "REMOVE a", "ExpressionAttributeNames": {"a": "a"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
        (
            {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {"a": {"S": "a"}}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"',
        ),
        (
            {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"N": "one"}}},
            "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: "
            "one for key :a",
        ),
        (
            {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"SS": []}}},
            "ExpressionAttributeValues contains invalid value: "
            + parameters("An string set  may not be empty")
            + " for key :a",
        ),
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeValues": {":a": {"S": "a"}}},
            "ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and "
            "ConditionExpression are null",
        ),
        (
            {"UpdateExpression": "REMOVE a", "ExpressionAttributeNames": {"#unused": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
        ),
        (
            {"UpdateExpression": "REMOVE a", "ExpressionAttributeValues": {":unused": {"S": "x"}}},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}",
        ),
        (
            {"UpdateExpression": "REMOVE a", "AttributeUpdates": {"b": {"Action": "DELETE"}}},
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{AttributeUpdates} Expression parameters: {UpdateExpression}",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "Expected": {"b": {"Exists": False}}},
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{Expected} Expression parameters: {ConditionExpression}",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_faulty_placeholders_are_refused(wire, table, request_members, message):
    with invalid(message):
        wire.call("UpdateItem", key(table), **request_members)


# ---- which fault comes first


@pytest.mark.parametrize(
    "request_members, message",
    [
        (
            {"ConditionExpression": "!!!", "UpdateExpression": "!!!"},
            'Invalid UpdateExpression: Syntax error; token: "!", near: "!!"',
        ),
        (
            {
                "ConditionExpression": "!!!",
                "UpdateExpression": "REMOVE a",
                "ExpressionAttributeNames": {"#unused": "x"},
            },
            'Invalid ConditionExpression: Syntax error; token: "!", near: "!!"',
        ),
        (
            {"UpdateExpression": "!!!", "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues must not be empty",
        ),
        (
            {
                "UpdateExpression": "REMOVE a",
                "ExpressionAttributeNames": {"#unused": "x"},
                "ExpressionAttributeValues": {":unused": {"S": "x"}},
            },
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
        ),
        (
            {"UpdateExpression": "SET a = :unknown, a = :unknown"},
            "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these "
            "paths; path one: [a], path two: [a]",
        ),
        (
            {"ConditionExpression": "status = :unknown"},
            "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: status",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_first_of_two_faults_is_reported(wire, table, request_members, message):
    with invalid(message):
        wire.call("UpdateItem", key(table), **request_members)


def test_faulty_expression_is_reported_before_a_missing_table(wire):
    with invalid("Invalid UpdateExpression: The expression can not be empty;"):
        wire.call("UpdateItem", key("no-such-table"), UpdateExpression="")
    with invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}"):
        wire.call(
            "GetItem",
            key("no-such-table"),
            ProjectionExpression="a",
            ExpressionAttributeNames={"#unused": "x"},
        )


def test_bad_value_is_reported_before_a_failed_condition(wire, table):
    with invalid(parameters("Cannot update attribute pk. This attribute is part of the key")):
        wire.call(
            "UpdateItem",
            key(table),
            UpdateExpression="SET pk = :a",
            ConditionExpression="attribute_exists(absent)",
            ExpressionAttributeValues={":a": {"S": "a"}},
        )
