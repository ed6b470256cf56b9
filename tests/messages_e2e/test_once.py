"""Once per key, however often and by however many it is asked for; and the record that anybody can read."""

import concurrent.futures
import decimal
import hashlib
import json
import threading
from datetime import datetime

import pytest

from message_server import TABLE, Queue, bodies, new_key, record
from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually


def at_once(server, count, call):
    """What many get who call at the same time, each on a connection of its own."""
    gate = threading.Barrier(count)

    def one(_):
        rest = server.rest()
        gate.wait()
        return call(rest)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


class TestReplay:
    def test_produce_is_answered_from_its_record(self, rest, queue):
        key = new_key()
        first = queue.produce(rest, ["a", "b"], key=key)
        second = queue.produce(rest, ["a", "b"], key=key)
        assert second.status == 200 and second.headers["idempotent-replayed"] == "true"
        assert second.body == first.body
        assert queue.depth(rest) == 2

    def test_consume_returns_the_same_messages(self, rest, queue):
        queue.fill(rest, "a", "b", "c")
        key = new_key()
        first, second = (queue.consume(rest, key=key, maxMessages=2) for _ in range(2))
        assert bodies(first) == ["a", "b"]
        assert second.body == first.body and second.headers["idempotent-replayed"] == "true"
        assert bodies(queue.consume_all(rest, 1)) == ["c"]

    def test_key_may_come_in_the_header(self, rest, queue):
        key = new_key()
        request = queue.request(key, messages=[{"body": "x"}])
        assert rest.post("/messages/produce", request, {"Idempotency-Key": key}).status == 200
        del request["idempotencyKey"]
        answer = rest.post("/messages/produce", request, {"Idempotency-Key": f'"{key}"'})
        assert answer.headers.get("idempotent-replayed") == "true"

    def test_order_of_members_and_spaces_make_no_difference(self, rest, queue):
        key = new_key()
        request = queue.request(key, {"batchSize": 7, "persistent": True}, messages=[{"body": "x", "format": "TEXT"}])
        assert rest.post("/messages/produce", request).status == 200
        turned = json.dumps(dict(reversed(request.items())), indent=3)
        answer = rest.post("/messages/produce", turned, {"Content-Type": "application/json"})
        assert answer.headers.get("idempotent-replayed") == "true"

    def test_produce_and_consume_have_keys_of_their_own(self, rest, queue):
        key = new_key()
        assert queue.produce(rest, ["x"], key=key).status == 200
        answer = queue.consume(rest, key=key)
        assert bodies(answer) == ["x"] and "idempotent-replayed" not in answer.headers

    def test_answer_outlives_the_server(self, start, queue):
        server = start()
        key, rest = new_key(), server.rest()
        queue.fill(rest, "x")
        first = queue.consume(rest, key=key)
        server.kill()
        second = queue.consume(start().rest(), key=key)
        assert second.body == first.body and second.headers["idempotent-replayed"] == "true"

    def test_answer_too_large_for_an_item(self, server, rest, queue):
        """400 KB are an item's limit."""
        queue.fill(rest, *[str(i) * 100_000 for i in range(8)])
        key = new_key()
        first, second = (queue.consume(rest, key=key, maxMessages=8) for _ in range(2))
        assert bodies(first) == [str(i) * 100_000 for i in range(8)]
        assert second.body == first.body and len(second.body) > 800_000
        kept = record(server, "CONSUME", key)
        assert kept["status"] == {"S": "COMPLETED"} and "responsePayload" not in kept


class TestConflict:
    def test_hundred_calls_with_one_key_are_one_execution(self, server, rest, queue):
        key = new_key()
        answers = at_once(server, 100, lambda each: queue.produce(each, ["x"], key=key, totalMessages=20))
        executed = [answer for answer in answers if answer.status == 200 and "idempotent-replayed" not in answer.headers]
        replayed = [answer for answer in answers if answer.headers.get("idempotent-replayed") == "true"]
        conflicts = [answer for answer in answers if answer.status == 409]
        assert len(executed) == 1 and len(replayed) + len(conflicts) == 99
        assert {answer.body for answer in replayed} <= {executed[0].body}
        assert {answer.problem["code"] for answer in conflicts} <= {"IDEMPOTENCY_KEY_IN_PROGRESS"}
        ids = queue.take_ids(rest)
        assert len(ids) == 20 and set(ids.values()) == {1}

    def test_hundred_calls_that_take_from_one_queue_take_once(self, server, rest, queue):
        queue.fill(rest, *[str(i) for i in range(20)])
        key = new_key()
        answers = at_once(server, 100, lambda each: queue.consume(each, key=key, maxMessages=5))
        got = {answer.body for answer in answers if answer.status == 200}
        assert len(got) == 1, "all who got an answer got the same"
        assert {answer.status for answer in answers} <= {200, 409}
        assert bodies(queue.consume_all(rest, 15)) == [str(i) for i in range(5, 20)]

    def test_while_it_is_at_work(self, server, rest, queue):
        key = new_key()
        waiting = threading.Thread(target=lambda: queue.consume(server.rest(), key=key, waitTimeout="PT1M"))
        waiting.start()
        eventually(lambda: record(server, "CONSUME", key), "its record")
        answer = queue.consume(rest, key=key, waitTimeout="PT1M")
        assert answer.status == 409
        problem = answer.problem
        assert problem["code"] == "IDEMPOTENCY_KEY_IN_PROGRESS"
        assert int(answer.headers["retry-after"]) >= 1
        at_work = record(server, "CONSUME", key)
        assert at_work["status"] == {"S": "IN_PROGRESS"} and "responsePayload" not in at_work
        queue.fill(rest, "end")
        waiting.join(PATIENCE_SECONDS)
        assert bodies(queue.consume(rest, key=key, waitTimeout="PT1M")) == ["end"]

    @pytest.mark.parametrize("when", ["at work", "done"])
    def test_key_of_another_request(self, server, rest, queue, when):
        key = new_key()
        waiting = threading.Thread(target=lambda: queue.consume(server.rest(), key=key, waitTimeout="PT1M"))
        waiting.start()
        eventually(lambda: record(server, "CONSUME", key), "its record")
        if when == "done":
            queue.fill(rest, "x")
            waiting.join(PATIENCE_SECONDS)
        answer = queue.consume(rest, key=key, maxMessages=2)
        assert answer.status == 422
        assert answer.problem["code"] == "IDEMPOTENCY_KEY_REUSED"
        if when == "at work":
            queue.fill(rest, "x")
            waiting.join(PATIENCE_SECONDS)
        assert bodies(queue.consume(rest, key=key, waitTimeout="PT1M")) == ["x"], "the first is what it was"


class TestRecord:
    def test_table_is_as_its_document_says(self, server, rest):
        client = dynamodb(server)
        table = client.describe_table(TableName=TABLE)["Table"]
        assert table["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]
        assert table["AttributeDefinitions"] == [{"AttributeName": "pk", "AttributeType": "S"}]
        assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        assert "GlobalSecondaryIndexes" not in table
        life = client.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]
        assert life == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}

    @pytest.mark.parametrize("operation", ["PRODUCE", "CONSUME"])
    def test_item_has_the_documents_attributes_and_no_others(self, server, rest, queue, operation):
        key = new_key()
        queue.fill(rest, "x")
        answer = queue.produce(rest, ["x"], key=key) if operation == "PRODUCE" else queue.consume(rest, key=key)
        item = record(server, operation, key)
        assert {name: list(value) for name, value in item.items()} == {
            "pk": ["S"],
            "operationType": ["S"],
            "idempotencyKey": ["S"],
            "status": ["S"],
            "requestHash": ["S"],
            "responsePayload": ["S"],
            "createdAt": ["S"],
            "updatedAt": ["S"],
            "expiresAt": ["S"],
            "ttl": ["N"],
        }
        assert item["pk"]["S"] == f"{operation}#{key}" and item["idempotencyKey"]["S"] == key
        assert item["operationType"]["S"] == operation and item["status"]["S"] == "COMPLETED"
        assert len(bytes.fromhex(item["requestHash"]["S"])) == hashlib.sha256().digest_size
        assert json.loads(item["responsePayload"]["S"]) == answer.json
        created, updated, expires = (item[name]["S"] for name in ("createdAt", "updatedAt", "expiresAt"))
        assert created <= updated < expires and {time[10] + time[-1] for time in (created, updated, expires)} == {"TZ"}
        assert expires_after(item) == 24 * 3600

    def test_life_of_the_request(self, server, rest, queue):
        key = new_key()
        request = queue.request(key, messages=[{"body": "x"}])
        assert rest.post("/messages/produce", request, {"Idempotency-Expiry-Seconds": "600"}).status == 200
        assert expires_after(record(server, "PRODUCE", key)) == 600

    def test_life_of_the_settings(self, start, directory):
        settings = directory / "postino.toml"
        settings.write_text('[mqprobe.idempotency]\nrecord-ttl = "PT2H"\n[messages]\ntable = "keys"\n')
        server = start("--config", settings)
        key = new_key()
        assert Queue("embedded", "q", None).produce(server.rest(), ["x"], key=key).status == 200
        item = dynamodb(server).get_item(TableName="keys", Key={"pk": {"S": f"PRODUCE#{key}"}})["Item"]
        assert expires_after(item) == 2 * 3600

    def test_failure_is_recorded_and_can_be_tried_again(self, server, rest, rabbitmq):
        key = new_key()
        request = {
            "idempotencyKey": key,
            "connection": "rabbitmq",
            "target": {"queueName": "later-" + key},
            "messages": [{"body": "x"}],
        }
        assert rest.post("/messages/produce", request).status == 404
        failed = record(server, "PRODUCE", key)
        assert failed["status"] == {"S": "FAILED"} and "responsePayload" not in failed
        rabbitmq.declare("later-" + key)
        answer = rest.post("/messages/produce", request)
        assert answer.status == 200 and "idempotent-replayed" not in answer.headers
        assert record(server, "PRODUCE", key)["status"] == {"S": "COMPLETED"}

    def test_expired_record_is_taken_over(self, server, rest, queue):
        """As it would be before DynamoDB has removed it."""
        key = new_key()
        queue.produce(rest, ["x"], key=key)
        dynamodb(server, "resource").Table(TABLE).update_item(
            Key={"pk": f"PRODUCE#{key}"},
            UpdateExpression="SET expiresAt = :past, #ttl = :seconds",
            ExpressionAttributeNames={"#ttl": "ttl"},
            ExpressionAttributeValues={":past": "2020-01-01T00:00:00.000Z", ":seconds": decimal.Decimal(4102444800)},
        )
        answer = queue.produce(rest, ["other"], key=key)
        assert answer.status == 200 and "idempotent-replayed" not in answer.headers
        assert queue.depth(rest) == 2


def expires_after(item):
    created, expires = (datetime.fromisoformat(item[name]["S"][:-1] + "+00:00") for name in ("createdAt", "expiresAt"))
    assert int(item["ttl"]["N"]) == int(expires.timestamp())
    return round((expires - created).total_seconds())
