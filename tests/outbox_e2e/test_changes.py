"""What people do to the course of an e-mail: cancel, hold, release, requeue, and send later."""

import uuid
from datetime import datetime

import pytest

from payloads import in_the_future, payload
from waiting import eventually


def change(rest, identifier, what, reason=None):
    return rest.post(f"/emails/{identifier}/{what}", {"reason": reason} if reason else None)


@pytest.fixture
def ready(rest):
    identifier = rest.accept_one(payload(send_at=in_the_future()))
    rest.await_status(identifier, "READY")
    return identifier


@pytest.fixture
def sent(rest):
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "SENT")
    return identifier


def in_mailbox(rest, identifier):
    return rest.get(f"/mailbox/{identifier}").status == 200


def test_cancelled_is_never_sent(rest, ready):
    assert change(rest, ready, "cancel", "not wanted any more").status == 204
    email = rest.email(ready)
    assert (email["status"], email["reason"]) == ("CANCELLED", "not wanted any more")
    assert rest.history(ready)[-1] == ("CANCELLED", "not wanted any more")
    assert "next_attempt_at" not in email
    for other in ("cancel", "hold", "release", "requeue"):
        assert change(rest, ready, other).status == 409


def test_held_waits_until_it_is_released(rest, ready):
    assert change(rest, ready, "hold", "let me see").status == 204
    email = rest.email(ready)
    assert (email["status"], email["reason"], email["held_from"]) == ("HELD", "let me see", "READY")
    assert change(rest, ready, "hold").status == 409
    assert change(rest, ready, "release", "looks fine").status == 204
    email = rest.email(ready)
    assert (email["status"], email["reason"]) == ("READY", "looks fine") and "held_from" not in email
    assert rest.states(ready)[-3:] == ["READY", "HELD", "READY"]
    assert datetime.fromisoformat(email["next_attempt_at"]) == datetime.fromisoformat(email["send_at"])


def test_held_can_be_cancelled(rest, ready):
    assert change(rest, ready, "hold").status == 204
    assert change(rest, ready, "cancel").status == 204
    assert rest.email(ready)["status"] == "CANCELLED"


def test_held_beyond_its_time_is_sent_when_released(rest):
    for seconds in (2, 10, 60):  # on a busy machine its time may come before it can be held
        identifier = rest.accept_one(payload(send_at=in_the_future(seconds=seconds)))
        if change(rest, identifier, "hold").status == 204:
            break
    due = datetime.fromisoformat(rest.email(identifier)["send_at"])
    eventually(lambda: datetime.now(due.tzinfo) > due, "its time")
    assert rest.email(identifier)["status"] == "HELD" and not in_mailbox(rest, identifier)
    assert change(rest, identifier, "release").status == 204
    rest.await_status(identifier, "SENT")


def test_sent_is_out_of_reach(rest, sent):
    for what in ("cancel", "hold", "release", "requeue"):
        answer = change(rest, sent, what)
        assert answer.status == 409 and "SENT" in answer.problem["detail"], what
    assert rest.email(sent)["status"] == "SENT"


def test_invalid_is_taken_in_again_when_requeued(outbox, rest):
    identifier = rest.accept_one(payload(attachments=["late.txt"]))
    rest.await_status(identifier, "INVALID")
    (outbox.files / "late.txt").write_text("here I am")
    assert change(rest, identifier, "requeue", "the file is there now").status == 204
    rest.await_status(identifier, "SENT")
    history = rest.history(identifier)
    assert [status for status, _ in history[:4]] == ["ACCEPTED", "INTAKING", "INVALID", "ACCEPTED"]
    assert history[3] == ("ACCEPTED", "the file is there now")
    assert [status for status, _ in history].count("INTAKING") == 2, "history is added to, never overwritten"


def test_failed_is_sent_when_requeued(rest):
    address = f"{uuid.uuid4().hex}@customer.example"
    assert rest.put(f"/suppressions/{address}").status == 204
    identifier = rest.accept_one(payload(to=address))
    rest.await_status(identifier, "FAILED")
    assert rest.delete(f"/suppressions/{address}").status == 204
    assert change(rest, identifier, "requeue").status == 204
    email = rest.await_status(identifier, "SENT")
    assert email["recipients"][0]["status"] == "sent" and email["attempts"] == 1


@pytest.mark.parametrize("what", ["cancel", "hold", "release", "requeue"])
def test_unknown_email_is_404(rest, what):
    answer = change(rest, uuid.uuid4(), what)
    assert answer.status == 404 and answer.problem


@pytest.mark.parametrize("what", ["cancel", "hold", "release", "requeue"])
def test_malformed_reason_is_400(rest, ready, what):
    for body in ({"reason": 7}, {"reason": "a\r\nb"}, {"why": "x"}, {"reason": "x" * 100_000}, ["reason"]):
        answer = rest.post(f"/emails/{ready}/{what}", body)
        assert answer.status == 400 and answer.problem, body
    assert rest.email(ready)["status"] == "READY"


def test_scheduled_email_waits_for_its_time(rest):
    far, near = rest.accept(payload(send_at=in_the_future(hours=1)), payload(send_at=in_the_future(seconds=2)))
    email = rest.await_status(far, "READY")
    assert datetime.fromisoformat(email["next_attempt_at"]) == datetime.fromisoformat(email["send_at"])
    sent = rest.await_status(near, "SENT")
    (began,) = [line["at"] for line in sent["history"] if line["status"] == "PROCESSING"]
    due = datetime.fromisoformat(sent["send_at"])
    assert datetime.fromisoformat(began) >= due
    assert rest.email(far)["status"] == "READY" and not in_mailbox(rest, far)


def test_time_that_has_passed_means_now(rest):
    identifier = rest.accept_one(payload(send_at="2020-01-01T00:00:00Z"))
    rest.await_status(identifier, "SENT")


def test_times_may_have_an_offset(rest):
    identifier = rest.accept_one(payload(send_at="2027-01-01T00:30:00+01:00"))
    assert rest.email(identifier)["send_at"] == "2026-12-31T23:30:00.000Z"
    change(rest, identifier, "cancel")


def test_schedule_survives_a_restart(start):
    server = start()
    identifier = server.rest().accept_one(payload(send_at=in_the_future(seconds=5)))
    server.kill()
    rest = start().rest()
    sent = rest.await_status(identifier, "SENT")
    assert sent["updated_at"] >= sent["send_at"]
