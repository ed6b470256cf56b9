"""The broker is gone for a while, in the middle of it all."""

import collections
import threading
import time

from message_server import bodies, new_key
from waiting import eventually


class Interrupted(threading.Thread):
    """A call that goes on while something is done to the broker."""

    def __init__(self, call):
        super().__init__(daemon=True)
        self.call, self.answers = call, []

    def run(self):
        while not self.answers or self.answers[-1].status != 200:
            self.answers.append(self.call())
            assert self.answers[-1].status in (200, 409, 502, 503, 504), self.answers[-1]
            threading.Event().wait(0.1)


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
    calls = [
        Interrupted(lambda: rest.post("/messages/produce", produce)),
        Interrupted(lambda: other.post("/messages/consume", consume)),
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
    calls[0].join(120)
    assert not calls[0].is_alive(), "the produce did not come to an end"
    answer = calls[0].answers[-1].json
    ids = collections.Counter(rabbitmq.ids_in("outage"))
    doubled = sum(ids.values()) - len(ids)
    statuses = [[each.status for each in call.answers] for call in calls]
    print(f"{time.monotonic() - began:.1f} s, answers {statuses}, {doubled} there twice, {answer['metadata']}")
    assert {int(each.rpartition("-")[2]) for each in ids} == set(range(count)), "none is lost"
    assert doubled <= answer["metadata"]["sentAgain"] + window * (len(calls[0].answers) - 1)

    late = {**produce, "idempotencyKey": new_key(), "target": {"queueName": "quiet"}, "settings": {}}
    assert server.rest().post("/messages/produce", late).status == 200
    calls[1].join(60)
    assert not calls[1].is_alive(), "the consume did not come to an end"
    assert bodies(calls[1].answers[-1]) == ["x" * 200]
