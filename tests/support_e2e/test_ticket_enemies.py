"""More than a support desk expects: a day with a thousand events, three thousand feedbacks, attachments that lie."""

import base64
import datetime
import hashlib

import pytest
from store import dynamodb
from tickets import new_ticket, open_ticket

TABLE = "prod-tickets-unified"


def test_more_than_999_events_of_a_day(rest):
    ticket = open_ticket(rest)
    for number in range(1_050):
        answer = rest.post(f"/tickets/{ticket}/events", {"event_type": "tick", "details": {"number": number}})
        assert answer.status == 201, answer
    events = [each for page in rest.pages(f"/tickets/{ticket}/events", order="oldest", limit=100) for each in page]
    assert [each["details"].get("number") for each in events[1:]] == list(range(1_050))
    by_day = {}
    for each in events:  # midnight may come in between
        by_day.setdefault(each["date"], []).append(each["number"])
    for numbers in by_day.values():
        assert numbers == list(range(1, len(numbers) + 1)), "dense, and in their order"
    (latest,) = rest.fetch(f"/tickets/{ticket}/events", limit=1)["data"]
    assert latest["details"] == {"number": 1_049}


def test_a_ticket_with_three_thousand_feedbacks(desk, rest):
    ticket = open_ticket(rest)
    begin = datetime.datetime(2026, 1, 1)
    table = dynamodb(desk, "resource").Table(TABLE)
    with table.batch_writer() as batch:
        for number in range(3_000):
            at = (begin + datetime.timedelta(seconds=number)).isoformat()
            feedback = {"operator_id": f"op_{number % 7}", "submitted_at": at, "rating": number % 5 + 1}
            item = {"PK": f"TICKET#{ticket}", "SK": f"FEEDBACK#{at}", "entity_type": "feedback", "ticket_id": ticket}
            keys = {"GSI3PK": f"OPERATOR#{feedback['operator_id']}", "GSI3SK": at}
            batch.put_item(Item={**item, **feedback, **keys, "data": feedback})
    first = rest.fetch(f"/tickets/{ticket}/feedback", limit=100)
    assert first["ticket"]["ticket_id"] == ticket and len(first["data"]) == 100
    times = [each["submitted_at"] for page in rest.pages(f"/tickets/{ticket}/feedback", limit=100) for each in page]
    assert len(times) == 3_000 and times == sorted(times, reverse=True)
    assert len(rest.fetch("/tickets/feedback", operator_id="op_3", limit=100)["data"]) == 100
    assert rest.fetch(f"/tickets/{ticket}")["status"] == "NEW"


PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


@pytest.mark.parametrize(
    ("field", "upload"),
    [
        ("content_type", {"name": "photo.png", "bytes": b"not a picture", "content_type": "image/png"}),
        ("content_type", {"name": "notes.txt", "bytes": b"\x7fELF" + bytes(60)}),
        ("content_type", {"name": "notes.txt", "bytes": b"<!doctype html><script>alert(1)</script>"}),
        ("content_type", {"name": "photo.jpg", "bytes": PICTURE}),
        ("content_type", {"name": "script.txt", "bytes": b"#!/bin/sh\nrm -rf /\n"}),
        ("name", {"name": "photo.png.exe", "bytes": PICTURE}),
        ("name", {"name": "page.html", "bytes": b"hello"}),
        ("size", {"name": "photo.png", "bytes": PICTURE, "size": 3}),
        ("sha256", {"name": "photo.png", "bytes": PICTURE, "sha256": "0" * 64}),
        ("content_base64", {"name": "photo.png", "bytes": b""}),
    ],
)
def test_attachments_that_lie(rest, field, upload):
    ticket = open_ticket(rest)
    body = {name: value for name, value in upload.items() if name != "bytes"}
    body["content_base64"] = base64.b64encode(upload["bytes"]).decode()
    refused = rest.post(f"/tickets/{ticket}/attachments", body)
    assert refused.status == 400 and set(refused.broken_rules) == {field}, refused
    assert rest.fetch(f"/tickets/{ticket}/attachments")["data"] == []


def test_names_of_attachments_lead_nowhere(rest):
    ticket = open_ticket(rest)
    for name in ("../../etc/passwd.png", "a\u202egnp.exe.png", 'x"; filename="evil.png', "C:\\temp\\con.png"):
        body = {"name": name, "content_base64": base64.b64encode(PICTURE).decode(), "content_type": "image/png"}
        added = rest.post(f"/tickets/{ticket}/attachments", {**body, "sha256": hashlib.sha256(PICTURE).hexdigest()})
        assert added.status == 201, added
        got = rest.get(f"/tickets/{ticket}/attachments/{added.json['attachment_id']}")
        assert got.body == PICTURE and got.headers["content-type"] == "image/png"
        assert got.headers["content-disposition"].count('"') == 2, "no name ends the quotes"
        assert not set(added.json["name"]) & set('/\\"\u202e')


def test_attachments_are_bounded(start):
    rest = start("--attachment-mb", "1").rest()
    ticket = open_ticket(rest)
    text = base64.b64encode(b"a" * 1_000_000).decode()
    for _ in range(5):
        assert rest.post(f"/tickets/{ticket}/attachments", {"name": "a.txt", "content_base64": text}).status == 201
    refused = rest.post(f"/tickets/{ticket}/attachments", {"name": "a.txt", "content_base64": text})
    assert set(refused.broken_rules) == {"content_base64"}, refused
    large = base64.b64encode(b"a" * 1_100_000).decode()
    assert rest.post(f"/tickets/{ticket}/attachments", {"name": "a.txt", "content_base64": large}).status == 400


def test_ids_and_cursors_cannot_be_guessed(start):
    keys = ("boss:operator:boss-secret-0123456789", "c1:customer/c1:first-secret-0123456789")
    rest = start(*(word for key in keys for word in ("--api-key", key))).rest()
    boss, customer = (rest.with_key(key.rsplit(":", 1)[1]) for key in keys)
    foreign = open_ticket(boss, "c2")
    for _ in range(3):
        open_ticket(boss, "c1")
        open_ticket(boss, "c2")
    for path in ("", "/feedback", "/events", "/emails", "/attachments", "/attachments/none"):
        assert customer.get(f"/tickets/{foreign}{path}").status == 404
    for body, path in ((new_ticket("c2"), ""), ({"operator_id": "o", "rating": 1}, f"/{foreign}/feedback")):
        assert customer.post(f"/tickets{path}", body).status in (400, 404)
    cursor = boss.fetch("/tickets", limit=1)["cursor"]
    for changed in (cursor, cursor[:-2] + "AA", "", "x" * 5_000):
        seen = customer.get("/tickets", limit=1, cursor=changed)
        assert seen.status == 400 or all(each["customer"]["id"] == "c1" for each in seen.json["data"])
