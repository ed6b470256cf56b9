"""Every operation about tickets is called, and what it really answers is held against the OpenAPI document."""

import base64
import json
import re

import pytest
from described_rest import DescribedRest
from tickets import new_ticket
from waiting import eventually

SERVER_FLAGS = ("--tickets-from", "Support <support@shop.example>")
ABSENT = "tkt_absent"


@pytest.fixture(scope="module")
def api(rest):
    return DescribedRest(rest)


@pytest.fixture
def ticket(api):
    return api.call("createTicket", 202, new_ticket()).json["ticket_id"]


def test_tickets_are_opened_and_shown(api):
    key = {"Idempotency-Key": "described"}
    letter = {"kind": "acknowledgement", "subject": "[{ticket_id}]", "text": "We look at it.", "key": "ack"}
    first = api.call("createTicket", 202, new_ticket("cust_2", letter=letter), headers=key)
    again = api.call("createTicket", 202, new_ticket("cust_2", letter=letter), headers=key)
    assert again.body == first.body and again.headers["idempotent-replayed"] == "true"
    api.call("createTicket", 422, new_ticket("cust_3"), headers=key)
    api.call("createTicket", 400, {})
    identifier = first.json["ticket_id"]
    shown = api.call("getTicket", 200, id=identifier).json
    assert shown["customer"]["id"] == "cust_2" and shown["data"]["symptom_text"]
    api.call("getTicket", 404, id=ABSENT)
    several = api.call("getTickets", 200, query={"ids": f"{ABSENT},{identifier}"}).json
    assert [each["ticket_id"] for each in several["data"]] == [identifier]
    found = api.call("listTickets", 200, query={"customer_id": "cust_2", "status": "NEW", "limit": 1}).json
    assert [each["ticket_id"] for each in found["data"]] == [identifier]


def test_tickets_move(api, ticket):
    api.call("moveTicket", 200, {"status": "PROCESSING", "version": 1, "by": "ann"}, id=ticket)
    api.call("moveTicket", 409, {"status": "READY", "version": 1}, id=ticket)
    api.call("escalateTicket", 200, {"engineer": "eng_1", "reason": "hard", "seen_status": "PROCESSING"}, id=ticket)
    listed = api.call("listEscalatedTickets", 200, query={"engineer": "eng_1"}).json["data"]
    assert [each["ticket_id"] for each in listed] == [ticket]
    api.call("deescalateTicket", 200, {"reason": "easy after all"}, id=ticket)
    api.call("deescalateTicket", 409, id=ticket)
    api.call("changeTicketPriority", 200, {"priority": "P1"}, id=ticket)
    letter = {"subject": "Done", "html": "<p>Done.</p>"}
    assert api.call("moveTicket", 200, {"status": "READY", "letter": letter}, id=ticket).json["completed_at"]


def test_tickets_are_counted(api):
    api.call("createTicket", 202, new_ticket("cust_counted"))
    before = api.call("getTicketCounts", 200).json
    assert before["total"] == sum(before["by_status"].values())
    ticket = api.call("createTicket", 202, new_ticket("cust_counted")).json["ticket_id"]
    api.call("moveTicket", 200, {"status": "PROCESSING"}, id=ticket)
    api.call("moveTicket", 200, {"status": "FAILED"}, id=ticket)
    eventually(lambda: api.call("getTicketCounts", 200).json["by_status"]["FAILED"] == 1, "the counters")


def test_tickets_have_feedback_and_events(api, ticket):
    feedback = {"operator_id": "op_1", "rating": 4, "was_helpful": True, "resolved_issue": False, "comments": "Well."}
    api.call("addFeedback", 201, feedback, id=ticket)
    api.call("addFeedback", 404, feedback, id=ABSENT)
    assert api.call("getTicketFeedback", 200, id=ticket).json["data"][0]["rating"] == 4
    assert api.call("listFeedback", 200, query={"operator_id": "op_1"}).json["data"]
    api.call("addTicketEvent", 201, {"event_type": "called", "details": {"minutes": 7, "with": ["Ada"]}}, id=ticket)
    events = api.call("listTicketEvents", 200, id=ticket, query={"order": "oldest"}).json["data"]
    assert [each["event_type"] for each in events] == ["ticket_created", "feedback_received", "called"]
    assert [each["number"] for each in events] == [1, 2, 3]


def test_tickets_send_emails_and_get_answers(api, desk, ticket):
    sent = api.call("sendTicketEmail", 201, {"subject": "Please try again", "text": "Thanks."}, id=ticket).json
    # What went out has this very Message-ID.
    desk.rest().await_status(sent["email_id"], "SENT")
    message = desk.rest().get(f"/emails/{sent['email_id']}/message")
    assert f"<{sent['message_id']}>".encode() in message.body, message
    headers = f"Message-ID: <1@customer.example>\r\nFrom: ada@example.org\r\nReferences: <x@y> <{sent['message_id']}>\r\n"
    got = api.call("receiveTicketAnswer", 201, {"headers": headers, "text": "It works."}).json
    assert got["ticket_id"] == ticket and got["direction"] == "received"
    api.call("receiveTicketAnswer", 404, {"headers": "In-Reply-To: <x@y>\r\n"})
    assert len(api.call("listTicketEmails", 200, id=ticket).json["data"]) == 2


def test_tickets_have_attachments(api, ticket):
    content = base64.b64encode(b"It is broken.\n").decode()
    added = api.call("addAttachment", 201, {"name": "log.txt", "content_base64": content}, id=ticket).json
    assert added["content_type"] == "text/plain" and added["size"] == 14
    api.call("addAttachment", 400, {"name": "log.exe", "content_base64": content}, id=ticket)
    assert api.call("listAttachments", 200, id=ticket).json["data"] == [added]
    identifier = added["attachment_id"]
    got = api.call("downloadAttachment", 200, id=ticket, attachment_id=identifier)
    assert got.body == b"It is broken.\n"
    assert got.headers["content-disposition"].startswith("attachment;")
    assert got.headers["x-content-type-options"] == "nosniff" and "sandbox" in got.headers["content-security-policy"]
    api.call("removeAttachment", 204, id=ticket, attachment_id=identifier)
    api.call("downloadAttachment", 404, id=ticket, attachment_id=identifier)


def test_results_are_kept(api):
    api.call("putCachedResult", 204, {"data": {"answer": 42}}, key="dear")
    assert api.call("getCachedResult", 200, key="dear").json == {"data": {"answer": 42}}
    api.call("getCachedResult", 404, key="cheap")


def described_limit(api, operation_id):
    parameters = api.operations[operation_id][2]["parameters"]
    return next(each for each in parameters if each["name"] == "limit")


def test_lists_have_the_page_sizes_that_are_stated(api, ticket):
    sizes = {
        "listTickets": None,
        "listEscalatedTickets": 50,
        "getTicketFeedback": 50,
        "listFeedback": 50,
        "listTicketEvents": 10,
        "listTicketEmails": 50,
    }
    assert {name: described_limit(api, name)["schema"].get("default") for name in sizes} == sizes
    words = json.dumps(described_limit(api, "listTickets"))
    assert "20 for a customer" in words and "100 otherwise" in words
    for _ in range(101):
        api.call("createTicket", 202, new_ticket("cust_paged"))
    assert len(api.call("listTickets", 200, query={"customer_id": "cust_paged"}).json["data"]) == 20
    assert len(api.call("listTickets", 200, query={"status": "NEW"}).json["data"]) == 100
    for number in range(51):
        api.call("addFeedback", 201, {"operator_id": "op_paged", "rating": 1 + number % 5}, id=ticket)
    assert len(api.call("getTicketFeedback", 200, id=ticket).json["data"]) == 50
    assert len(api.call("listFeedback", 200, query={"operator_id": "op_paged"}).json["data"]) == 50
    assert len(api.call("listTicketEvents", 200, id=ticket).json["data"]) == 10


def test_patterns_refuse_what_the_service_refuses(api, ticket):
    person = api.document["components"]["schemas"]["NewTicketEvent"]["properties"]["by"]
    for text, status in (("Ann Bär", 201), ("a\nb", 400), ("a\x85b", 400), ("a\x9bb", 400), ("a\u2028b", 400)):
        assert bool(re.search(person["pattern"], text)) == (status == 201), text
        api.call("addTicketEvent", status, {"event_type": "called", "by": text}, id=ticket)


def test_all_operations_about_tickets_have_succeeded(api):
    succeeded = {name for name, statuses in api.exercised.items() if min(statuses) < 300}
    assert succeeded == {name for name, (_, _, operation) in api.operations.items() if operation["tags"] == ["Tickets"]}
