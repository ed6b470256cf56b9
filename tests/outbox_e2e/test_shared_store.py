"""Three servers share the work on one store. One is killed, one is stopped for longer than its lease and then goes on.
Nothing that was accepted is lost, and only e-mails whose outcome no server could know are sent twice."""

import collections
import signal
import threading
import uuid

import pytest

from callback_server import CallbackServer
from legal_history import all_emails, check_history, count_unknown
from payloads import payload
from recording_smtp import RecordingSmtp
from waiting import eventually

pytestmark = pytest.mark.remote_only

EMAILS, BATCH = 600, 25
PATIENCE = 240
FLAGS = ["--smtp-connections", "4", "--batch", "10", "--lease", "2s", "--retry-first", "100ms", "--retry-longest", "200ms"]
FLAGS += ["--callback-retry-first", "100ms", "--callback-allow-private", "--log-level", "warning", "--max-rescues", "1000"]


def test_a_killed_and_a_stopped_server_lose_nothing(start):
    with RecordingSmtp() as relay, CallbackServer() as listener:
        flags = ["--smtp", relay.address, *FLAGS]
        killed, stopped, survivor = (start(*flags) for _ in range(3))
        accepted = []
        for number in range(EMAILS // BATCH):
            batch = [
                payload(id=str(uuid.uuid4()), subject=f"Number {number * BATCH + each}", callback_url=listener.url)
                for each in range(BATCH)
            ]
            server = [killed, stopped, survivor][number % 3]
            assert server.rest().post("/emails", {"data": batch}).status == 201
            accepted += [email["id"] for email in batch]
            if number == 8:
                # Both have e-mails on their way whose outcome they do not know yet.
                relay.gates["."] = threading.Event()
        eventually(lambda: relay.reached.count(".") > len(relay.acknowledged) + 4, "messages on their way", PATIENCE)
        stopped.process.send_signal(signal.SIGSTOP)
        killed.kill()
        relay.gates.pop(".").set()
        rest = survivor.rest()
        eventually(lambda: rest.counts()["SENT-ACKNOWLEDGED"] == EMAILS, "the end of all e-mails", PATIENCE)
        stopped.process.send_signal(signal.SIGCONT)
        # What it has still in its hands is another server's: it must find that out, and go on with new work.
        [last] = stopped.rest().accept(payload(callback_url=listener.url))
        eventually(lambda: "SENT-ACKNOWLEDGED" in stopped.rest().states(last), "new work of the stopped server", PATIENCE)
        emails = all_emails(rest)
        assert sorted(email["id"] for email in emails) == sorted([*accepted, last])
        arrived = collections.Counter(mail.id for mail in relay.arrived)
        told = collections.Counter(call.json["message_ids"][0] for call in listener.calls)
        for email in emails:
            check_history(email)
            assert 1 <= arrived[email["id"]] <= 1 + count_unknown(email), (arrived[email["id"]], email)
            assert told[email["id"]] >= 1, email
        assert sum(rest.counts().values()) == EMAILS + 1
