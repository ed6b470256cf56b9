"""Several relays, and several recipients: what one refuses another may take."""

import pytest

from payloads import payload
from recording_smtp import RecordingSmtp
from waiting import free_port

ADA, BOB, CAROL = (f"{name}@customer.example" for name in ("ada", "bob", "carol"))
NO_SUCH_USER = "550 5.1.1 no such user"
BUSY = "450 4.2.1 mailbox busy"


@pytest.fixture
def second():
    with RecordingSmtp() as server:
        yield server


def states_of(email):
    return {each["address"]: each["status"] for each in email["recipients"]}


def test_next_relay_takes_over_from_a_dead_one(start, recorder):
    rest = start("--smtp", f"127.0.0.1:{free_port()}", "--smtp", recorder.address).rest()
    identifiers = rest.accept(payload(), payload(), payload())
    for identifier in identifiers:
        email = rest.await_status(identifier, "SENT")
        assert email["attempts"] == 1, "that is one attempt, not two"
    assert sorted(mail.id for mail in recorder.await_mail(3)) == sorted(identifiers)


@pytest.mark.parametrize("reply", ["421 4.3.2 closing", "554 5.3.2 no mail from you"])
def test_next_relay_takes_over_from_one_that_refuses_to_talk(start, recorder, second, reply):
    recorder.replies["CONNECT"] = reply
    rest = start("--smtp", recorder.address, "--smtp", second.address).rest()
    assert rest.await_status(rest.accept_one(payload()), "SENT")["attempts"] == 1
    assert len(second.await_mail()) == 1 and recorder.arrived == []


def test_a_silent_relay_keeps_one_email_and_the_others_go_on(start, recorder, second, hanging):
    gate = hanging(recorder, "CONNECT")
    rest = start("--smtp", recorder.address, "--smtp", second.address).rest()
    identifiers = rest.accept(*[payload() for _ in range(10)])
    second.await_mail(9)
    gate.set()
    for identifier in identifiers:
        assert rest.await_status(identifier, "SENT")["attempts"] == 1


def test_first_relay_gets_everything_while_it_works(start, recorder, second):
    rest = start("--smtp", recorder.address, "--smtp", second.address).rest()
    for identifier in rest.accept(*[payload() for _ in range(10)]):
        rest.await_status(identifier, "SENT")
    assert len(recorder.await_mail(10)) == 10 and second.arrived == []


def test_refusal_of_a_message_is_not_taken_to_another_relay(start, recorder, second):
    recorder.replies["."] = "554 5.7.1 looks like spam"
    rest = start("--smtp", recorder.address, "--smtp", second.address).rest()
    email = rest.await_outcome(rest.accept_one(payload()))
    assert (email["status"], email["reason"]) == ("FAILED", "554 5.7.1 looks like spam")
    assert second.arrived == []


def test_unknown_outcome_is_not_taken_to_another_relay_in_the_same_attempt(start, recorder, second):
    recorder.disconnect_at = {"."}
    rest = start("--smtp", recorder.address, "--smtp", second.address, "--unknown-outcome", "hold").rest()
    assert rest.await_outcome(rest.accept_one(payload()))["status"] == "HELD"
    assert len(recorder.arrived) == 1 and second.arrived == []


def test_each_recipient_has_its_own_fate(start, recorder):
    recorder.refusals = {BOB: NO_SUCH_USER, CAROL: BUSY}
    rest = start("--smtp", recorder.address, "--retry-first", "1s", "--retry-longest", "1s").rest()
    identifier = rest.accept_one(payload(to=[ADA, BOB, CAROL]))
    email = rest.await_email(identifier, lambda it: it["status"] == "READY" and it["attempts"] >= 1, "an attempt")
    assert states_of(email) == {ADA: "sent", BOB: "refused", CAROL: "pending"}
    assert email["recipients"][1]["reply"] == NO_SUCH_USER
    recorder.refusals = {BOB: NO_SUCH_USER}
    email = rest.await_status(identifier, "SENT")
    assert states_of(email) == {ADA: "sent", BOB: "refused", CAROL: "sent"}
    assert "2 of 3" in email["reason"] and NO_SUCH_USER in email["reason"]
    assert [mail.recipients for mail in recorder.await_mail(2)] == [[ADA], [CAROL]], "nobody gets it twice"


def test_refused_by_all_is_a_failure(start, recorder):
    recorder.refusals = {ADA: NO_SUCH_USER, BOB: NO_SUCH_USER}
    rest = start("--smtp", recorder.address).rest()
    email = rest.await_outcome(rest.accept_one(payload(to=ADA, bcc=BOB)))
    assert (email["status"], email["reason"]) == ("FAILED", NO_SUCH_USER)
    assert states_of(email) == {ADA: "refused", BOB: "refused"}
    assert recorder.arrived == []


def test_one_address_named_twice_gets_one_copy(start, recorder):
    rest = start("--smtp", recorder.address).rest()
    rest.await_status(rest.accept_one(payload(to=[ADA], cc=[ADA], bcc=[ADA, BOB])), "SENT")
    assert [mail.recipients for mail in recorder.await_mail()] == [[ADA, BOB]]


def test_refused_recipients_can_be_requeued_without_the_others(start, recorder):
    recorder.refusals = {ADA: NO_SUCH_USER}
    rest = start("--smtp", recorder.address).rest()
    identifier = rest.accept_one(payload(to=ADA))
    rest.await_status(identifier, "FAILED")
    recorder.refusals = {}
    assert rest.post(f"/emails/{identifier}/requeue", {"reason": "the mailbox exists now"}).status == 204
    email = rest.await_status(identifier, "SENT")
    assert states_of(email) == {ADA: "sent"}
    assert ("READY", "the mailbox exists now") in rest.history(identifier)
