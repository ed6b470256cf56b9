"""Messages go in and come out, on Postino's own queues as on a broker."""

import base64
import datetime
import re
import threading
import time
from urllib.parse import quote

from message_server import Queue, bodies, consumed, new_key, record
from waiting import PATIENCE_SECONDS, eventually


class TestProduce:
    def test_answer_says_what_was_done(self, rest, queue):
        before = datetime.datetime.now(datetime.timezone.utc)
        answer = queue.produce(rest, ["one", "two"], key="k-" + queue.name)
        assert answer.status == 200, answer
        assert "idempotent-replayed" not in answer.headers
        body = answer.json
        assert body["idempotencyKey"] == "k-" + queue.name
        assert body["operationType"] == "PRODUCE"
        assert (body["requestedMessages"], body["processedMessages"]) == (2, 2)
        started, completed = (datetime.datetime.fromisoformat(body[each][:-1] + "+00:00") for each in ("startedAt", "completedAt"))
        assert before - datetime.timedelta(seconds=1) <= started <= completed
        assert re.fullmatch(r"PT\d+(\.\d+)?S", body["elapsed"])
        assert body["metadata"]["queueName"] == queue.name and body["metadata"]["connection"] == queue.place
        assert "messages" not in body

    def test_messages_come_out_in_their_order(self, rest, queue):
        queue.fill(rest, *[f"number {i}" for i in range(50)])
        assert queue.depth(rest) == 50
        assert bodies(queue.consume(rest, maxMessages=20)) == [f"number {i}" for i in range(20)]
        assert bodies(queue.consume_all(rest, 30)) == [f"number {i}" for i in range(20, 50)]

    def test_messages_are_repeated_up_to_the_total(self, rest, queue):
        answer = queue.produce(rest, ["a", "b", "c"], totalMessages=1000, batchSize=100)
        assert answer.json["processedMessages"] == 1000
        found = bodies(queue.consume_all(rest, 1000))
        assert found == ["abc"[i % 3] for i in range(1000)]

    def test_total_may_be_less_than_there_are(self, rest, queue):
        assert queue.produce(rest, ["a", "b", "c"], totalMessages=2).json["processedMessages"] == 2
        assert bodies(queue.consume_all(rest, 2)) == ["a", "b"]

    def test_every_message_has_an_id_of_its_own_that_comes_from_the_key(self, rest, queue):
        key = new_key()
        queue.produce(rest, ["x"], key=key, totalMessages=30)
        ids = [message["messageId"] for message in consumed(queue.consume_all(rest, 30))]
        assert len(set(ids)) == 30
        prefixes = {identifier.rpartition("-")[0] for identifier in ids}
        assert len(prefixes) == 1 and [int(identifier.rpartition("-")[2]) for identifier in ids] == list(range(30))

    def test_several_connections_lose_nothing(self, rest, queue):
        answer = queue.produce(rest, ["x"], totalMessages=2000, concurrency=4, batchSize=50)
        assert answer.status == 200, answer
        ids = queue.take_ids(rest)
        assert len(ids) == 2000 and set(ids.values()) == {1}

    def test_time_to_live_ends(self, rest, queue):
        assert queue.produce(rest, ["short"], timeToLive="PT0.3S").status == 200
        queue.fill(rest, "long")
        eventually(lambda: bodies(queue.consume(rest, autoAcknowledge=False)) == ["long"], "its end")


class TestFormats:
    def test_text_json_and_bytes_come_out_as_they_went_in(self, rest, queue):
        binary = base64.b64encode(bytes(range(256))).decode()
        messages = [
            {"body": "Grüße 📮", "format": "TEXT"},
            {"body": '{"a": [1, 2.5, null]}', "format": "JSON"},
            {"body": {"nested": {"list": [True]}}},
            {"body": binary, "format": "BINARY"},
            {"body": ""},
        ]
        assert queue.produce(rest, messages).status == 200
        found = consumed(queue.consume_all(rest, len(messages)))
        assert [(each["format"], each["body"]) for each in found] == [
            ("TEXT", "Grüße 📮"),
            ("JSON", '{"a": [1, 2.5, null]}'),
            ("JSON", '{"nested":{"list":[true]}}'),
            ("BINARY", binary),
            ("TEXT", ""),
        ]

    def test_properties_headers_and_where_to_answer(self, rest, queue):
        properties = {"text": "é", "number": 7, "large": 2**40, "fraction": 0.5, "flag": True}
        request = queue.request(new_key(), messages=[{"body": "x", "properties": properties, "headers": {"priority": 7, "subject": "s"}, "correlationId": "c-1"}])
        request["target"]["replyToQueue"] = "answers"
        assert rest.post("/messages/produce", request).status == 200
        (found,) = consumed(queue.consume(rest))
        assert found["properties"] == properties
        assert found["headers"]["priority"] == 7 and found["headers"]["subject"] == "s"
        assert found["correlationId"] == "c-1"
        assert "answers" in found["replyTo"]

    def test_message_of_some_size(self, rest, queue):
        body = "x" * 200_000
        queue.fill(rest, body)
        assert bodies(queue.consume(rest)) == [body]


class TestConsume:
    def test_empty_queue_is_no_fault(self, rest, queue):
        answer = queue.consume(rest, maxMessages=5, waitTimeout="PT0S")
        assert consumed(answer) == []
        assert (answer.json["requestedMessages"], answer.json["processedMessages"]) == (5, 0)

    def test_without_acknowledgement_they_stay(self, rest, queue):
        queue.fill(rest, "a", "b")
        assert bodies(queue.consume(rest, maxMessages=2, autoAcknowledge=False)) == ["a", "b"]
        eventually(lambda: queue.depth(rest) == 2, "their return")
        assert bodies(queue.consume_all(rest, 2)) == ["a", "b"]

    def test_it_waits_for_the_first(self, server, rest, queue):
        key, answers = new_key(), []
        waiting = threading.Thread(
            target=lambda: answers.append(queue.consume(rest, key=key, maxMessages=1, waitTimeout="PT1M"))
        )
        waiting.start()
        eventually(lambda: record(server, "CONSUME", key), "its record")
        queue.fill(server.rest(), "late")
        waiting.join(PATIENCE_SECONDS)
        assert bodies(answers[0]) == ["late"]

    def test_it_does_not_wait_longer_than_it_was_told(self, rest, queue):
        began = time.monotonic()
        assert bodies(queue.consume(rest, waitTimeout="PT0.1S")) == []
        assert time.monotonic() - began > 0.09, "and it does wait"


    def test_those_who_wait_keep_nobody_from_the_rest(self, server, rest):
        """There are more of them than threads, and they get what others put in meanwhile."""
        count, got = 70, []
        queue = Queue("embedded", f"queue-{new_key()}", None)

        def wait():
            got.extend(bodies(queue.consume(server.rest(patience=150), waitTimeout="PT1M")))

        waiting = [threading.Thread(target=wait) for _ in range(count)]
        for each in waiting:
            each.start()
        assert rest.fetch("/emails/counts")["total"] == 0
        assert queue.depth(rest) == 0
        assert queue.produce(rest, [str(i) for i in range(count)]).status == 200
        for each in waiting:
            each.join(PATIENCE_SECONDS)
        assert sorted(got, key=int) == [str(i) for i in range(count)]

    def test_a_server_that_ends_lets_nobody_wait(self, start, queue):
        server, key, answers = start(), new_key(), []
        waiting = threading.Thread(
            target=lambda: answers.append(queue.consume(server.rest(patience=150), key=key, waitTimeout="PT4M"))
        )
        waiting.start()
        eventually(lambda: record(server, "CONSUME", key), "its record")
        assert server.stop() == 0
        waiting.join(PATIENCE_SECONDS)
        assert answers[0].status == 503 and answers[0].problem["code"] == "OVERLOADED"
        rest = start().rest()
        queue.fill(rest, "x")
        assert bodies(queue.consume(rest, key=key, waitTimeout="PT4M")) == ["x"], "it has not been done yet"


class TestQueues:
    def test_names_may_have_anything_in_them(self, rest, place, rabbitmq):
        for name in ("with space", "a/b", "Grüße", "100%", 'quoted "name"'):
            if place == "rabbitmq":
                rabbitmq.declare(name)
            request = {"connection": place, "target": {"queueName": name}, "messages": [{"body": name}]}
            answer = rest.post("/messages/produce", {**request, "idempotencyKey": new_key()})
            assert answer.status == 200, (name, answer)
            depth = rest.fetch(f"/messages/queues/{quote(name, safe='')}/depth", connection=place)
            assert depth == {"queueName": name, "depth": 1}
            del request["messages"]
            assert bodies(rest.post("/messages/consume", {**request, "idempotencyKey": new_key()})) == [name]

    def test_metrics_count_calls_and_messages(self, server, rest, queue):
        key = new_key()
        for _ in range(3):
            queue.produce(rest, ["a", "b"], key=key)
        queue.consume(rest, maxMessages=1)
        metrics = server.metrics()

        def value(name, operation, result):
            return metrics.get((f"postino_messages_{name}_total", f'operation="{operation}",queue="{queue.name}",result="{result}"'))

        assert value("calls", "produce", "completed") == 1 and value("calls", "produce", "replayed") == 2
        assert value("messages", "produce", "completed") == 2 and value("messages", "consume", "completed") == 1
        assert value("seconds", "produce", "completed") >= 0


class TestConnections:
    def test_broker_says_who_it_is(self, rest, rabbitmq):
        answer = rest.post("/messages/connections/test", {"connection": "rabbitmq"})
        assert answer.status == 200, answer
        assert answer.json["product"] == "RabbitMQ" and answer.json["version"].startswith("3.")
        assert answer.json["endpoint"] == rabbitmq.address
        assert answer.json["mechanism"] == "PLAIN" and answer.json["tls"] == ""

    def test_own_queues_are_there(self, rest):
        for body in ({"connection": "embedded"}, {}):
            assert rest.post("/messages/connections/test", body).status == 200

    def test_broker_of_the_request(self, rest, rabbitmq):
        rabbitmq.declare("described")
        manager = {
            "name": "QM1",
            "channel": "DEV.APP",
            "endpoints": [{"host": "127.0.0.1", "port": 1}, {"host": "127.0.0.1", "port": rabbitmq.port}],
            "credentials": {"username": rabbitmq.user, "password": rabbitmq.password},
            "useTls": False,
        }
        request = {"queueManager": manager, "target": {"queueName": "described"}, "messages": [{"body": "x"}]}
        answer = rest.post("/messages/produce", {**request, "idempotencyKey": new_key()})
        assert answer.status == 200, answer
        assert len(rabbitmq.ids_in("described")) == 1
        assert rest.post("/messages/connections/test", {"queueManager": manager}).json["product"] == "RabbitMQ"
