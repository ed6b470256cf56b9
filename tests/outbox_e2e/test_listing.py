"""What can be seen of e-mails: one, many, and how many of each."""

import re
import uuid

import pytest

from payloads import RECIPIENT, SENDER, in_the_future, payload

STATES = {"ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT", "FAILED", "INVALID", "HELD", "CANCELLED"}
STATES |= {f"CALLING-{outcome}-CALLBACK" for outcome in ("SENT", "FAILED", "INVALID")}
STATES |= {f"{outcome}-ACKNOWLEDGED" for outcome in ("SENT", "FAILED", "INVALID")}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture(scope="module")
def emails(rest):
    """Twelve that stay, oldest first, each accepted in a moment of its own."""
    identifiers = []
    for number in range(12):
        identifiers.append(rest.accept_one(payload(send_at=in_the_future(), tags=[f"number-{number}"])))
        rest.await_status(identifiers[-1], "READY")
    return identifiers


def listed(rest, path="/emails", **query):
    return [email["id"] for page in rest.pages(path, **query) for email in page]


def test_email_shows_where_it_is_and_how_it_got_there(rest):
    identifier = rest.accept_one(payload(tags=["blue", "grün"]))
    email = rest.await_status(identifier, "SENT")
    history = email.pop("history")
    assert [line["status"] for line in history] == ["ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"]
    assert all(set(line) == {"status", "at", "reason"} and TIME.fullmatch(line["at"]) for line in history)
    assert [line["at"] for line in history] == sorted(line["at"] for line in history)
    assert email["version"] == len(history)
    assert (email["created_at"], email["updated_at"]) == (history[0]["at"], history[-1]["at"])
    assert email["reason"] == history[-1]["reason"]
    assert (email["id"], email["from"], email["attempts"]) == (identifier, SENDER, 1)
    assert email["tags"] == ["blue", "grün"]
    (recipient,) = email["recipients"]
    assert (recipient["address"], recipient["status"]) == (RECIPIENT, "sent")
    always = {"id", "status", "reason", "version", "created_at", "updated_at", "attempts", "from", "subject"}
    always |= {"recipients", "tags"}
    assert set(email) == always | {"payload_path", "message_path"}, "what has no value is left out"
    year, month = email["created_at"][:4], email["created_at"][5:7]
    assert re.search(rf"(^|/){year}/{month}/{identifier}[^/]*\.json$", email["payload_path"])


def test_email_in_the_list_is_the_same_without_its_history(rest, emails):
    shown = rest.email(emails[-1])
    (found,) = [email for page in rest.pages("/emails") for email in page if email["id"] == emails[-1]]
    del shown["history"]
    assert found == shown


def test_unknown_email_is_404(rest):
    for path in ("", "/message", "/payload"):
        answer = rest.get(f"/emails/{uuid.uuid4()}{path}")
        assert answer.status == 404 and answer.problem


def test_message_is_404_until_it_is_built(start, directory):
    rest = start("--attachments", directory).rest()
    identifier = rest.accept_one(payload(attachments=["missing"]))
    rest.await_status(identifier, "INVALID")
    assert rest.get(f"/emails/{identifier}/message").status == 404
    assert rest.get(f"/emails/{identifier}/payload").status == 200


def test_newest_come_first(rest, emails):
    assert [each for each in listed(rest) if each in emails] == emails[::-1]


@pytest.mark.parametrize("limit", [1, 5, 7, 100])
def test_pages_have_each_email_once(rest, emails, limit):
    pages = list(rest.pages("/emails", status="READY", limit=limit))
    assert [email["id"] for page in pages for email in page] == emails[::-1]
    assert all(len(page) <= limit for page in pages)


def test_new_emails_do_not_disturb_a_page_that_was_begun(rest, emails):
    first = rest.fetch("/emails", status="READY", limit=5)
    newer = rest.accept_one(payload(send_at=in_the_future()))
    rest.await_status(newer, "READY")
    second = rest.fetch("/emails", status="READY", limit=5, cursor=first["cursor"])
    rest.post(f"/emails/{newer}/cancel")
    seen = [email["id"] for page in (first, second) for email in page["data"]]
    assert seen == emails[::-1][:10]


def test_filter_by_status(rest, emails):
    held = emails[3]
    assert rest.post(f"/emails/{held}/hold").status == 204
    assert listed(rest, status="HELD") == [held]
    assert held not in listed(rest, status="READY")
    assert rest.post(f"/emails/{held}/release").status == 204
    rest.await_status(held, "READY")


def test_filter_by_time_of_acceptance(rest, emails):
    times = [rest.email(identifier)["created_at"] for identifier in emails]
    chosen = emails[4:8][::-1]
    assert listed(rest, status="READY", since=times[4], until=times[8]) == chosen, "since is inclusive, until is not"
    assert listed(rest, status="READY", **{"from": times[4], "to": times[8]}) == chosen, "their former names"
    assert listed(rest, status="READY", since=times[11]) == [emails[11]]


@pytest.mark.parametrize(
    "query, field",
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"status": "LOST"}, "status"),
        ({"status": "ready"}, "status"),
        ({"from": "yesterday"}, "from"),
        ({"to": "2026-13-01T00:00:00Z"}, "to"),
        ({"since": "yesterday"}, "since"),
        ({"tag": ""}, "tag"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"statsu": "READY"}, "statsu"),
    ],
)
def test_malformed_query_is_400(rest, query, field):
    answer = rest.get("/emails", **query)
    assert answer.status == 400 and list(answer.broken_rules) == [field]


def test_cursor_of_another_list_is_refused_or_harmless(rest, emails):
    cursor = rest.fetch("/emails", status="READY", limit=1)["cursor"]
    answer = rest.get("/suppressions", cursor=cursor)
    assert answer.status in (200, 400)


def test_counts_have_every_state(rest, emails):
    answer = rest.fetch("/emails/counts")
    assert set(answer["counts"]) == STATES
    assert answer["total"] == sum(answer["counts"].values())
    for state, count in answer["counts"].items():
        assert count == len(listed(rest, status=state)), state


def test_invalid_emails_are_listed(rest):
    identifier = rest.accept_one(payload(attachments=["missing.pdf"]))
    email = rest.await_status(identifier, "INVALID")
    assert "missing.pdf" in email["reason"]
    assert rest.states(identifier) == ["ACCEPTED", "INTAKING", "INVALID"]
    assert identifier in listed(rest, "/invalid-emails")
    assert listed(rest, "/invalid-emails") == listed(rest, status="INVALID")


def test_nothing_is_stale_while_workers_live(rest, emails):
    assert rest.fetch("/stale-emails", limit=10) == {"data": []}
    assert rest.get("/stale-emails", limit=0).status == 400
