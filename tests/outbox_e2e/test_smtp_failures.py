"""What a relay does wrong, and what becomes of the e-mail: temporary trouble is tried again, a refusal is final, and
nothing is lost or sent twice where that can be known."""

from datetime import datetime, timedelta

import pytest

from payloads import payload
from smtp_sink import STAGES
from waiting import eventually, free_port

SOFT_REPLY = "450 4.3.0 Error: command failed"
HARD_REPLY = "500 5.3.0 Error: command failed"
ABOUT_THE_MESSAGE = ["MAIL", "RCPT", "DATA", "."]
RETRY = ["--retry-first", "1s", "--retry-longest", "1s"]


def commands(stage):
    """A client that gets no EHLO may try HELO."""
    return "EHLO,HELO" if stage == "EHLO" else stage


def await_retry(rest, identifier):
    """The e-mail after an attempt that failed for now."""
    email = rest.await_email(
        identifier, lambda it: it["status"] == "READY" and it["attempts"] >= 1, "a failed attempt"
    )
    updated, due = (datetime.fromisoformat(email[name]) for name in ("updated_at", "next_attempt_at"))
    assert timedelta(0) < due - updated <= timedelta(seconds=1), "it waits, and not longer than it was told to"
    assert email["reason"], "it says what happened"
    return email


def assert_delivered_later(rest, identifier, relay):
    """Sent by a later attempt, once, and the history has them all."""
    email = rest.await_status(identifier, "SENT")
    assert email["attempts"] >= 2
    states = rest.states(identifier)
    assert states[:4] == ["ACCEPTED", "INTAKING", "READY", "PROCESSING"]
    assert states[3:] == ["PROCESSING", *["READY", "PROCESSING"] * (email["attempts"] - 1), "SENT"]
    (mail,) = relay.await_mail()
    assert mail.id == identifier
    assert "next_attempt_at" not in email


def await_recovery(rest, identifier, failing, sink):
    failing.stop()
    assert_delivered_later(rest, identifier, sink(port=failing.port))


@pytest.mark.parametrize("stage", STAGES)
def test_soft_refusal_is_tried_again(start, sink, stage):
    failing = sink("-r", commands(stage))
    rest = start("--smtp", failing.address, *RETRY).rest()
    identifier = rest.accept_one(payload())
    assert SOFT_REPLY in await_retry(rest, identifier)["reason"]
    await_recovery(rest, identifier, failing, sink)


@pytest.mark.parametrize("stage", STAGES)
def test_service_not_available_is_tried_again(start, sink, stage):
    failing = sink("-Q", commands(stage))
    rest = start("--smtp", failing.address, *RETRY).rest()
    identifier = rest.accept_one(payload())
    email = await_retry(rest, identifier)
    assert "421" in email["reason"] and "outcome unknown" not in email["reason"]
    await_recovery(rest, identifier, failing, sink)


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "."])
def test_broken_connection_before_the_end_is_tried_again(start, sink, stage):
    failing = sink("-q", commands(stage))
    rest = start("--smtp", failing.address, *RETRY).rest()
    identifier = rest.accept_one(payload())
    assert "outcome unknown" not in await_retry(rest, identifier)["reason"]
    await_recovery(rest, identifier, failing, sink)


def test_nobody_listening_is_tried_again(start, sink):
    port = free_port()
    rest = start("--smtp", f"127.0.0.1:{port}", *RETRY).rest()
    identifier = rest.accept_one(payload())
    await_retry(rest, identifier)
    assert_delivered_later(rest, identifier, sink(port=port))


@pytest.mark.parametrize("stage", ABOUT_THE_MESSAGE)
def test_hard_refusal_of_a_message_is_final(start, sink, stage):
    relay = sink("-f", stage)
    rest = start("--smtp", relay.address, *RETRY).rest()
    identifier = rest.accept_one(payload())
    email = rest.await_outcome(identifier)
    assert (email["status"], email["reason"], email["attempts"]) == ("FAILED", HARD_REPLY, 1)
    assert rest.history(identifier)[-1] == ("FAILED", HARD_REPLY)
    assert email["recipients"] == [{"address": "ada@customer.example", "status": "refused", "reply": HARD_REPLY}]
    if stage != ".":  # what was refused then has been seen all the same
        assert relay.received() == []


@pytest.mark.parametrize("stage", ["CONNECT", "EHLO"])
def test_hard_refusal_before_any_message_is_not_the_fault_of_one(start, sink, stage):
    failing = sink("-f", commands(stage))
    rest = start("--smtp", failing.address, *RETRY).rest()
    identifier = rest.accept_one(payload())
    assert HARD_REPLY in await_retry(rest, identifier)["reason"]
    await_recovery(rest, identifier, failing, sink)


def test_failure_at_quit_changes_nothing(start, sink):
    relay = sink("-q", "QUIT")
    server = start("--smtp", relay.address)
    rest = server.rest()
    identifier = rest.accept_one(payload())
    assert rest.await_outcome(identifier)["status"] == "SENT"
    assert server.stop() == 0
    assert [mail.id for mail in relay.received()] == [identifier]


def test_unknown_outcome_is_sent_again(start, recorder):
    recorder.disconnect_at = {"."}
    rest = start("--smtp", recorder.address, *RETRY).rest()
    identifier = rest.accept_one(payload())
    assert await_retry(rest, identifier)["reason"].startswith("outcome unknown")
    recorder.disconnect_at = set()
    email = rest.await_status(identifier, "SENT")
    assert "outcome_unknown" not in email
    history = rest.history(identifier)
    unknown = [reason for status, reason in history if status == "READY" and "outcome unknown" in reason]
    assert len(recorder.arrived) == 1 + len(unknown)
    assert len(recorder.await_mail()) == 1
    assert len({mail.message["Message-ID"] for mail in recorder.arrived}) == 1, "whoever gets it twice can tell"
    assert len({mail.content for mail in recorder.arrived}) == 1


def test_unknown_outcome_can_wait_for_a_person(start, recorder):
    recorder.disconnect_at = {"."}
    rest = start("--smtp", recorder.address, "--unknown-outcome", "hold", *RETRY).rest()
    identifier = rest.accept_one(payload())
    email = rest.await_outcome(identifier)
    assert (email["status"], email["outcome_unknown"], email["held_from"]) == ("HELD", True, "READY")
    assert email["reason"].startswith("outcome unknown")
    assert len(recorder.arrived) == 1
    recorder.disconnect_at = set()
    assert rest.post(f"/emails/{identifier}/release").status == 204
    assert "outcome_unknown" not in rest.await_status(identifier, "SENT")
    assert len(recorder.arrived) == 2


def test_slow_relay_is_waited_for(start, recorder, hanging):
    for stage in STAGES:
        hanging(recorder, stage)
    rest = start("--smtp", recorder.address).rest()
    identifier = rest.accept_one(payload())
    for stage in STAGES:
        eventually(lambda: stage in recorder.reached, f"the wait for the reply to {stage}")
        recorder.gates[stage].set()
    email = rest.await_status(identifier, "SENT")
    assert email["attempts"] == 1


@pytest.mark.parametrize("stage", ["CONNECT", "EHLO", "MAIL", "DATA"])
def test_silent_relay_is_given_up_for_now(start, recorder, hanging, stage):
    hanging(recorder, stage)
    rest = start("--smtp", recorder.address, "--smtp-timeout", "300ms", *RETRY).rest()
    identifier = rest.accept_one(payload())
    await_retry(rest, identifier)
    recorder.gates[stage].set()
    rest.await_status(identifier, "SENT")
    assert len(recorder.await_mail()) == 1


def test_attempts_are_counted_and_come_to_an_end(start, sink):
    relay = sink("-r", "MAIL")
    rest = start("--smtp", relay.address, "--retry-first", "50ms", "--max-attempts", "3").rest()
    identifier = rest.accept_one(payload())
    email = rest.await_outcome(identifier)
    assert (email["status"], email["attempts"]) == ("FAILED", 3)
    assert SOFT_REPLY in email["reason"]
    assert rest.states(identifier).count("PROCESSING") == 3


def test_time_for_attempts_comes_to_an_end(start, sink):
    relay = sink("-r", "RCPT")
    rest = start("--smtp", relay.address, "--retry-first", "500ms", "--retry-longest", "500ms", "--give-up-after", "5s")
    email = (rest := rest.rest()).await_outcome(rest.accept_one(payload()))
    assert email["status"] == "FAILED" and SOFT_REPLY in email["reason"]
    took = datetime.fromisoformat(email["updated_at"]) - datetime.fromisoformat(email["created_at"])
    assert took >= timedelta(seconds=5) and email["attempts"] >= 2


def test_delays_between_attempts_grow(start, sink):
    relay = sink("-r", "MAIL")
    rest = start("--smtp", relay.address, "--retry-first", "100ms", "--max-attempts", "5").rest()
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "FAILED")
    lines = rest.email(identifier)["history"]
    at = [datetime.fromisoformat(line["at"]) for line in lines if line["status"] == "PROCESSING"]
    pauses = [(later - earlier) / timedelta(milliseconds=1) for earlier, later in zip(at, at[1:])]
    # Each is at least half of what doubling gives, the other half being chance.
    assert all(pause >= 50 * 2**number for number, pause in enumerate(pauses)), pauses
