"""What is refused: the status, the words, and that nothing was done."""

import json
import threading
import socket

import pytest

from message_server import new_key, without_id
from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually, free_port

GOOD = {"idempotencyKey": "k", "target": {"queueName": "q"}, "messages": [{"body": "x"}]}


def broken(**changes):
    return {**GOOD, **changes}


def refuse(rest, body, path="/messages/produce", headers=()):
    answer = rest.post(path, body, headers)
    assert answer.status == 400, answer
    return answer.broken_rules


class TestBadRequests:
    @pytest.mark.parametrize(
        "body, rules",
        [
            ({}, {"idempotencyKey": "is required", "target": "is required", "messages": "is required"}),
            (broken(messages=[]), {"messages": "must have at least one element"}),
            (broken(messages=[{"body": "x", "format": "XML"}]), {"messages[0].format": "must be TEXT, JSON or BINARY"}),
            (
                broken(messages=[{"body": "{", "format": "JSON"}]),
                {"messages[0].body": "must be valid JSON, because its format is JSON"},
            ),
            (
                broken(messages=[{"body": "?", "format": "BINARY"}]),
                {"messages[0].body": "must be base64, because its format is BINARY"},
            ),
            (broken(messages=[{}]), {"messages[0].body": "is required"}),
            (
                broken(messages=[{"body": "x", "properties": {"a": [1]}}]),
                {"messages[0].properties.a": "must be a string, a number, true or false"},
            ),
            (broken(target={}), {"target.queueName": "is required"}),
            (broken(settings={"deliveryDelay": "PT9999H"}), {"settings.deliveryDelay": "must be from PT0S to PT8760H"}),
            (broken(extra=1), {"extra": "is an unknown field"}),
            (broken(connection="nowhere"), {"connection": "must be the name of a connection in the configuration"}),
            (
                broken(connection="embedded", queueManager={"endpoints": [{"host": "127.0.0.1"}]}),
                {"queueManager": "must not be given together with connection"},
            ),
            (broken(queueManager={"endpoints": []}), {"queueManager.endpoints": "must have at least one element"}),
        ],
        ids=lambda each: json.dumps(each)[:60],
    )
    def test_every_broken_rule_is_named(self, rest, body, rules):
        found = refuse(rest, body)
        for field, rule in rules.items():
            assert found.get(field) == rule, found
        assert len(found) == len(rules), found

    @pytest.mark.parametrize("name, most", [("totalMessages", 1_000_000), ("batchSize", 10_000), ("concurrency", 16)])
    def test_numbers_have_limits(self, rest, name, most):
        for value in (0, most + 1, "1", 1.5):
            assert f"settings.{name}" in refuse(rest, broken(settings={name: value}))

    def test_consume_has_rules_too(self, rest):
        body = {"idempotencyKey": "k", "target": {"queueName": "q"}, "settings": {"maxMessages": 10_001, "waitTimeout": "PT6M"}}
        found = refuse(rest, body, "/messages/consume")
        assert set(found) == {"settings.maxMessages", "settings.waitTimeout"}
        assert found["settings.waitTimeout"] == "must be from PT0S to PT5M"

    def test_keys_must_agree(self, rest):
        found = refuse(rest, GOOD, headers={"Idempotency-Key": "another"})
        assert found == {"idempotencyKey": "must be the same as the header Idempotency-Key"}
        for header in ("", "x" * 256):
            assert "Idempotency-Key" in refuse(rest, GOOD, headers={"Idempotency-Key": header})
        for life in ("0", "2592001", "soon"):
            assert "Idempotency-Expiry-Seconds" in refuse(rest, GOOD, headers={"Idempotency-Expiry-Seconds": life})

    def test_body_of_a_400(self, rest):
        answer = rest.post("/messages/produce", broken(messages=[]))
        assert without_id(answer.problem) == {
            "type": "urn:postino:problem:INVALID_REQUEST",
            "title": "The request is invalid",
            "status": 400,
            "detail": "messages must have at least one element.",
            "code": "INVALID_REQUEST",
            "errors": [{"field": "messages", "rule": "must have at least one element"}],
        }

    def test_no_json(self, rest):
        answer = rest.post("/messages/produce", "{", {"Content-Type": "application/json"})
        assert answer.status == 400 and answer.problem["code"] == "MALFORMED_JSON"
        assert rest.post("/messages/produce", "x", {"Content-Type": "text/plain"}).status == 415

    def test_body_beyond_the_limit(self, rest):
        answer = rest.post("/messages/produce", b"x" * (49 << 20), {"Content-Type": "application/json"})
        assert answer.status == 413

    def test_nothing_is_left_of_it(self, server, rest):
        key = new_key()
        assert rest.post("/messages/produce", broken(idempotencyKey=key, messages=[])).status == 400
        found = dynamodb(server).get_item(TableName="mq-probe-idempotency", Key={"pk": {"S": f"PRODUCE#{key}"}})
        assert "Item" not in found


class TestBodies:
    def test_of_409_and_422(self, server, rest, rabbitmq):
        key = new_key()
        body = {"idempotencyKey": key, "target": {"queueName": key}, "settings": {"waitTimeout": "PT20S"}}
        waiting = threading.Thread(target=lambda: server.rest().post("/messages/consume", body))
        waiting.start()
        pk = {"pk": {"S": f"CONSUME#{key}"}}
        eventually(lambda: "Item" in dynamodb(server).get_item(TableName="mq-probe-idempotency", Key=pk), "its record")
        conflict = rest.post("/messages/consume", body)
        assert conflict.status == 409
        assert without_id(conflict.problem) == {
            "type": "urn:postino:problem:IDEMPOTENCY_KEY_IN_PROGRESS",
            "title": "A request with this idempotency key is in progress",
            "status": 409,
            "detail": "Repeat the request later to get its response.",
            "code": "IDEMPOTENCY_KEY_IN_PROGRESS",
        }
        other = rest.post("/messages/consume", {**body, "settings": {"waitTimeout": "PT1S"}})
        assert other.status == 422
        assert without_id(other.problem) == {
            "type": "urn:postino:problem:IDEMPOTENCY_KEY_REUSED",
            "title": "The idempotency key was used for another request",
            "status": 422,
            "detail": "Use another idempotency key for a different request.",
            "code": "IDEMPOTENCY_KEY_REUSED",
        }
        rest.post("/messages/produce", {"idempotencyKey": key, "target": {"queueName": key}, "messages": [{"body": "x"}]})
        waiting.join(PATIENCE_SECONDS)

    def test_of_404(self, rest):
        for path, more in (("produce", {"messages": [{"body": "x"}]}), ("consume", {})):
            body = {"idempotencyKey": new_key(), "connection": "rabbitmq", "target": {"queueName": "nowhere"}, **more}
            answer = rest.post(f"/messages/{path}", body)
            assert answer.status == 404 and answer.problem["code"] == "NO_SUCH_QUEUE", answer
        answer = rest.get("/messages/queues/nowhere/depth", connection="rabbitmq")
        assert answer.status == 404 and answer.problem["code"] == "NO_SUCH_QUEUE"
        assert rest.get("/messages/queues/q/depth", connection="nowhere").broken_rules == {
            "connection": "must be the name of a connection in the configuration"
        }

    def test_of_502(self, rest):
        ports = [free_port(), free_port()]
        endpoints = [{"host": "127.0.0.1", "port": port} for port in ports]
        for path, more in (
            ("produce", {"idempotencyKey": new_key(), "target": {"queueName": "q"}, "messages": [{"body": "x"}]}),
            ("consume", {"idempotencyKey": new_key(), "target": {"queueName": "q"}}),
            ("connections/test", {}),
        ):
            answer = rest.post(f"/messages/{path}", {"queueManager": {"endpoints": endpoints}, **more})
            assert answer.status == 502, answer
            problem = without_id(answer.problem)
            assert problem["code"] == "BROKER_UNREACHABLE"
            assert problem["title"] == "No endpoint of the broker can be reached"
            assert [each["endpoint"] for each in problem["endpoints"]] == [f"127.0.0.1:{port}" for port in ports]
            assert all("refused" in each["reason"].lower() for each in problem["endpoints"]), problem

    def test_wrong_password_is_the_brokers_refusal(self, rest, rabbitmq):
        manager = {
            "endpoints": [{"host": "127.0.0.1", "port": rabbitmq.port}],
            "credentials": {"username": "guest", "password": "wrong-secret"},
        }
        answer = rest.post("/messages/connections/test", {"queueManager": manager})
        assert answer.status == 502, answer
        assert b"wrong-secret" not in answer.body


class TestOtherHosts:
    """A request must not make Postino look around in its network."""

    @pytest.mark.parametrize("host", ["192.0.2.1", "broker.example.org", "169.254.169.254", "0.0.0.0", "127.0.0.2"])
    def test_are_refused(self, rest, host):
        with socket.create_server(("127.0.0.1", 0)) as allowed:
            port = allowed.getsockname()[1]
            manager = {"endpoints": [{"host": "127.0.0.1", "port": port}, {"host": host, "port": 5672}]}
            found = refuse(rest, {"queueManager": manager}, "/messages/connections/test")
            assert found == {"queueManager.endpoints[1].host": "must be a host that the configuration allows"}
            allowed.setblocking(False)
            with pytest.raises(BlockingIOError):  # not even the allowed endpoint, which comes first, was called
                allowed.accept()

    def test_are_allowed_by_name_and_port(self, start):
        server = start("--broker-host", "127.0.0.1:1")
        rest = server.rest()
        manager = {"endpoints": [{"host": "127.0.0.1", "port": 1}]}
        assert rest.post("/messages/connections/test", {"queueManager": manager}).status == 502
        manager = {"endpoints": [{"host": "127.0.0.1", "port": 2}]}
        assert rest.post("/messages/connections/test", {"queueManager": manager}).status == 400

    def test_none_is_allowed_where_others_can_call(self, start, rabbitmq):
        server = start("--http", "0.0.0.0:0", "--api-key", "admin:operator:operator-0123456789abcdef")
        rest = server.rest("operator-0123456789abcdef")
        manager = {"endpoints": [{"host": "127.0.0.1", "port": rabbitmq.port}]}
        assert rest.post("/messages/connections/test", {"queueManager": manager}).status == 400
        assert rest.post("/messages/connections/test", {"connection": "rabbitmq"}).status == 200


def test_credentials_are_nowhere(start, rabbitmq):
    server = start("--log-requests")
    rest = server.rest()
    rabbitmq.declare("secret")
    secret = "hidden-" + new_key()
    rabbitmq.manage("PUT", "/users/ann", {"password": secret, "tags": ""})
    rabbitmq.manage("PUT", "/permissions/%2F/ann", {"configure": ".*", "write": ".*", "read": ".*"})
    manager = {
        "endpoints": [{"host": "127.0.0.1", "port": rabbitmq.port}],
        "credentials": {"username": "ann", "password": secret},
    }
    request = {"queueManager": manager, "target": {"queueName": "secret"}, "messages": [{"body": "x"}]}
    answer = rest.post("/messages/produce", {"idempotencyKey": "k", **request})
    assert answer.status == 200 and secret.encode() not in answer.body
    items = dynamodb(server).scan(TableName="mq-probe-idempotency")["Items"]
    assert len(items) == 1 and secret not in json.dumps(items)
    request["queueManager"]["credentials"]["password"] = "another"
    assert rest.post("/messages/produce", {"idempotencyKey": "k", **request}).status == 422, "but they count"
    assert server.stop() == 0
    assert secret not in server.whole_log()
