"""Three servers share reminders, messages and metrics on one store. One is killed, one is stopped for longer than its leases
and then goes on: nothing is lost, and only what no server could know is done twice."""

import collections
import http.client
import json
import random
import signal
import threading
import uuid

import pytest

from legal_history import check_history, count_unknown
from payloads import payload
from recording_smtp import RecordingSmtp
from test_metrics import STATUSES, TICKETS, Desk
from test_reminder_crash import all_pages, draft_for_all
from waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.remote_only

CONNECTIONS, WINDOW = 3, 50
MESSAGES, TAKEN = 10_000, 10
FLAGS = ["--smtp-connections", CONNECTIONS, "--lease", "2s", "--retry-first", "100ms", "--retry-longest", "200ms"]
FLAGS += ["--reminders-from", "Billing <billing@shop.example>", "--max-rescues", "1000", "--log-level", "warning"]
FLAGS += ["--messages-lease", "2s", "--queue-lease", "2s", "--metrics-window", "0s", "--no-ticket-adoption"]
FLAGS += ["--subscriber", f"events={TICKETS}:queue:changes"]
NO_TIME_LEFT = ("OUTCOME_UNKNOWN", "STORE_UNAVAILABLE")  # for calls of the store: a stop takes it, too


class Call(threading.Thread):
    """A call that may take as long as its server is stopped. One that is cut off has no answer."""

    def __init__(self, server, path, body, headers=()):
        super().__init__(daemon=True)
        self.request = (path, body, headers)
        self.rest = server.rest(patience=600)  # it may be stopped for long on a busy machine
        self.answer = None
        self.start()

    def run(self):
        try:
            self.answer = self.rest.post(*self.request)
        except (OSError, http.client.HTTPException):
            pass

    def end(self):
        self.join(PATIENCE_SECONDS)
        assert not self.is_alive(), self.request
        return self.answer


def produce(key, queue):
    settings = {"totalMessages": MESSAGES, "batchSize": WINDOW}
    body = {"idempotencyKey": key, "target": {"queueName": queue}, "messages": [{"body": "x"}], "settings": settings}
    return "/messages/produce", body


def consume(key, queue, most=TAKEN, wait="PT1M"):
    settings = {"maxMessages": most, "waitTimeout": wait}
    return "/messages/consume", {"idempotencyKey": key, "target": {"queueName": queue}, "settings": settings}


def insist(rest, path, body):
    """The answer as soon as no other server has the key any more, and none has lost its lease because the machine is busy."""

    def answered():
        answer = rest.post(path, body)
        assert answer.status in (200, 409, 502, 503), answer
        return answer.status == 200 and answer

    return eventually(answered, f"{path} of another server's key")


def take_all(rest, queue):
    """All that is in the queue."""
    found = []
    while messages := insist(rest, *consume(str(uuid.uuid4()), queue, 1_000, "PT0S")).json["messages"]:
        found += messages
    return found


def depth(rest, queue):
    return rest.fetch(f"/messages/queues/{queue}/depth")["depth"]


def followed(server):
    return {each["name"] for each in server.rest().fetch("/figures/followers")["data"] if each["follows"]}


class Work:
    """What the servers are in the middle of when two of them are struck."""

    def __init__(self, servers, relay, desk):
        self.servers, self.relay, self.desk = servers, relay, desk
        self.chance = random.Random(3)
        self.changes = 0
        relay.gates["."] = threading.Event()
        self.drafts = draft_for_all(servers[-1].rest())
        self.approvals, self.productions, self.consumptions = [], [], []

    def change_tickets(self):
        for _ in range(60):
            self.desk.put(str(self.chance.randrange(30)), self.chance.choice(STATUSES), number=self.changes)
            self.changes += 1

    def begin(self):
        """Each server has e-mails on their way, waits for messages, and produces some."""
        self.change_tickets()
        for number, draft in enumerate(self.drafts[: len(self.drafts) // 2]):
            assert self.approve(self.servers[number % 3], draft).end().status == 200
        eventually(lambda: self.relay.reached.count(".") == 3 * CONNECTIONS, "messages on their way from each server")
        self.consumptions = [Call(server, *consume(f"take-{n}", "taken")) for n, server in enumerate(self.servers)]
        self.productions = [Call(server, *produce(f"make-{n}", f"made-{n}")) for n, server in enumerate(self.servers)]
        rest = self.servers[-1].rest()
        eventually(lambda: all(depth(rest, f"made-{n}") for n in range(3)), "messages of each server")
        rest_of_drafts = self.drafts[len(self.drafts) // 2 :]
        self.approvals = [self.approve(self.servers[n % 3], draft) for n, draft in enumerate(rest_of_drafts)]

    @staticmethod
    def approve(server, draft):
        return Call(server, f"/reminders/drafts/{draft}/approve", {"revision": 1, "approved_by": "ann"})


def check_reminders(work, survivor):
    """All approvals are done again with the server that is left: its answers say what the others had done."""
    rest = survivor.rest()
    for draft in work.drafts:
        answer = work.approve(survivor, draft).end()
        assert answer.status == 200 or answer.problem["code"] == "WRONG_REMINDER_STATE", answer

    def delivered():
        sent = all_pages(rest, "/reminders/sent")
        return {each["delivery_status"] for each in sent} == {"sent"} and sent

    sent = eventually(delivered, "the delivery of all")
    assert sorted(each["draft_id"] for each in sent) == sorted(work.drafts), "each draft has one record"
    emails = [rest.email(each["email_id"]) for each in sent]
    assert len(all_pages(rest, "/emails")) == len(emails), "and one e-mail"
    assert sum(map(count_unknown, emails)) >= 2 * CONNECTIONS, "leases have ended, also of the stopped server"
    return [email["id"] for email in emails]


def check_arrivals(relay, rest, emails):
    arrived = collections.Counter(mail.id for mail in relay.arrived)
    assert set(arrived) == set(emails)
    for identifier in emails:
        email = rest.email(identifier)
        check_history(email)
        assert arrived[identifier] <= 1 + count_unknown(email), (arrived[identifier], email)


def check_made(rest, numbers):
    for number in numbers:
        ids = collections.Counter(message["messageId"] for message in take_all(rest, f"made-{number}"))
        assert sorted(int(each.rpartition("-")[2]) for each in ids) == list(range(MESSAGES)), "none is lost"
        twice = sum(ids.values()) - len(ids)
        print(f"made-{number}: {twice} messages twice")
        assert twice <= WINDOW, "only what was not confirmed"


def test_a_killed_and_a_stopped_server_lose_nothing(start, directory, ledger):
    with RecordingSmtp() as relay:
        servers = [start(*FLAGS, "--smtp", relay.address) for _ in range(3)]
        desk = Desk(ledger.store(directory / "data"))
        eventually(lambda: any("tickets" in followed(server) for server in servers), "one that follows")
        servers.sort(key=lambda server: "tickets" not in followed(server))
        stopped, killed, survivor = servers
        rest = survivor.rest()
        work = Work(servers, relay, desk)
        work.begin()
        stopped.process.send_signal(signal.SIGSTOP)
        killed.kill()
        relay.gates.pop(".").set()
        work.change_tickets()

        insist(rest, *produce("fill", "taken"))
        taken = [insist(rest, *consume(f"take-{n}", "taken")) for n in range(3)]
        made = [insist(rest, *produce(f"make-{n}", f"made-{n}")) for n in range(3)]
        emails = check_reminders(work, survivor)
        eventually(lambda: "tickets" in followed(survivor), "another one that follows")
        eventually(lambda: desk.counts_by_status() == desk.true_counts(), "what the tickets say")

        stopped.process.send_signal(signal.SIGCONT)
        # What it had begun is another server's by now. It says so, or that the time for a call of the store is over.
        for call in (work.consumptions[0], work.productions[0]):
            answer = call.end()
            assert answer.status == 409 or answer.problem["code"] in NO_TIME_LEFT, answer
        for approval in work.approvals[::3]:
            answer = approval.end()
            assert answer.status == 200 or answer.problem["code"] in ("WRONG_REMINDER_STATE", *NO_TIME_LEFT), answer
        own = stopped.rest()
        assert insist(own, *consume("own", "taken")).json["processedMessages"] == TAKEN
        work.change_tickets()
        eventually(lambda: desk.counts_by_status() == desk.true_counts(), "what the tickets say in the end")
        eventually(lambda: "tickets" not in followed(stopped), "its own follower to see that it is late")
        own.await_status(last := own.accept_one(payload()), "SENT")

        check_arrivals(relay, rest, [*emails, last])
        ids = [message["messageId"] for answer in taken for message in answer.json["messages"]]
        assert len(ids) == len(set(ids)) == 3 * TAKEN
        assert {answer.json["processedMessages"] for answer in made} == {MESSAGES}
        check_made(rest, range(3))
        told = [json.loads(message["body"]) for message in take_all(rest, "changes")]
        assert {int(change["new"]["number"]["N"]) for change in told} == set(range(work.changes))
