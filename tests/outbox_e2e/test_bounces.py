"""Reports that come back, and the addresses that get no mail any more."""

import uuid
from urllib.parse import quote

import pytest

from payloads import payload

REPORT = """\
From: MAILER-DAEMON@mail.example (Mail Delivery System)
To: bounces@shop.example
Subject: Undelivered Mail Returned to Sender
Date: Sun, 15 Nov 2026 12:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

Sorry.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mail.example
Arrival-Date: Sun, 15 Nov 2026 11:59:00 +0000

Final-Recipient: rfc822; {recipient}
Action: {action}
Status: {status}
Diagnostic-Code: smtp; {diagnostic}

--b
Content-Type: text/rfc822-headers

From: billing@shop.example
To: {recipient}
Subject: Your invoice
Message-ID: <{identifier}@shop.example>

--b--
"""
AS_MESSAGE = {"Content-Type": "message/rfc822"}


def new_address():
    return f"{uuid.uuid4().hex}@customer.example"


def report(identifier, recipient, status="5.1.1", action="failed", diagnostic="550 5.1.1 unknown user"):
    values = {"identifier": identifier, "recipient": recipient, "status": status, "action": action}
    return REPORT.format(diagnostic=diagnostic, **values).replace("\n", "\r\n")


def suppressed(rest):
    return {entry["address"]: entry for page in rest.pages("/suppressions", limit=2) for entry in page}


@pytest.fixture
def sent(rest):
    """An e-mail that was sent, and its recipient."""
    address = new_address()
    identifier = rest.accept_one(payload(to=address))
    rest.await_status(identifier, "SENT")
    return identifier, address


def test_bounce_is_noted_and_the_address_gets_no_more_mail(rest, sent):
    identifier, address = sent
    answer = rest.post("/bounces", report(identifier, address), AS_MESSAGE)
    assert answer.status == 200, answer
    bounce = {"recipient": address, "status": "5.1.1", "diagnostic": "550 5.1.1 unknown user", "permanent": True}
    assert answer.json == {"email_id": identifier, "bounces": [bounce], "suppressed": [address]}

    email = rest.email(identifier)
    assert email["status"] == "SENT", "it was"
    last = email["history"][-1]
    assert last["status"] == "BOUNCED" and address in last["reason"] and "unknown user" in last["reason"]
    assert [{name: noted[name] for name in bounce} for noted in email["bounces"]] == [bounce]
    assert "5.1.1" in suppressed(rest)[address]["reason"]

    later = rest.await_outcome(rest.accept_one(payload(to=address)))
    assert later["status"] == "FAILED" and later["recipients"][0]["status"] == "suppressed"
    assert later["reason"]
    assert rest.get(f"/mailbox/{later['id']}").status == 404


def test_report_may_come_as_json(rest, sent):
    identifier, address = sent
    answer = rest.post("/bounces", {"message": report(identifier, address)})
    assert answer.status == 200 and answer.json["suppressed"] == [address]


@pytest.mark.parametrize(
    "status, action, bounces",
    [("4.2.2", "delayed", 0), ("2.0.0", "delivered", 0), ("4.2.2", "failed", 1), ("5.2.2", "failed", 1)],
)
def test_report_that_says_nothing_against_the_address_suppresses_nothing(rest, sent, status, action, bounces):
    identifier, address = sent
    answer = rest.post("/bounces", report(identifier, address, status, action), AS_MESSAGE)
    assert answer.status == 200, answer
    assert len(answer.json["bounces"]) == bounces and answer.json["suppressed"] == []
    assert [each["permanent"] for each in answer.json["bounces"]] == [status.startswith("5")] * bounces
    rest.await_status(rest.accept_one(payload(to=address)), "SENT")


def test_report_about_nothing_of_ours_is_404(rest):
    answer = rest.post("/bounces", report(uuid.uuid4(), new_address()), AS_MESSAGE)
    assert answer.status == 404 and answer.problem["code"] == "UNKNOWN_EMAIL"


@pytest.mark.parametrize("text", ["Subject: hello\r\n\r\nI am on holiday.\r\n", "no message at all", "\0\xff" * 100])
def test_other_mail_is_no_report(rest, text):
    answer = rest.post("/bounces", text, AS_MESSAGE)
    assert answer.status == 400 and answer.problem


def test_report_cannot_suppress_whom_the_email_was_not_for(rest, sent):
    """Anybody can send a report to a bounce address; it must not keep others from getting mail."""
    identifier, _ = sent
    victim = new_address()
    answer = rest.post("/bounces", report(identifier, victim), AS_MESSAGE)
    assert victim not in suppressed(rest), answer
    rest.await_status(rest.accept_one(payload(to=victim)), "SENT")


def test_address_is_suppressed_and_gets_mail_again(rest):
    address = new_address()
    path = f"/suppressions/{quote(address)}"
    assert rest.put(path, {"reason": "asked us to"}).status == 204
    entry = suppressed(rest)[address]
    assert (entry["reason"], set(entry)) == ("asked us to", {"address", "reason", "since"})
    email = rest.await_outcome(rest.accept_one(payload(to=address)))
    assert email["status"] == "FAILED" and email["recipients"][0]["status"] == "suppressed"
    assert rest.delete(path).status == 204
    assert rest.delete(path).status == 404
    rest.await_status(rest.accept_one(payload(to=address)), "SENT")


def test_case_of_an_address_makes_no_difference(rest):
    address = new_address()
    assert rest.put(f"/suppressions/{quote(address.upper())}").status == 204
    email = rest.await_outcome(rest.accept_one(payload(to=address)))
    assert email["status"] == "FAILED"


def test_others_get_their_mail_all_the_same(rest):
    stopped, other = new_address(), new_address()
    assert rest.put(f"/suppressions/{stopped}").status == 204
    identifier = rest.accept_one(payload(to=[stopped, other]))
    email = rest.await_status(identifier, "SENT")
    assert [each["status"] for each in email["recipients"]] == ["suppressed", "sent"]
    (entry,) = [mail for page in rest.pages("/mailbox") for mail in page if mail["id"] == identifier]
    assert entry["to"] == [other]


@pytest.mark.parametrize("address", ["nobody", "a%40b%40c", "Name%20%3Ca%40b.example%3E", "a%0D%0A%40b.example"])
def test_only_addresses_are_suppressed(rest, address):
    answer = rest.put(f"/suppressions/{address}")
    assert answer.status == 400 and answer.problem
