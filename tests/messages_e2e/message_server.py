"""A Postino server with its queues, and what tests do with these again and again."""

import collections
import re
import urllib.request
import uuid

from outbox_server import OutboxServer
from store import dynamodb
from waiting import PATIENCE_SECONDS

TABLE = "mq-probe-idempotency"


class MessageServer(OutboxServer):
    def metrics(self):
        """Values of the series about messages, by name and labels."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=PATIENCE_SECONDS) as answer:
            text = answer.read().decode()
        found = re.findall(r"^(postino_messages_\w+)\{(.*)\} (.*)$", text, re.MULTILINE)
        return {(name, labels): float(value) for name, labels, value in found}


class Queue:
    """A queue that no other test uses."""

    def __init__(self, place, name, rabbitmq):
        self.place, self.name, self.rabbitmq = place, name, rabbitmq

    def request(self, key, settings=None, **members):
        body = {"idempotencyKey": key, "connection": self.place, "target": {"queueName": self.name}, **members}
        return {**body, "settings": settings} if settings else body

    def produce(self, rest, messages, key=None, headers=(), **settings):
        messages = [each if isinstance(each, dict) else {"body": each} for each in messages]
        return rest.post("/messages/produce", self.request(key or new_key(), settings, messages=messages), headers)

    def consume(self, rest, key=None, headers=(), **settings):
        if self.place == "rabbitmq":  # it may need a while to send what it has
            settings.setdefault("waitTimeout", "PT1M")
        return rest.post("/messages/consume", self.request(key or new_key(), settings), headers)

    def consume_all(self, rest, count):
        """The queue is empty afterwards. Who asks for more than there is waits for it, because a broker does not tell."""
        answer = self.consume(rest, maxMessages=count)
        assert self.depth(rest) == 0
        return answer

    def fill(self, rest, *bodies):
        answer = self.produce(rest, bodies)
        assert answer.status == 200, answer

    def depth(self, rest):
        return rest.fetch(f"/messages/queues/{self.name}/depth", connection=self.place)["depth"]

    def take_ids(self, rest):
        """How often each message id is in the queue, which is empty afterwards. A broker is asked itself."""
        if self.place == "rabbitmq":
            return collections.Counter(self.rabbitmq.ids_in(self.name))
        ids = collections.Counter()
        while messages := consumed(self.consume(rest, maxMessages=10_000)):
            ids.update(message["messageId"] for message in messages)
        return ids


def record(server, operation, key):
    found = dynamodb(server).get_item(TableName=TABLE, Key={"pk": {"S": f"{operation}#{key}"}}, ConsistentRead=True)
    return found.get("Item")


def new_key():
    return str(uuid.uuid4())


def consumed(answer):
    assert answer.status == 200, answer
    return answer.json["messages"]


def bodies(answer):
    return [message["body"] for message in consumed(answer)]


def without_id(problem):
    return {name: value for name, value in problem.items() if name != "request_id"}
