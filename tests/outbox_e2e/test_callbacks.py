"""Callers are told what became of their e-mails, until they have said that they heard it."""

import base64
import re
import socket
import subprocess
import time
import urllib.request
from datetime import datetime

import pytest

from callback_server import CallbackServer
from payloads import payload
from store import OutboxItems
from waiting import PATIENCE_SECONDS

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NO_SUCH_USER = "550 5.1.1 no such user"


@pytest.fixture
def listener():
    with CallbackServer() as server:
        yield server


@pytest.fixture
def start_calling(start, listener):
    """A server that may call the listener, which is on this machine, and tries again soon."""

    def start_server(*flags):
        patience = [] if "--callback-timeout" in flags else ["--callback-timeout", "120s"]  # one call, not two
        usual = ["--callback-allow-private", "--callback-secret", SECRET, "--callback-retry-first", "100ms"]
        return start(*usual, *patience, *flags)

    return start_server


def check_body(rest, call, identifier, code, status, reason):
    """These members and no others; the time is that of the outcome, not of the call."""
    body = call.json
    (reached,) = {line["at"] for line in rest.email(identifier)["history"][:5] if line["status"] == status}
    assert TIME.fullmatch(body["reached_at"])
    assert body.pop("reached_at") == reached
    assert body == {"code": code, "message_ids": [identifier], "reason": reason}


def test_no_password_in_a_callback_url_is_told_to_anybody(start, binary, directory):
    """Such a URL is refused, with the rule, and neither the answer nor the log has it."""
    url = "https://user:hidden-word@hooks.example/x"
    server = start("--log-requests")
    rest = server.rest()
    answer = rest.post("/emails", {"data": [payload(callback_url=url)]}, {"Idempotency-Key": "k"})
    assert "must not have a user or password" in answer.body.decode()
    assert "hidden-word" not in answer.body.decode() + str(answer.headers)
    repeated = rest.post("/emails", {"data": [payload(callback_url=url)]}, {"Idempotency-Key": "k"})
    assert "hidden-word" not in repeated.body.decode()
    assert server.stop() == 0
    assert "hidden-word" not in server.whole_log()
    refused = subprocess.run(
        [binary, "serve", "--data", directory / "other", "--callback-url", url], capture_output=True, text=True
    )
    assert refused.returncode != 0 and "user or password" in refused.stderr
    assert "hidden-word" not in refused.stdout + refused.stderr


def test_sent_email_is_told(start_calling, listener, recorder):
    rest = start_calling("--smtp", recorder.address).rest()
    began = int(time.time())
    identifier = rest.accept_one(payload(callback_url=listener.url))
    email = rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    (call,) = listener.calls
    check_body(rest, call, identifier, "TRAVELING", "SENT", email["reason"])
    assert call.headers["Content-Type"] == "application/json"
    assert call.is_signed_with(SECRET)
    assert began <= int(call.headers["webhook-timestamp"]) <= time.time()
    assert rest.states(identifier)[-3:] == ["SENT", "CALLING-SENT-CALLBACK", "SENT-ACKNOWLEDGED"]
    assert email["callback"]["attempts"] == 1 and email["callback"]["dead"] is False


def test_failed_email_is_told_with_the_words_of_the_relay(start_calling, listener, recorder):
    recorder.replies["RCPT"] = NO_SUCH_USER
    rest = start_calling("--smtp", recorder.address).rest()
    identifier = rest.accept_one(payload(callback_url=listener.url))
    email = rest.await_status(identifier, "FAILED-ACKNOWLEDGED")
    (call,) = listener.calls
    check_body(rest, call, identifier, "DISPATCH-ERROR", "FAILED", NO_SUCH_USER)
    assert email["reason"] == NO_SUCH_USER, "the reason outlives the callback"
    assert rest.states(identifier)[-3:] == ["FAILED", "CALLING-FAILED-CALLBACK", "FAILED-ACKNOWLEDGED"]


def test_invalid_email_is_told(start_calling, listener, directory):
    (directory / "files").mkdir()
    rest = start_calling("--attachments", directory / "files").rest()
    identifier = rest.accept_one(payload(callback_url=listener.url, attachments=["missing.pdf"]))
    email = rest.await_status(identifier, "INVALID-ACKNOWLEDGED")
    (call,) = listener.calls
    check_body(rest, call, identifier, "DISPATCH-ERROR", "INVALID", email["reason"])
    assert "missing.pdf" in email["reason"]
    expected = ["ACCEPTED", "INTAKING", "INVALID", "CALLING-INVALID-CALLBACK", "INVALID-ACKNOWLEDGED"]
    assert rest.states(identifier) == expected


def test_configured_url_is_called_for_those_without_their_own(start_calling, listener):
    rest = start_calling("--callback-url", listener.url + "/all").rest()
    common, own = rest.accept(payload(), payload(callback_url=listener.url + "/own"))
    for identifier in (common, own):
        rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    assert {call.json["message_ids"][0]: call.path for call in listener.calls} == {
        common: "/hook/all",
        own: "/hook/own",
    }


def test_without_a_url_nobody_is_called(start):
    rest = start().rest()
    email = rest.await_status(rest.accept_one(payload()), "SENT")
    assert "callback" not in email


def test_only_success_acknowledges(start_calling, listener):
    listener.script = [(500, {}), (404, {}), (200, {})]
    rest = start_calling().rest()
    identifier = rest.accept_one(payload(callback_url=listener.url))
    email = rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    assert len(listener.calls) == 3 and email["callback"]["attempts"] == 3
    assert len({call.id for call in listener.calls}) == 1, "a retry is the same event"
    assert len({call.body for call in listener.calls}) == 1
    assert all(call.is_signed_with(SECRET) for call in listener.calls)
    history = rest.history(identifier)
    assert [status for status, _ in history].count("CALLING-SENT-CALLBACK") == 3
    assert any("500" in reason for _, reason in history) and any("404" in reason for _, reason in history)


def test_other_events_have_other_ids(start_calling, listener, recorder):
    recorder.replies["RCPT"] = NO_SUCH_USER
    rest = start_calling("--smtp", recorder.address).rest()
    identifier = rest.accept_one(payload(callback_url=listener.url))
    rest.await_status(identifier, "FAILED-ACKNOWLEDGED")
    del recorder.replies["RCPT"]
    assert rest.post(f"/emails/{identifier}/requeue").status == 204
    rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    first, second = listener.calls
    assert (first.json["code"], second.json["code"]) == ("DISPATCH-ERROR", "TRAVELING")
    assert first.id != second.id


@pytest.mark.store_only
def test_retry_after_is_honoured(start_calling, listener):
    listener.usual = (503, {"Retry-After": "3600"})
    server = start_calling()
    rest = server.rest()
    identifier = rest.accept_one(payload(callback_url=listener.url))
    rest.await_email(
        identifier, lambda it: it["status"] == "SENT" and it.get("callback", {}).get("attempts") == 1, "a failed call"
    )
    meta = OutboxItems(server).meta(identifier)
    called = datetime.fromisoformat(meta["Attributes"]["UpdatedAt"]).timestamp()
    assert 3540 <= float(meta["DueAt"]) / 1000 - called <= 3601


def test_callback_that_nobody_takes_is_set_aside_and_replayed(start_calling, listener):
    listener.usual = (500, {})
    rest = start_calling("--callback-attempts", "2").rest()
    identifier = rest.accept_one(payload(callback_url=listener.url))
    email = rest.await_email(identifier, lambda it: it.get("callback", {}).get("dead"), "a dead callback")
    assert email["status"] == "SENT" and email["callback"]["attempts"] == 2 == len(listener.calls)
    assert "500" in email["callback"]["last_error"]
    assert [each["id"] for each in rest.fetch("/dead-callbacks")["data"]] == [identifier]

    listener.usual = (200, {})
    assert rest.post(f"/dead-callbacks/{identifier}/replay").status == 204
    email = rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    assert email["callback"]["dead"] is False
    assert rest.fetch("/dead-callbacks")["data"] == []
    assert len({call.id for call in listener.calls}) == 1
    again = rest.post(f"/dead-callbacks/{identifier}/replay")
    assert again.status == 409 and again.problem
    assert rest.post("/dead-callbacks/00000000-0000-4000-8000-000000000000/replay").status == 404


def test_listener_that_never_answers_is_given_up_for_now(start_calling, listener):
    listener.gate.clear()
    rest = start_calling("--callback-timeout", "300ms").rest()
    identifier = rest.accept_one(payload(callback_url=listener.url))
    rest.await_email(identifier, lambda it: it.get("callback", {}).get("last_error"), "a failed call")
    listener.gate.set()
    rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    assert len({call.id for call in listener.calls}) == 1


def test_listener_that_is_not_there_yet_is_waited_for(start_calling):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        rest = start_calling().rest()
        identifier = rest.accept_one(payload(callback_url=f"http://127.0.0.1:{port}/"))
        email = rest.await_email(identifier, lambda it: it.get("callback", {}).get("last_error"), "a failed call")
    assert email["callback"]["dead"] is False


def test_redirects_are_not_followed(start_calling, listener):
    listener.script = [(302, {"Location": listener.url + "/elsewhere"}), (307, {"Location": "/elsewhere"})]
    rest = start_calling().rest()
    identifier = rest.accept_one(payload(callback_url=listener.url))
    rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    assert [call.path for call in listener.calls] == ["/hook"] * 3


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1"])
def test_private_address_is_refused_unless_allowed(start, listener, host):
    port = listener.server_address[1]
    rest = start("--callback-retry-first", "100ms").rest()
    answer = rest.post("/emails", {"data": [payload(callback_url=f"http://{host}:{port}/hook")]})
    assert answer.status == 400, "it is refused before anything is done"
    assert answer.broken_rules == {"data[0].callback_url": "must not lead into a private network"}
    assert listener.calls == []


def test_unsigned_without_a_secret(start, listener):
    rest = start("--callback-allow-private", "--callback-timeout", "120s").rest()
    rest.await_status(rest.accept_one(payload(callback_url=listener.url)), "SENT-ACKNOWLEDGED")
    (call,) = listener.calls
    assert call.id and "webhook-signature" not in call.headers


def test_callbacks_wait_for_nobody(start_calling, listener):
    """One listener that hangs does not keep others from being called."""
    with CallbackServer() as stuck:
        stuck.gate.clear()
        rest = start_calling("--callback-workers", "2", "--callback-timeout", "1h").rest()
        (slow,) = rest.accept(payload(callback_url=stuck.url))
        stuck.await_calls()
        for identifier in rest.accept(*[payload(callback_url=listener.url) for _ in range(5)]):
            rest.await_status(identifier, "SENT-ACKNOWLEDGED")
        assert rest.email(slow)["status"] == "CALLING-SENT-CALLBACK"
        stuck.gate.set()
        rest.await_status(slow, "SENT-ACKNOWLEDGED")


def test_a_slow_receiver_keeps_no_other_waiting(start_calling, listener):
    """None of many callbacks is answered, and those to another receiver are made all the same, though they came later."""
    listener.gate.clear()
    rest = start_calling().rest()
    slow = rest.accept(*[payload(callback_url=listener.url) for _ in range(100)])
    listener.await_calls(2)
    with CallbackServer() as fast:
        for identifier in rest.accept(*[payload(callback_url=fast.url) for _ in range(20)]):
            rest.await_status(identifier, "SENT-ACKNOWLEDGED")
        assert len(fast.calls) == 20
    listener.gate.set()
    for identifier in slow:
        rest.await_status(identifier, "SENT-ACKNOWLEDGED")
    assert len(listener.calls) == 100


def test_nothing_is_sent_before_it_is_wanted(start, recorder, listener):
    """As after a backup was restored: what waits can be looked at first."""
    flags = ["--smtp", recorder.address, "--callback-allow-private"]
    server = start(*flags, "--no-sending")
    rest = server.rest()
    kept, unwanted = rest.accept(*[payload(callback_url=listener.url) for _ in range(2)])
    for identifier in (kept, unwanted):
        rest.await_status(identifier, "READY")
    assert rest.post(f"/emails/{unwanted}/cancel").status == 204
    with urllib.request.urlopen(server.url + "/readyz", timeout=PATIENCE_SECONDS) as answer:
        assert answer.read() == b"ready, but nothing is sent, because of --no-sending\n"
    assert any('mail="not sent, because of --no-sending"' in line for line in server.log)
    assert server.stop() == 0
    assert recorder.reached == [] and listener.calls == [], "nobody was asked for anything"

    rest = start(*flags).rest()
    rest.await_status(kept, "SENT-ACKNOWLEDGED")
    rest.await_status(unwanted, "CANCELLED")
    assert len(recorder.acknowledged) == 1
