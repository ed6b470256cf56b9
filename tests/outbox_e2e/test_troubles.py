"""What an operator learns of trouble: lines in the log, /readyz and metrics. None of them has the address of a person."""

import json
import urllib.request

import pytest

from callback_server import CallbackServer
from payloads import RECIPIENT, payload
from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually, free_port

pytestmark = pytest.mark.store_only

RETRY = ["--retry-first", "100ms", "--retry-longest", "100ms"]


def ask(server, path):
    with urllib.request.urlopen(server.url + path, timeout=PATIENCE_SECONDS) as answer:
        return answer.read().decode()


def await_line(server, *parts):
    return eventually(
        lambda: [line for line in server.log if all(part in line for part in parts)], f"a line with {parts}"
    )


def assert_no_addresses(server):
    assert not [line for line in server.log if RECIPIENT in line]


def test_a_mail_server_that_is_down_is_named_until_it_works(start, sink):
    port = free_port()
    server = start("--smtp", f"127.0.0.1:{port}", *RETRY)
    assert ask(server, "/readyz") == "ready\n"
    identifier = server.rest().accept_one(payload())
    await_line(server, "the mail server cannot be used", f"name=127.0.0.1:{port}")
    assert ask(server, "/readyz").startswith(f"ready, but the mail server 127.0.0.1:{port} could not be used")
    assert ask(server, "/healthz").startswith(f"running, but the mail server 127.0.0.1:{port} could not be used")
    assert f'\npostino_smtp_relay_up{{relay="127.0.0.1:{port}"}} 0\n' in ask(server, "/metrics")

    sink(port=port)
    server.rest().await_status(identifier, "SENT")
    await_line(server, "the mail server can be used again", f"name=127.0.0.1:{port}")
    assert ask(server, "/readyz") == "ready\n"
    assert f'\npostino_smtp_relay_up{{relay="127.0.0.1:{port}"}} 1\n' in ask(server, "/metrics")
    assert_no_addresses(server)


def test_refused_recipients_are_told_once_for_each_code(start, recorder):
    recorder.refusals[RECIPIENT] = f"550 5.1.1 <{RECIPIENT}>: user unknown"
    recorder.refusals["bob@customer.example"] = "553 5.1.3 no such name"
    rest = (server := start("--smtp", recorder.address)).rest()
    for _ in range(3):
        rest.await_status(rest.accept_one(payload()), "FAILED")
    rest.await_status(rest.accept_one(payload(to=["bob@customer.example", "eve@customer.example"])), "SENT")
    await_line(server, "a mail server has refused a recipient for good", "553 5.1.3")
    (line,) = await_line(server, "a mail server has refused a recipient for good", "550 5.1.1")
    assert "<(address)>: user unknown" in line
    assert_no_addresses(server)


def test_a_domain_that_asks_to_wait_is_named(start, recorder):
    recorder.refusals[RECIPIENT] = "450 4.7.1 try again in 600 seconds"
    rest = (server := start("--smtp", recorder.address)).rest()
    identifier = rest.accept_one(payload())
    await_line(server, "a mail server has asked to wait", "domain=" + RECIPIENT.split("@")[1], '"10 minutes"')
    assert "outcome_unknown" not in rest.await_status(identifier, "READY")
    assert_no_addresses(server)


def test_a_callback_that_is_given_up_is_told(start):
    server = start("--callback-url", f"http://127.0.0.1:{free_port()}/", "--callback-attempts", "1")
    identifier = server.rest().accept_one(payload())
    await_line(server, "a callback was given up", identifier)
    assert_no_addresses(server)


def test_a_receiver_of_changes_that_is_away_is_named_until_it_works(start):
    with CallbackServer() as receiver:
        receiver.usual = (503, {})
        table = "prod-tickets-unified"
        server = start("--metrics-window", "0s", "--subscriber", f"crm={table}:{receiver.url}")
        server.rest().post("/tickets", {"customer": {"id": "cust_1"}, "symptom_text": "It restarts."})
        await_line(server, "changes cannot be handled now", "503")
        assert ask(server, "/readyz").startswith(f"ready, but the subscriber crm of table {table}: ")

        receiver.usual = (204, {})
        await_line(server, "changes are handled again")
        assert ask(server, "/readyz") == "ready\n"


def test_an_index_that_another_program_has_deleted_is_named(start):
    """A caller that lists e-mails has done nothing wrong, and its cursor neither."""
    server = start()
    identifier = server.rest().accept_one(payload())
    server.rest().await_status(identifier, "SENT")
    removal = [{"Delete": {"IndexName": "ListIndex"}}]
    dynamodb(server).update_table(TableName="email-outbox", GlobalSecondaryIndexUpdates=removal)
    for path in ("/emails", "/emails?status=SENT&limit=1"):
        problem = server.rest().get(path).problem
        assert (problem["status"], problem["code"]) == (500, "INTERNAL_ERROR")
        assert "ListIndex" in problem["detail"] and "email-outbox" in problem["detail"]
        assert "cursor" not in json.dumps(problem)
    await_line(server, "failed", "route=/emails", "ListIndex")
    assert "table email-outbox has no index ListIndex" in ask(server, "/readyz")
    # Others are not touched by it.
    assert server.rest().get("/dead-callbacks").status == 200
    assert server.rest().get(f"/emails/{identifier}").status == 200
    wrong = server.rest().get("/dead-callbacks", cursor="none").problem
    assert [error["field"] for error in wrong["errors"]] == ["cursor"]

    server.stop()
    server = start()
    assert [email["id"] for email in server.rest().get("/emails").json["data"]] == [identifier]
    assert ask(server, "/readyz") == "ready\n"
