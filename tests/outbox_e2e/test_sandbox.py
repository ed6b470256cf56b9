"""Without a relay mail stays here, where it can be looked at."""

import email
import email.policy
import re
from datetime import datetime

import pytest

from payloads import RECIPIENT, SENDER, payload
from waiting import free_port


@pytest.fixture
def filled(start):
    """A server with three mails, oldest first."""
    server = start()
    rest = server.rest()
    identifiers = []
    for number in range(3):
        identifiers.append(rest.accept_one(payload(subject=f"Číslo {number}", bcc="eve@audit.example")))
        rest.await_status(identifiers[-1], "SENT")
    return server, rest, identifiers


def test_server_says_where_mail_goes(start):
    server = start()
    assert server.stop() == 0
    assert re.search(r"^Mail: .*sandbox", server.whole_log(), re.MULTILINE)


def test_mail_is_listed_and_readable(filled):
    _, rest, identifiers = filled
    page = rest.fetch("/mailbox")
    assert [mail["id"] for mail in page["data"]] == identifiers[::-1] and page["cursor"] is None
    newest = page["data"][0]
    assert (newest["from"], newest["to"]) == (SENDER, [RECIPIENT, "eve@audit.example"])
    assert newest["subject"] == "Číslo 2"
    assert datetime.fromisoformat(newest["received_at"])
    answer = rest.get(f"/mailbox/{identifiers[2]}")
    assert answer.headers["content-type"].startswith("message/rfc822")
    assert len(answer.body) == newest["size"]
    message = email.message_from_bytes(answer.body, policy=email.policy.default)
    assert message["Subject"] == "Číslo 2" and "Bcc" not in message
    assert answer.body == rest.get(f"/emails/{identifiers[2]}/message").body


@pytest.mark.parametrize("characters", [10, 60_000, 300_000])
def test_message_may_be_much_larger_than_what_was_handed_in(start, characters):
    # Each of these takes two bytes in JSON, and six in the message.
    rest = start().rest()
    identifier = rest.accept_one(payload(body_text="é" * characters))
    rest.await_status(identifier, "SENT")
    message = email.message_from_bytes(rest.get(f"/mailbox/{identifier}").body, policy=email.policy.default)
    assert message.get_body(("plain",)).get_content().rstrip() == "é" * characters


def test_pages_have_each_mail_once(filled):
    _, rest, identifiers = filled
    pages = list(rest.pages("/mailbox", limit=1))
    assert [mail["id"] for page in pages for mail in page] == identifiers[::-1]


def test_it_can_be_emptied(filled):
    _, rest, identifiers = filled
    answer = rest.delete("/mailbox")
    assert (answer.status, answer.json) == (200, {"removed": 3})
    assert rest.fetch("/mailbox") == {"data": [], "cursor": None}
    assert rest.get(f"/mailbox/{identifiers[0]}").status == 404
    assert rest.email(identifiers[0])["status"] == "SENT", "the record stays"
    assert rest.delete("/mailbox").json == {"removed": 0}


def test_unknown_mail_is_404(filled):
    _, rest, _ = filled
    answer = rest.get("/mailbox/00000000-0000-4000-8000-000000000000")
    assert answer.status == 404 and answer.problem


def test_mail_survives_a_restart(filled, start):
    server, _, identifiers = filled
    server.kill()
    rest = start().rest()
    assert [mail["id"] for mail in rest.fetch("/mailbox")["data"]] == identifiers[::-1]


def test_with_a_relay_there_is_no_sandbox(start):
    rest = start("--smtp", f"127.0.0.1:{free_port()}").rest()
    for answer in (rest.get("/mailbox"), rest.get("/mailbox/x"), rest.delete("/mailbox")):
        assert answer.status == 404 and answer.problem["code"] == "NO_SANDBOX"
