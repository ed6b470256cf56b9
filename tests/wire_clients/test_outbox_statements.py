"""The statements of the e-mail outbox: a META record that names the latest state, a record per state, an index over the
state, and a transaction for every change."""

import time

import pytest

from expectations import eventually, refused
from tables import create_table

META = "_META"
STATES = [
    "ACCEPTED",
    "INTAKING",
    "READY",
    "PROCESSING",
    "SENT",
    "FAILED",
    "INVALID",
    "CALLING-SENT-CALLBACK",
    "CALLING-FAILED-CALLBACK",
    "SENT-ACKNOWLEDGED",
    "FAILED-ACKNOWLEDGED",
]
PAGE = 25


@pytest.fixture(scope="module")
def outbox(wire):
    table = create_table(
        wire, "Id:S Status:S", name="email-outbox", global_indexes=[("StatusIndex", "Status:S", ["Attributes"])]
    )
    specification = {"AttributeName": "TTL", "Enabled": True}
    wire.call("UpdateTimeToLive", TableName=table, TimeToLiveSpecification=specification)
    return table


def insert(wire, table, email, state):
    """A new e-mail: its META record and the record of its first state."""
    now = "2025-11-18T10:00:00Z"
    for status, attributes in (
        (META, {"Latest": {"S": state}, "UpdatedAt": {"S": now}, "Reason": {"S": ""}}),
        (state, {"TTL": {"N": str(int(time.time()) + 7 * 86_400)}}),
    ):
        wire.call(
            "ExecuteStatement",
            Statement=f"INSERT INTO \"{table}\" VALUE {{'Id': ?, 'Status': ?, 'Attributes': ?}}",
            Parameters=[{"S": email}, {"S": status}, {"M": attributes}],
        )


def change(wire, table, email, state, reason=""):
    """What every change of state runs."""
    return wire.call(
        "ExecuteTransaction",
        TransactStatements=[
            {
                "Statement": f'UPDATE "{table}" SET Attributes.Latest=?, Attributes.UpdatedAt=?, Attributes.Reason=? '
                "WHERE Id=? AND Status=?",
                "Parameters": [{"S": state}, {"S": "2025-11-18T10:00:01Z"}, {"S": reason}, {"S": email}, {"S": META}],
            },
            {
                "Statement": f"INSERT INTO \"{table}\" VALUE {{'Id': ?, 'Status': ?, 'Attributes': ?}}",
                "Parameters": [{"S": email}, {"S": state}, {"M": {"TTL": {"N": "1763460000"}}}],
            },
        ],
    )


def in_state(wire, table, state):
    """The query by state, page after page, up to the limit."""
    found, token = [], {}
    while len(found) < PAGE:
        answer = wire.call(
            "ExecuteStatement",
            Statement=f'SELECT Id, Status, Attributes FROM "{table}"."StatusIndex" WHERE Status=? AND '
            "Attributes.Latest =?",
            Parameters=[{"S": META}, {"S": state}],
            Limit=PAGE,
            **token,
        )
        found += answer["Items"]
        if "NextToken" not in answer:
            break
        token = {"NextToken": answer["NextToken"]}
    return found


def record(wire, table, email, status):
    key = {"Id": {"S": email}, "Status": {"S": status}}
    return wire.call("GetItem", TableName=table, Key=key, ConsistentRead=True).get("Item")


def test_email_goes_through_all_its_states(wire, outbox):
    insert(wire, outbox, "journey", "ACCEPTED")
    for state in STATES[1:]:
        assert change(wire, outbox, "journey", state, f"now {state}") == {"Responses": []}
        latest = record(wire, outbox, "journey", META)["Attributes"]["M"]
        assert (latest["Latest"], latest["Reason"]) == ({"S": state}, {"S": f"now {state}"})
        assert [item["Id"]["S"] for item in in_state(wire, outbox, state) if item["Id"]["S"] == "journey"] == [
            "journey"
        ]
    history = wire.call(
        "ExecuteStatement",
        Statement=f'SELECT Status FROM "{outbox}" WHERE Id=?',
        Parameters=[{"S": "journey"}],
    )["Items"]
    assert sorted(item["Status"]["S"] for item in history) == sorted([META, *STATES])


def test_query_by_state_returns_what_it_selects(wire, outbox):
    insert(wire, outbox, "selected", "READY")
    (found,) = [item for item in in_state(wire, outbox, "READY") if item["Id"]["S"] == "selected"]
    assert set(found) == {"Id", "Status", "Attributes"}
    assert found["Status"] == {"S": META}
    assert found["Attributes"]["M"]["Latest"] == {"S": "READY"}


def test_state_is_entered_once(wire, outbox):
    insert(wire, outbox, "once", "ACCEPTED")
    change(wire, outbox, "once", "INTAKING")
    with refused(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons [None, DuplicateItem]",
    ) as seen:
        change(wire, outbox, "once", "INTAKING", "a second worker")
    assert seen.body["CancellationReasons"][1]["Code"] == "DuplicateItem"
    assert record(wire, outbox, "once", META)["Attributes"]["M"]["Reason"] == {"S": ""}


def test_unknown_email_changes_nothing(wire, outbox):
    with refused(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, None]",
    ):
        change(wire, outbox, "unknown", "READY")
    assert record(wire, outbox, "unknown", "READY") is None


def test_same_email_is_accepted_once(wire, outbox):
    insert(wire, outbox, "accepted", "ACCEPTED")
    with refused("DuplicateItemException", "Duplicate primary key exists in table"):
        insert(wire, outbox, "accepted", "ACCEPTED")


def test_work_is_found_beyond_the_first_page(wire):
    table = create_table(wire, "Id:S Status:S", global_indexes=[("StatusIndex", "Status:S", ["Attributes"])])
    for number in range(60):  # the last are the ones looked for
        insert(wire, table, f"mail{number:02}", "READY" if number >= 50 else "SENT")
    assert sorted(item["Id"]["S"] for item in in_state(wire, table, "READY")) == [
        f"mail{number}" for number in range(50, 60)
    ]
    assert len(in_state(wire, table, "SENT")) >= PAGE
    assert in_state(wire, table, "FAILED") == []


def test_expired_record_goes_away(wire, outbox):
    """The attribute of the time to live stands at the top of the item, where the service looks for it."""
    expired = {"Id": {"S": "expired"}, "Status": {"S": "SENT"}, "TTL": {"N": str(int(time.time()) - 10)}}
    wire.call("PutItem", TableName=outbox, Item=expired)
    inside = {"Id": {"S": "inside"}, "Status": {"S": "SENT"}, "Attributes": {"M": {"TTL": expired["TTL"]}}}
    wire.call("PutItem", TableName=outbox, Item=inside)
    eventually(lambda: record(wire, outbox, "expired", "SENT") is None)
    assert record(wire, outbox, "inside", "SENT") == inside
