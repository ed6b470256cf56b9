"""E-mails that arrive by a queue: accepted once per message id, and acknowledged when they are on disk."""

import random
import re
import urllib.request
import uuid

import pytest

from message_server import consumed, new_key
from payloads import payload
from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually


@pytest.fixture
def flags(queue):
    return ["--emails-connection", queue.place, "--emails-queue", queue.name, "--log-level", "warning"]


def mail(**fields):
    return {"body": payload(**fields)}


def sent(rest):
    return rest.counts()["SENT"]


class TestArrival:
    def test_message_becomes_an_email(self, start, queue, flags):
        rest = start(*flags).rest()
        own = str(uuid.uuid4())
        assert queue.produce(rest, [mail(id=own, subject="By queue"), {"body": {"data": [payload(), payload()]}}]).status == 200
        eventually(lambda: sent(rest) == 3, "three e-mails in the sandbox")
        assert rest.fetch(f"/emails/{own}/payload")["subject"] == "By queue"
        eventually(lambda: queue.depth(rest) == 0, "an empty queue")

    def test_tenant_of_the_settings(self, start, queue, flags):
        keys = ["--api-key", "n:operator@north:north-0123456789abcdef", "--api-key", "a:operator:admin-0123456789abcdef"]
        server = start(*flags, "--emails-tenant", "north", *keys)
        queue.produce(server.rest("admin-0123456789abcdef"), [mail()])
        north = server.rest("north-0123456789abcdef")
        eventually(lambda: sent(north) == 1, "the tenant's e-mail")

    def test_what_is_no_email_keeps_nothing_back(self, start, queue, flags):
        server = start(*flags)
        rest = server.rest()
        bad = [{"body": "no JSON"}, mail(to="nobody"), {"body": {"data": []}}, {"body": "AAEC", "format": "BINARY"}]
        assert queue.produce(rest, [*bad, mail()]).status == 200
        eventually(lambda: sent(rest) == 1, "the good one")
        eventually(lambda: queue.depth(rest) == 0, "an empty queue")
        assert rest.fetch("/emails/counts")["total"] == 1
        told = lambda: [line for line in server.log if "a message was rejected" in line]
        eventually(lambda: [line for line in told() if "invalid field: " in line], "the log")
        assert len([line for line in told() if "not an e-mail in JSON" in line]) == 1, "one of those of one kind"
        assert not [line for line in server.log if "nobody" in line], "addresses are not for the log"

    def test_same_message_id_is_the_same_email(self, start, queue, flags, directory):
        """As after a broker gave it out again: here by the same request under an expired key."""
        server = start()
        rest = server.rest()
        key = new_key()
        assert queue.produce(rest, [mail()], key=key).status == 200
        held = consumed(queue.consume(rest, autoAcknowledge=False))
        server.kill()
        with_intake = start(*flags)
        eventually(lambda: sent(with_intake.rest()) == 1, "the e-mail")
        eventually(lambda: queue.depth(with_intake.rest()) == 0, "an empty queue")
        assert held[0]["messageId"]
        self.forget(with_intake, key)
        assert queue.produce(with_intake.rest(), [mail()], key=key).status == 200
        eventually(lambda: self.metric(with_intake, "repeated") == 1, "the repeated message")
        assert with_intake.rest().fetch("/emails/counts")["total"] == 1

    @staticmethod
    def forget(server, key):
        dynamodb(server).delete_item(TableName="mq-probe-idempotency", Key={"pk": {"S": f"PRODUCE#{key}"}})

    @staticmethod
    def metric(server, result):
        with urllib.request.urlopen(server.url + "/metrics", timeout=PATIENCE_SECONDS) as answer:
            text = answer.read().decode()
        found = re.search(rf'postino_outbox_queue_messages_total{{.*result="{result}"}} (\d+)', text)
        return found and int(found[1])


def test_kills_send_nothing_twice(start, queue, flags):
    count = 300
    server = start()
    emails = [mail(id=str(uuid.uuid4()), subject=f"Number {i}") for i in range(count)]
    for first in range(0, count, 100):
        assert queue.produce(server.rest(), emails[first : first + 100]).status == 200
    server.kill()
    chance = random.Random()
    flags = [*flags, "--queue-lease", "5s", "--lease", "5s"]
    most = 0
    for _ in range(4):  # each is killed when it has sent some of them
        server = start(*flags)
        rest = server.rest()
        most += chance.randrange(count // 5)
        eventually(lambda: sent(rest) >= most, "some of them")
        server.kill()
    rest = start(*flags).rest()
    # Those that a server had received when it died come back when their leases end.
    eventually(lambda: sent(rest) == count, "all of them", 150)
    assert rest.fetch("/emails/counts")["total"] == count
    delivered = [each["id"] for page in rest.pages("/mailbox", limit=100) for each in page]
    assert sorted(delivered) == sorted(each["body"]["id"] for each in emails)
