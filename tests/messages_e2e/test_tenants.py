"""Who may do what with messages, and whose keys are whose."""

import uuid
from urllib.parse import quote

import pytest

from message_server import MessageServer, bodies
from payloads import payload
from waiting import eventually

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
def keyed(binary, module_directory, data_flags):
    data = module_directory / "keyed"
    with MessageServer(binary, data, *data_flags(data), *[part for key in KEYS for part in ("--api-key", key)]) as server:
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
    identifiers = set()
    for queue in ("tenants", "north/tenants", "south/tenants"):
        request = {"idempotencyKey": queue, "target": {"queueName": queue}, "settings": {"maxMessages": 9}}
        taken = rest.post("/messages/consume", request)
        assert bodies(taken) == ["x"]
        identifiers.add(taken.json["messages"][0]["messageId"])
    assert len(identifiers) == 3, "each has ids of its own"


def produce(rest, queue, body, **more):
    request = {"idempotencyKey": str(uuid.uuid4()), "target": {"queueName": queue}, "messages": [{"body": body}], **more}
    return rest.post("/messages/produce", request)


def consume(rest, queue, **more):
    request = {"idempotencyKey": str(uuid.uuid4()), "target": {"queueName": queue}, "settings": {"maxMessages": 9}, **more}
    return rest.post("/messages/consume", request)


def test_queues_of_tenants_do_not_meet(keyed):
    north, south, operator = keyed.rest(NORTH), keyed.rest(SOUTH), keyed.rest(OPERATOR)
    assert produce(north, "letters", "for north").status == 200
    assert produce(operator, "letters", "for nobody").status == 200
    for stranger in ("letters", "north/letters"):
        assert south.fetch(f"/messages/queues/{quote(stranger, safe='')}/depth")["depth"] == 0
        assert bodies(consume(south, stranger)) == []
    assert produce(south, "letters", "for south").status == 200
    assert north.fetch("/messages/queues/letters/depth")["depth"] == 1
    assert bodies(consume(north, "letters")) == ["for north"]
    assert bodies(consume(operator, "letters")) == ["for nobody"], "callers without a tenant see all queues"
    assert bodies(consume(operator, "south/letters")) == ["for south"]


def test_a_tenant_does_not_describe_brokers(keyed):
    manager = {"queueManager": {"endpoints": [{"host": "127.0.0.1", "port": 1}]}}
    for answer in (produce(keyed.rest(NORTH), "q", "x", **manager), consume(keyed.rest(NORTH), "q", **manager)):
        assert answer.status == 403 and answer.problem["code"] == "FORBIDDEN"
    assert produce(keyed.rest(SENDER), "q", "x", **manager).status == 502


def test_a_queue_can_be_given_to_a_tenant(start):
    keys = [part for key in KEYS for part in ("--api-key", key)]
    broker = ["--connection", "main=amqp://127.0.0.1:1"]
    server = start(*keys, *broker, "--tenant-queue", "north=shared", "--tenant-queue", "north=main:orders")
    north, south = server.rest(NORTH), server.rest(SOUTH)
    assert produce(north, "shared", "x").status == 200
    assert bodies(consume(south, "shared")) == []
    assert bodies(consume(server.rest(OPERATOR), "shared")) == ["x"]
    main = {"connection": "main"}
    assert produce(north, "orders", "x", **main).status == 502, "it is allowed, but there is no broker"
    for rest, queue in ((north, "other"), (south, "orders")):
        assert produce(rest, queue, "x", **main).status == 403
        assert consume(rest, queue, **main).status == 403
        assert rest.get(f"/messages/queues/{queue}/depth?connection=main").status == 403


def test_only_its_tenant_puts_mail_into_the_queue_of_emails(start):
    keys = [part for key in KEYS for part in ("--api-key", key)]
    server = start(*keys, "--emails-queue", "outgoing-mail", "--emails-tenant", "north")
    assert produce(server.rest(SOUTH), "outgoing-mail", payload(subject="From south")).status == 200
    assert produce(server.rest(NORTH), "outgoing-mail", payload(subject="From north")).status == 200
    operator = server.rest(OPERATOR)
    eventually(lambda: operator.counts()["SENT"] == 1, "the e-mail of the tenant")
    assert [each["tenant"] for page in operator.pages("/emails") for each in page] == ["north"]
    assert server.rest(SOUTH).fetch("/messages/queues/outgoing-mail/depth")["depth"] == 1, "it stays where it is"


def test_key_that_looks_like_a_tenants_is_another(keyed):
    body = {"target": {"queueName": "looks"}, "messages": [{"body": "x"}]}
    assert keyed.rest(NORTH).post("/messages/produce", {**body, "idempotencyKey": "a"}).status == 200
    for separator in "/#@:.-":
        answer = keyed.rest(SENDER).post("/messages/produce", {**body, "idempotencyKey": f"north{separator}a"})
        assert answer.status == 200 and "idempotent-replayed" not in answer.headers
