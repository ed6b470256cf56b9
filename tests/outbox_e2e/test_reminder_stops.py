"""Customers who get no reminders any more: what was approved before does not go out, whichever process has ended in between."""

import urllib.request

from store import dynamodb
from test_reminders import FROM, add_customer, approve, await_delivery, draft
from waiting import PATIENCE_SECONDS, eventually

FLAGS = ("--retry-first", "100ms", "--retry-longest", "200ms", *FROM)


def approve_until_it_waits(rest, customer="cust_001"):
    """With the outbox in another database the e-mail follows after the approval."""
    sent = approve(rest, draft(rest, customer)["id"]).json
    eventually(lambda: rest.get(f"/emails/{sent['email_id']}").status == 200, "the e-mail in the outbox")
    return sent


def test_what_waits_does_not_go_out_after_a_stop_that_was_not_followed_up(start, recorder):
    """A server that ends between an opt-out and what follows from it leaves the opt-out alone, and an e-mail that waits."""
    recorder.replies["CONNECT"] = "421 4.3.2 not now"
    server = start("--smtp", recorder.address, "--lease", "1s", *FLAGS)
    rest = server.rest()
    add_customer(rest)
    add_customer(rest, "cust_002", "grace@customer.example")
    sent = approve_until_it_waits(rest)
    dynamodb(server, "resource").Table("EmailTrackingTable").update_item(
        Key={"PK": "CUSTOMER#cust_001", "SK": "PROFILE"},
        UpdateExpression="SET opt_out = :yes ADD version :one",
        ExpressionAttributeValues={":yes": True, ":one": 1},
    )
    server.kill()
    recorder.replies.clear()
    rest = start("--smtp", recorder.address, "--lease", "1s", *FLAGS).rest()
    # Of one that a worker had when the server ended it is not known whether it has gone out.
    stopped = await_delivery(rest, sent["id"], "cancelled", "unknown", "sent")
    assert stopped["delivery_status"] != "sent"
    assert stopped["failure"].startswith("the customer has opted out of reminders")
    assert rest.email(sent["email_id"])["status"] == "CANCELLED"
    # Nothing came before this one.
    other = approve(rest, draft(rest, "cust_002")["id"]).json
    await_delivery(rest, other["id"], "sent", customer="cust_002")
    assert [mail.id for mail in recorder.arrived] == [other["email_id"]]


def test_an_opt_out_tells_what_is_being_sent_and_cancels_what_waits(start, recorder):
    recorder.replies["CONNECT"] = "421 4.3.2 not now"
    rest = start("--smtp", recorder.address, "--retry-first", "1h", *FROM).rest()
    add_customer(rest)
    sent = approve_until_it_waits(rest)
    rest.await_email(sent["email_id"], lambda email: email["status"] == "READY" and email["attempts"] == 1, "an attempt")
    answer = rest.post("/reminders/customers/cust_001/opt-out", {"reason": "asked by phone"}).json
    assert answer["cancelled_reminders"] == [sent["id"]], answer
    assert answer["reminders_being_sent"] == answer["reminders_not_cancelled"] == answer["reminders_perhaps_sent"] == []
    assert answer["opted_out_reason"] == "asked by phone"
    assert rest.fetch("/reminders/customers/cust_001/history")["data"][0]["status"] == "failed"


def test_a_customer_whose_record_was_spoilt_can_opt_out(start, recorder):
    recorder.replies["CONNECT"] = "421 4.3.2 not now"
    server = start("--smtp", recorder.address, *FLAGS)
    rest = server.rest()
    add_customer(rest)
    sent = approve_until_it_waits(rest)
    dynamodb(server, "resource").Table("EmailTrackingTable").update_item(
        Key={"PK": "CUSTOMER#cust_001", "SK": "PROFILE"},
        UpdateExpression="SET opt_out = :perhaps, version = :largest",
        ExpressionAttributeValues={":perhaps": "perhaps", ":largest": 2**63 - 1},
    )
    recorder.replies.clear()
    # It is not known whether the customer may get it, so it waits, and operators are told.
    waits = rest.await_email(sent["email_id"], lambda email: "it is not known now" in email.get("reason", ""), "a pause")
    assert waits["status"] in ("READY", "PROCESSING")
    with urllib.request.urlopen(server.url + "/metrics", timeout=PATIENCE_SECONDS) as answer:
        metrics = answer.read().decode()
    (troubles,) = [line for line in metrics.splitlines() if line.startswith('postino_reminders_troubles_total{work="recall"}')]
    assert int(troubles.split()[-1]) > 0
    answer = rest.post("/reminders/customers/cust_001/opt-out", {"reason": "asked by phone"})
    assert answer.status == 200 and answer.json["cancelled_reminders"] == [sent["id"]], answer
    assert rest.fetch("/reminders/customers/cust_001")["customer_email"] == "ada@customer.example"
    assert recorder.arrived == []


def test_an_opt_out_outlives_the_record(start):
    """Another program removes or overwrites the customer, and goes on drafting."""
    server = start(*FROM)
    rest = server.rest()
    add_customer(rest)
    made = draft(rest)["id"]
    assert rest.post("/reminders/customers/cust_001/opt-out", {"reason": "asked by phone"}).status == 200
    table = dynamodb(server, "resource").Table("EmailTrackingTable")
    key = {"PK": "CUSTOMER#cust_001", "SK": "PROFILE"}
    own = {"customer_id": "cust_001", "customer_name": "Ada", "customer_email": "ada@customer.example", "version": 1}
    for spoil in (
        lambda: table.delete_item(Key=key),
        lambda: table.put_item(Item={**key, **own}),
        lambda: table.put_item(Item={**key, **own, "opt_out": False}),
    ):
        spoil()
        assert approve(rest, made).problem["code"] == "REMINDERS_STOPPED"
        add_customer(rest)
        customer = rest.fetch("/reminders/customers/cust_001")
        assert customer["opted_out"] and customer["stopped"], customer
    (listed,) = rest.fetch("/reminders/customers")["data"]
    assert listed["opted_out"]
    assert rest.post("/reminders/customers/cust_001/opt-in").status == 200
    assert approve(rest, made).status == 200
