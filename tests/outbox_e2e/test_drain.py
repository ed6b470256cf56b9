"""A server that is asked to end finishes what it has begun."""

import json
import socket
import threading

from callback_server import CallbackServer
from payloads import elsewhere, payload
from waiting import eventually

WORKING = {"INTAKING", "PROCESSING"} | {f"CALLING-{outcome}-CALLBACK" for outcome in ("SENT", "FAILED", "INVALID")}


def connects(address):
    try:
        socket.create_connection(address).close()
    except ConnectionRefusedError:
        return False
    return True


def test_messages_on_their_way_are_finished(start, recorder, hanging, binary, directory, ledger):
    gate = hanging(recorder, ".")
    server = start("--smtp", recorder.address, "--smtp-connections", "4")
    rest = server.rest()
    identifiers = rest.accept(*[payload(to=elsewhere(number)) for number in range(40)])
    eventually(lambda: len(recorder.arrived) == 4, "four messages that wait for their reply")
    server.ask_to_end()
    gate.set()
    assert server.await_end() == 0

    states = ledger.states(binary, directory / "data")
    assert set(states) == set(identifiers)
    assert not WORKING & set(states.values()), "nothing is stuck"
    sent = {identifier for identifier, state in states.items() if state == "SENT"}
    assert sent == {mail.id for mail in recorder.acknowledged}, "each reply was heard and written down"
    assert len(sent) >= 4

    rest = start("--smtp", recorder.address).rest()
    for identifier in identifiers:
        email = rest.await_status(identifier, "SENT")
        assert not [line for line in email["history"] if "rescued" in line["reason"] or "unknown" in line["reason"]]
    assert sorted(mail.id for mail in recorder.await_mail(40)) == sorted(identifiers), "each arrived exactly once"


def test_callbacks_on_their_way_are_finished(start, binary, directory, ledger):
    with CallbackServer() as listener:
        listener.gate.clear()
        server = start("--callback-allow-private", "--callback-workers", "4")
        identifiers = server.rest().accept(*[payload(callback_url=listener.url) for _ in range(6)])
        listener.await_calls(3)  # one receiver gets three of four workers
        server.ask_to_end()
        listener.gate.set()
        assert server.await_end() == 0
        told = {call.json["message_ids"][0] for call in listener.calls}
    states = ledger.states(binary, directory / "data")
    assert not WORKING & set(states.values())
    acknowledged = {identifier for identifier, state in states.items() if state == "SENT-ACKNOWLEDGED"}
    assert acknowledged == told and acknowledged <= set(identifiers)


def test_requests_are_answered_until_the_end(start, binary, directory, ledger):
    """Whatever was answered with 201 is there; whatever is there went through."""
    server = start()
    accepted, stop = [], threading.Event()

    def submit():
        rest = server.rest()
        while not stop.is_set():
            try:
                accepted.append(rest.accept_one(payload()))
            except (OSError, AssertionError, ValueError):
                return

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(accepted) > 50, "some e-mails")
    assert server.stop() == 0
    stop.set()
    for thread in threads:
        thread.join()
    states = ledger.states(binary, directory / "data")
    assert set(accepted) <= set(states)
    assert not WORKING & set(states.values())


def test_no_api_takes_connections_while_another_finishes_its_requests(start):
    server = start("--shutdown-grace", "10m")
    body = json.dumps({"data": [payload()]}).encode()
    with socket.create_connection(server.addresses["REST"][1:]) as client:
        client.sendall(b"POST /emails HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        client.sendall(b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        server.ask_to_end()
        eventually(lambda: not connects(server.addresses["REST"][1:]), "the end of connections to the REST API")
        eventually(lambda: not connects(server.addresses["DynamoDB"][1:]), "the end of connections to DynamoDB's API")
        client.sendall(body)
        assert client.recv(1000).startswith(b"HTTP/1.1 201 ")
    assert server.await_end() == 0


def test_nothing_is_begun_while_a_request_keeps_the_server_from_ending(start, recorder, hanging, binary, directory, ledger):
    gate = hanging(recorder, ".")
    server = start("--smtp", recorder.address, "--smtp-connections", "4", "--shutdown-grace", "4")
    rest = server.rest()
    identifiers = rest.accept(*[payload(to=elsewhere(number)) for number in range(40)])
    eventually(lambda: len(recorder.arrived) == 4, "four messages that wait for their reply")
    with socket.create_connection(server.addresses["REST"][1:]) as client:
        client.sendall(b"POST /emails HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n")
        server.ask_to_end()
        eventually(lambda: not connects(server.addresses["REST"][1:]), "the API takes no more connections")
        gate.set()
        assert server.await_end() == 0
    assert len(recorder.acknowledged) == 4, "the workers claimed no more"

    rest = start("--smtp", recorder.address, "--max-attempts", "1").rest()
    for identifier in identifiers:
        rest.await_status(identifier, "SENT")
    assert sorted(mail.id for mail in recorder.await_mail(40)) == sorted(identifiers), "each arrived exactly once"


def test_relay_that_never_answers_does_not_keep_the_server_for_ever(start, recorder, hanging):
    gate = hanging(recorder, "MAIL")
    server = start("--smtp", recorder.address, "--smtp-timeout", "1h", "--shutdown-grace", "2", "--max-attempts", "1")
    rest = server.rest()
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "PROCESSING")
    server.ask_to_end()
    assert server.await_end() == 0
    assert recorder.arrived == []

    gate.set()
    email = start("--smtp", recorder.address, "--max-attempts", "1").rest().await_status(identifier, "SENT")
    assert not [line for line in email["history"] if "timed out" in line["reason"]], "what was broken off was no attempt"


def test_whoever_hangs_is_left_in_time_to_write_down_what_is_known(start, recorder, hanging, binary, directory, ledger):
    """The grace holds, though the mail server and the receiver of callbacks would be given an hour."""
    hanging(recorder, ".")
    with CallbackServer() as listener:
        listener.gate.clear()
        flags = ["--shutdown-grace", "4", "--smtp-timeout", "1h", "--callback-timeout", "1h"]
        server = start("--smtp", recorder.address, "--callback-allow-private", *flags)
        rest = server.rest()
        identifier = rest.accept_one(payload())
        eventually(lambda: len(recorder.arrived) == 1, "a message that waits for its reply")
        invalid = rest.accept_one(payload(callback_url=listener.url, attachments=["missing"]))
        listener.await_calls(1)
        server.ask_to_end()
        assert server.await_end() == 0
        listener.gate.set()
    states = ledger.states(binary, directory / "data")
    assert states[identifier] == "READY", "that its outcome is unknown is known"
    assert states[invalid] == "INVALID"
