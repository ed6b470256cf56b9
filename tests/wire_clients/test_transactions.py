"""TransactWriteItems and TransactGetItems: all or nothing, reasons, tokens, limits."""

import re
import threading

import pytest

from expectations import CONDITION_FAILED, KEY_MISMATCH, NO_TABLE, invalid, parameters, refused
from wire import Refused, Wire

EXISTS = "attribute_exists(pk)"
NEW = "attribute_not_exists(pk)"


@pytest.fixture(scope="module")
def table(new_table):
    return new_table("pk:S")


@pytest.fixture
def act(table):
    """Actions on the module's table."""

    class Actions:
        @staticmethod
        def put(key, condition=None, v="1", **more):
            action = {"TableName": table, "Item": {"pk": {"S": key}, "v": {"N": v}}, **more}
            return {"Put": {**action, **({"ConditionExpression": condition} if condition else {})}}

        @staticmethod
        def update(key, amount="1", expression="ADD v :amount", **more):
            values = {"ExpressionAttributeValues": {":amount": {"N": amount}}} if ":amount" in expression else {}
            request = {"TableName": table, "Key": {"pk": {"S": key}}, "UpdateExpression": expression}
            return {"Update": {**request, **values, **more}}

        @staticmethod
        def delete(key, condition=None):
            action = {"TableName": table, "Key": {"pk": {"S": key}}}
            return {"Delete": {**action, **({"ConditionExpression": condition} if condition else {})}}

        @staticmethod
        def check(key, condition=EXISTS, **more):
            return {
                "ConditionCheck": {
                    "TableName": table,
                    "Key": {"pk": {"S": key}},
                    "ConditionExpression": condition,
                    **more,
                }
            }

    return Actions


def write(wire, *actions, **more):
    return wire.call("TransactWriteItems", TransactItems=list(actions), **more)


def value(wire, table, key):
    item = wire.call("GetItem", TableName=table, Key={"pk": {"S": key}}, ConsistentRead=True).get("Item")
    return item and item["v"]["N"]


def cancelled(*codes):
    return refused(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons [" + ", ".join(codes) + "]",
    )


# ---- all or nothing


def test_transaction_does_all_its_actions(wire, table, act, new_table):
    other = new_table("pk:S sk:N")
    for key in ("gone", "counted", "there"):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": key}, "v": {"N": "5"}})
    answer = write(
        wire,
        act.put("fresh", NEW),
        act.update("counted", "3"),
        act.update("upserted", "9"),
        act.delete("gone", EXISTS),
        act.check("there"),
        {"Put": {"TableName": other, "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}}}},
    )
    assert answer == {}
    found = [value(wire, table, key) for key in ("fresh", "counted", "upserted", "gone", "there")]
    assert found == ["1", "8", "9", None, "5"]
    assert wire.call("Scan", TableName=other, Select="COUNT")["Count"] == 1


def test_failed_condition_cancels_everything(wire, table, act):
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "taken"}, "v": {"N": "5"}})
    with cancelled("None", "ConditionalCheckFailed", "None", "ConditionalCheckFailed") as seen:
        write(wire, act.put("innocent"), act.put("taken", NEW), act.delete("taken 2"), act.check("nobody"))
    assert seen.body["CancellationReasons"] == [
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed", "Message": CONDITION_FAILED},
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed", "Message": CONDITION_FAILED},
    ]
    assert (value(wire, table, "innocent"), value(wire, table, "taken")) == (None, "5")


def test_cancellation_can_return_the_items_that_were_seen(wire, table, act):
    item = {"pk": {"S": "shown"}, "v": {"N": "5"}}
    wire.call("PutItem", TableName=table, Item=item)
    with cancelled("ConditionalCheckFailed", "ConditionalCheckFailed") as seen:
        write(
            wire,
            act.put("shown", NEW, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
            act.check("not there", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        )
    assert seen.body["CancellationReasons"] == [
        {"Code": "ConditionalCheckFailed", "Message": CONDITION_FAILED, "Item": item},
        {"Code": "ConditionalCheckFailed", "Message": CONDITION_FAILED},
    ]


def test_cancellation_is_spelled_with_a_capital_message(wire, act):
    with cancelled("ConditionalCheckFailed") as seen:
        write(wire, act.check("nobody at all"))
    assert set(seen.body) == {"__type", "Message", "CancellationReasons"}
    assert seen.body["__type"] == "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"


def test_boto3_sees_the_reasons(client, table, act):
    with pytest.raises(client.exceptions.TransactionCanceledException) as failure:
        client.transact_write_items(TransactItems=[act.put("x"), act.check("nobody")])
    assert [reason["Code"] for reason in failure.value.response["CancellationReasons"]] == [
        "None",
        "ConditionalCheckFailed",
    ]


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda act: act.update("text", "1", "ADD t :amount"),
            "An operand in the update expression has an incorrect data type",
        ),
        (
            lambda act: act.update("text", expression="SET v = absent"),
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            lambda act: act.update("text", expression="REMOVE absent.x"),
            "The document path provided in the update expression is invalid for update",
        ),
    ],
    ids=["type", "attribute", "path"],
)
def test_update_that_does_not_fit_cancels_with_a_validation_error(wire, table, act, make, message):
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "text"}, "t": {"S": "t"}, "v": {"N": "1"}})
    with cancelled("None", "ValidationError") as seen:
        write(wire, act.put("innocent too"), make(act))
    assert seen.body["CancellationReasons"][1] == {"Code": "ValidationError", "Message": message}
    assert value(wire, table, "innocent too") is None


def test_bad_keys_cancel_with_a_validation_error(wire, table, act):
    bad_key = {"TableName": table, "Key": {"pk": {"N": "1"}}}
    with cancelled("ValidationError", "None") as seen:
        write(wire, {"Delete": bad_key}, act.put("a"))
    assert seen.body["CancellationReasons"][0]["Message"] == KEY_MISMATCH
    with cancelled("None", "ValidationError") as seen:
        write(wire, act.put("a"), {"Put": {"TableName": table, "Item": {"pk": {"N": "1"}}}})
    assert seen.body["CancellationReasons"][1]["Message"] == parameters(
        "Type mismatch for key pk expected: S actual: N"
    )


# ---- refused before anything is looked at


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda act: [],
            "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have "
            "length greater than or equal to 1",
        ),
        (
            lambda act: [act.put(f"many{number}") for number in range(101)],
            re.compile(
                r"(?s)1 validation error detected: Value '\[.+\]' at 'transactItems' failed to satisfy constraint: "
                r"Member must have length less than or equal to 100"
            ),
        ),
        (
            lambda act: [act.put("twice"), act.delete("twice")],
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            lambda act: [act.check("twice"), act.update("twice")],
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            lambda act: [act.put("a", "attribute_exists(")],
            'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("',
        ),
        (
            lambda act: [act.put("a", ExpressionAttributeNames={"#unused": "x"}, ConditionExpression=EXISTS)],
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
        ),
        (
            lambda act: [act.put("")],
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty string value. Key: pk",
        ),
        (
            lambda act: [act.put("huge", Item={"pk": {"S": "huge"}, "pad": {"S": "x" * 409_600}})],
            "Item size has exceeded the maximum allowed size",
        ),
    ],
    ids=["none", "101", "put and delete", "check and update", "syntax", "unused", "empty key", "oversize"],
)
def test_faulty_transaction_is_refused(wire, act, make, message):
    with invalid(message):
        write(wire, *make(act))


@pytest.mark.parametrize("count", [0, 2])
def test_member_has_exactly_one_action(wire, act, count):
    member = {**act.put("a"), **act.delete("b")} if count else {}
    with invalid(re.compile(".*TransactWriteRequest should contain Delete or Put or Update.*")):
        write(wire, member)


def test_100_actions_are_allowed(wire, table, act):
    write(wire, *(act.put(f"hundred{number}") for number in range(100)))
    assert value(wire, table, "hundred99") == "1"


def test_payload_has_at_most_4_megabytes(wire, table, act):
    def puts(count):
        return [
            act.put(f"payload{number}", Item={"pk": {"S": f"payload{number}"}, "pad": {"S": "x" * 390_000}})
            for number in range(count)
        ]

    write(wire, *puts(10))
    with invalid(re.compile("Transaction payload size cannot exceed 4MB.*")):
        write(wire, *puts(11))


def test_missing_table_is_not_found(wire, act):
    with refused("ResourceNotFoundException", NO_TABLE):
        write(wire, act.put("a"), {"Put": {"TableName": "no-such-table", "Item": {"pk": {"S": "a"}}}})


# ---- tokens


def test_token_makes_a_repeat_harmless(wire, table, act):
    for _ in range(3):
        write(wire, act.update("once"), ClientRequestToken="token-1")
    assert value(wire, table, "once") == "1"
    write(wire, act.update("once"), ClientRequestToken="token-2")
    assert value(wire, table, "once") == "2"


def test_token_belongs_to_one_request(wire, table, act):
    write(wire, act.update("token owner"), ClientRequestToken="token-3")
    with refused("IdempotentParameterMismatchException", re.compile(".+")) as seen:
        write(wire, act.update("token owner", "2"), ClientRequestToken="token-3")
    assert "Message" in seen.body
    assert value(wire, table, "token owner") == "1"


def test_token_has_at_most_36_characters(wire, act):
    write(wire, act.put("token length"), ClientRequestToken="t" * 36)
    with invalid(
        "1 validation error detected: Value '" + "t" * 37 + "' at 'clientRequestToken' failed to satisfy constraint: "
        "Member must have length less than or equal to 36"
    ):
        write(wire, act.put("token length"), ClientRequestToken="t" * 37)


def test_repeat_after_a_cancelled_attempt_is_tried_again(wire, table, act):
    transaction = [act.check("prerequisite"), act.update("dependent")]
    with cancelled("ConditionalCheckFailed", "None"):
        write(wire, *transaction, ClientRequestToken="token-4")
    write(wire, act.put("prerequisite"))
    write(wire, *transaction, ClientRequestToken="token-4")
    assert value(wire, table, "dependent") == "1"


# ---- reading


def gets(table, *keys, **more):
    return [{"Get": {"TableName": table, "Key": {"pk": {"S": key}}, **more}} for key in keys]


def test_transactional_read_answers_in_the_order_of_the_request(wire, table, act):
    write(wire, act.put("r1", v="1"), act.put("r2", v="2"))
    answer = wire.call(
        "TransactGetItems",
        TransactItems=[*gets(table, "r2", "nobody"), *gets(table, "r1", ProjectionExpression="v")],
    )
    assert answer == {
        "Responses": [{"Item": {"pk": {"S": "r2"}, "v": {"N": "2"}}}, {}, {"Item": {"v": {"N": "1"}}}],
    }


@pytest.mark.parametrize(
    "keys, message",
    [
        (
            [],
            "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have "
            "length greater than or equal to 1",
        ),
        (["a", "a"], "Transaction request cannot include multiple operations on one item"),
        (
            [f"k{number}" for number in range(101)],
            re.compile(
                r"(?s)1 validation error detected: Value '\[.+\]' at 'transactItems' failed to satisfy constraint: "
                r"Member must have length less than or equal to 100"
            ),
        ),
    ],
    ids=["none", "twice", "101"],
)
def test_faulty_transactional_read_is_refused(wire, table, keys, message):
    with invalid(message):
        wire.call("TransactGetItems", TransactItems=gets(table, *keys))


def test_transactional_read_with_a_bad_key_is_cancelled(wire, table):
    with cancelled("None", "ValidationError") as seen:
        bad = {"Get": {"TableName": table, "Key": {"pk": {"N": "1"}}}}
        wire.call("TransactGetItems", TransactItems=[*gets(table, "a"), bad])
    assert seen.body["CancellationReasons"][1] == {"Code": "ValidationError", "Message": KEY_MISMATCH}


def test_transactional_read_of_a_missing_table_is_not_found(wire):
    with refused("ResourceNotFoundException", NO_TABLE):
        wire.call("TransactGetItems", TransactItems=gets("no-such-table", "a"))


# ---- together


def test_concurrent_transfers_neither_make_nor_lose_money(server, wire, table, act):
    accounts = [f"account{number}" for number in range(4)]
    write(wire, *(act.put(account, v="100") for account in accounts))
    sums, failures = [], []

    def transfer(worker):
        connection = Wire(server)
        for turn in range(25):
            source, target = accounts[(worker + turn) % 4], accounts[(worker + turn + 1) % 4]
            try:
                write(connection, act.update(source, "-1"), act.update(target, "1"))
            except Refused as refusal:
                codes = {reason["Code"] for reason in refusal.body.get("CancellationReasons", [])}
                if not codes <= {"None", "TransactionConflict"}:
                    failures.append(refusal)
        connection.close()

    def audit():
        connection = Wire(server)
        for _ in range(25):
            answer = connection.call("TransactGetItems", TransactItems=gets(table, *accounts))
            sums.append(sum(int(response["Item"]["v"]["N"]) for response in answer["Responses"]))
        connection.close()

    threads = [threading.Thread(target=transfer, args=(worker,)) for worker in range(4)]
    threads.append(threading.Thread(target=audit))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sums == [400] * 25
