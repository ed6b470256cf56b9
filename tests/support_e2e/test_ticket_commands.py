"""The support desk by the command line."""

import json
import subprocess

import pytest
from waiting import eventually

SERVER_FLAGS = ("--tickets-from", "support@shop.example", "--engineer", "eng_1=eng1@shop.example")


@pytest.fixture(scope="module")
def postino(binary, desk):
    def run(*words, status=0, stdin=None):
        command = [binary, "tickets", *words, "--url", desk.url]
        ended = subprocess.run(command, capture_output=True, input=stdin, check=False)
        assert ended.returncode == status, ended
        return ended.stdout if status == 0 else ended.stderr

    return run


@pytest.fixture
def ticket(postino):
    opened = postino(
        "open", "--customer-id", "cust_1", "--customer-contact-email", "ada@example.org", "--asset-model", "RX-200",
        "--symptom-text", "It restarts every ten minutes.", "--priority", "P2", "--json",
    )  # fmt: skip
    return json.loads(opened)["ticket_id"]


def test_a_ticket_is_worked_on(postino, ticket):
    assert b"PROCESSING" in postino("move", ticket, "--status", "PROCESSING", "--version", "1", "--by", "ann")
    assert b"another version" in postino("move", ticket, "--status", "READY", "--version", "1", status=1)
    assert b"eng_1" in postino("escalate", ticket, "--engineer", "eng_1", "--reason", "hard")
    assert ticket.encode() in postino("escalated", "--engineer", "eng_1")
    assert b"escalation" in postino("emails", ticket), "the engineer was told"
    assert b"PROCESSING" in postino("deescalate", ticket)
    assert b"P1" in postino("priority", ticket, "--priority", "P1")
    assert ticket.encode() in postino("list", "--customer-id", "cust_1", "--priority", "P1")
    assert json.loads(postino("show", ticket, "--json"))["asset"] == {"model": "RX-200"}
    assert ticket.encode() in postino("several", "--ids", ticket)


def test_tickets_are_counted(postino, ticket):
    eventually(lambda: json.loads(postino("counts", "--json"))["by_status"]["NEW"] >= 1, f"the count of {ticket}")
    lines = postino("counts").decode().splitlines()
    assert [line.split()[0] for line in lines if line.startswith(" ")] == ["NEW", "PROCESSING", "READY", "FAILED", "ESCALATED"]


def test_a_repeated_command_is_done_once(postino, ticket):
    words = ("note", ticket, "--event-type", "called", "--idempotency-key", f"note-{ticket}")
    first = postino(*words)
    assert postino(*words) == first
    assert postino("events", ticket).count(b"called") == 1
    write = ("write", ticket, "--subject", "News", "--text", "Soon.", "--idempotency-key", f"mail-{ticket}", "--json")
    assert json.loads(postino(*write))["message_id"] == json.loads(postino(*write))["message_id"]


def test_what_belongs_to_a_ticket(postino, ticket):
    postino("rate", ticket, "--operator-id", "op_1", "--rating", "5", "--was-helpful")
    assert b"5" in postino("feedback", ticket)
    assert ticket.encode() in postino("feedback-of", "--operator-id", "op_1")
    postino("note", ticket, "--event-type", "called", "--detail", "minutes=7")
    assert b"called" in postino("events", ticket)
    sent = json.loads(postino("write", ticket, "--subject", "News", "--text", "It is {status}.", "--json"))
    assert sent["text"] == "It is NEW."
    headers = f"Message-ID: <{ticket}@c>\r\nIn-Reply-To: <{sent['message_id']}>\r\n".encode()
    assert ticket.encode() in postino("answer", "--headers-file", "-", "--text", "It works.", stdin=headers)
    email = (
        f"Message-ID: <{ticket}@mime>\r\nIn-Reply-To: <{sent['message_id']}>\r\n"
        "Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        "<p>Es ist <b>gr=FCn</b>.</p>\r\n"
    ).encode()
    answer = json.loads(postino("answer", "--message-file", "-", "--json", stdin=email))
    assert answer["ticket_id"] == ticket and answer["text"] == "Es ist grün."


def test_attachments(postino, ticket, directory):
    file = directory / "log.txt"
    file.write_bytes(b"It is broken.\n")
    added = json.loads(postino("attachments", "add", ticket, str(file), "--json"))
    assert added["name"] == "log.txt"
    assert b"log.txt" in postino("attachments", "list", ticket)
    assert postino("attachments", "get", ticket, added["attachment_id"]) == b"It is broken.\n"
    postino("attachments", "remove", ticket, added["attachment_id"])
    assert b"ttachment not found" in postino("attachments", "get", ticket, added["attachment_id"], status=1)
