"""Who may do what with messages, and whose keys are whose."""

import pytest

from message_server import MessageServer, bodies

READER, SENDER, OPERATOR = "reader-0123456789abcdef", "sender-0123456789abcdef", "operator-0123456789abcdef"
NORTH, SOUTH = "north-0123456789abcdef", "south-0123456789abcdef"
KEYS = [
    f"dashboard:reader:{READER}",
    f"shop:sender:{SENDER}",
    f"admin:operator:{OPERATOR}",
    f"north:sender@north:{NORTH}",
    f"south:sender@south:{SOUTH}",
]
PRODUCE = {"idempotencyKey": "k", "target": {"queueName": "q"}, "messages": [{"body": "x"}]}
CONSUME = {"idempotencyKey": "k", "target": {"queueName": "q"}}


@pytest.fixture(scope="module")
def keyed(binary, module_directory):
    with MessageServer(binary, module_directory / "keyed", *[part for key in KEYS for part in ("--api-key", key)]) as server:
        yield server


def test_roles(keyed):
    calls = [
        (keyed.rest(READER), 200, 403, 403, 403),
        (keyed.rest(SENDER), 200, 200, 200, 403),
        (keyed.rest(OPERATOR), 200, 200, 200, 200),
        (keyed.rest(), 401, 401, 401, 401),
    ]
    for rest, depth, produce, consume, test in calls:
        assert rest.get("/messages/queues/q/depth").status == depth
        assert rest.post("/messages/produce", PRODUCE).status == produce
        assert rest.post("/messages/consume", CONSUME).status == consume
        assert rest.post("/messages/connections/test", {}).status == test


def test_keys_of_tenants_do_not_meet(keyed):
    key = {"idempotencyKey": "shared-word", "target": {"queueName": "tenants"}}
    body = {**key, "messages": [{"body": "x"}]}
    for secret in (SENDER, NORTH, SOUTH):
        answer = keyed.rest(secret).post("/messages/produce", body)
        assert answer.status == 200 and "idempotent-replayed" not in answer.headers
        assert answer.json["idempotencyKey"] == "shared-word"
        assert keyed.rest(secret).post("/messages/produce", body).headers["idempotent-replayed"] == "true"
    rest = keyed.rest(OPERATOR)
    assert rest.fetch("/messages/queues/tenants/depth")["depth"] == 3
    taken = rest.post("/messages/consume", {**key, "settings": {"maxMessages": 9}})
    assert bodies(taken) == ["x"] * 3
    assert len({message["messageId"] for message in taken.json["messages"]}) == 3, "each has ids of its own"


def test_key_that_looks_like_a_tenants_is_another(keyed):
    body = {"target": {"queueName": "looks"}, "messages": [{"body": "x"}]}
    assert keyed.rest(NORTH).post("/messages/produce", {**body, "idempotencyKey": "a"}).status == 200
    for separator in "/#@:.-":
        answer = keyed.rest(SENDER).post("/messages/produce", {**body, "idempotencyKey": f"north{separator}a"})
        assert answer.status == 200 and "idempotent-replayed" not in answer.headers
