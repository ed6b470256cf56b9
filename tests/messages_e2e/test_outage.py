"""The broker is gone for a while, in the middle of it all."""

import collections
import threading
import time

from message_server import bodies, new_key
from rabbitmq_server import PATIENCE_SECONDS as RABBITMQ_PATIENCE_SECONDS
from waiting import PATIENCE_SECONDS, eventually


class Interrupted(threading.Thread):
    """A call that goes on while something is done to the broker. If it fails, it is repeated when the broker is back."""

    def __init__(self, call, broker_is_back):
        super().__init__(daemon=True)
        self.call, self.broker_is_back, self.answers = call, broker_is_back, []

    def run(self):
        self.answers.append(self.call())
        while self.answers[-1].status != 200:
            assert self.answers[-1].status in (409, 502, 503, 504), self.answers[-1]
            assert self.broker_is_back.wait(RABBITMQ_PATIENCE_SECONDS)
            self.answers.append(self.call())


def test_produce_and_consume_go_on_where_they_were(start, rabbitmq):
    server = start("--messages-lease", "2s")
    rest, other = (server.rest(patience=150) for _ in range(2))  # longer than any call waits
    for queue in ("outage", "quiet"):
        rabbitmq.declare(queue)
    rabbitmq.write_down()
    count, window = 30_000, 500
    produce = {
        "idempotencyKey": new_key(),
        "connection": "rabbitmq",
        "target": {"queueName": "outage"},
        "settings": {"totalMessages": count, "batchSize": window},
        "messages": [{"body": "x" * 200}],
    }
    consume = {
        "idempotencyKey": new_key(),
        "connection": "rabbitmq",
        "target": {"queueName": "quiet"},
        "settings": {"maxMessages": 1, "waitTimeout": "PT2M"},
    }
    broker_is_back = threading.Event()
    calls = [
        Interrupted(lambda: rest.post("/messages/produce", produce), broker_is_back),
        Interrupted(lambda: other.post("/messages/consume", consume), broker_is_back),
    ]
    for call in calls:
        call.start()
    eventually(lambda: server.rest().fetch("/messages/queues/outage/depth", connection="rabbitmq")["depth"] > window, "some")
    began = time.monotonic()
    rabbitmq.kill()
    test = server.rest().post("/messages/connections/test", {"connection": "rabbitmq"})
    assert test.status == 502 and test.problem["endpoints"][0]["endpoint"] == rabbitmq.address
    depth = server.rest().get("/messages/queues/quiet/depth", connection="rabbitmq")
    assert depth.status == 502 and depth.problem["code"] == "BROKER_UNREACHABLE"
    rabbitmq.start()
    broker_is_back.set()
    calls[0].join(PATIENCE_SECONDS)
    assert not calls[0].is_alive(), "the produce did not come to an end"
    answer = calls[0].answers[-1].json
    ids = collections.Counter(rabbitmq.ids_in("outage"))
    doubled = sum(ids.values()) - len(ids)
    statuses = [dict(collections.Counter(each.status for each in call.answers)) for call in calls]
    print(f"{time.monotonic() - began:.1f} s, answers {statuses}, {doubled} there twice, {answer['metadata']}")
    assert {int(each.rpartition("-")[2]) for each in ids} == set(range(count)), "none is lost"
    executions = [each for each in calls[0].answers if each.status != 409]  # which says that one is under way
    assert doubled <= answer["metadata"]["sentAgain"] + window * (len(executions) - 1)

    late = {**produce, "idempotencyKey": new_key(), "target": {"queueName": "quiet"}, "settings": {}}
    assert server.rest().post("/messages/produce", late).status == 200
    calls[1].join(PATIENCE_SECONDS)
    assert not calls[1].is_alive(), "the consume did not come to an end"
    assert bodies(calls[1].answers[-1]) == ["x" * 200]
