"""The support desk by the command line."""

import fcntl
import json
import os
import struct
import subprocess
import termios

import pytest
from waiting import eventually

SERVER_FLAGS = ("--tickets-from", "support@shop.example", "--engineer", "eng_1=eng1@shop.example")


@pytest.fixture(scope="module")
def postino(binary, desk):
    def run(*words, status=0, stdin=None, again=False, said=b""):
        command = [binary, "tickets", *words, "--url", desk.url]
        ended = subprocess.run(command, capture_output=True, input=stdin, check=False)
        assert ended.returncode == status, ended
        assert (b"not done again" in ended.stderr) == again and said in ended.stderr, ended
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
    assert postino("several", "--ids", "tkt_none", said=b"None found.") == b""


def test_a_list_says_that_there_are_more(postino):
    """Also in a pipe, and to programs, which go on with the cursor."""
    for number in range(3):
        postino("open", "--customer-id", "cust_more", "--symptom-text", f"It restarts again: {number}.")
    more = b"There are more. Use --limit or --all"
    assert len(postino("list", "--customer-id", "cust_more", "--limit", "2", said=more).splitlines()) == 3
    words = ("list", "--customer-id", "cust_more", "--limit", "2", "--json")
    first = json.loads(postino(*words, said=more))
    last = json.loads(postino(*words, "--cursor", first["cursor"]))
    assert len({ticket["ticket_id"] for ticket in first["data"] + last["data"]}) == 3 and last["cursor"] is None
    assert b"--cursor must be" in postino(*words, "--cursor", "none", status=1)


def test_tickets_are_counted(postino, ticket):
    eventually(lambda: json.loads(postino("counts", "--json"))["by_status"]["NEW"] >= 1, f"the count of {ticket}")
    lines = postino("counts").decode().splitlines()
    assert [line.split()[0] for line in lines if line.startswith(" ")] == ["NEW", "PROCESSING", "READY", "FAILED", "ESCALATED"]


def test_a_repeated_command_is_done_once(postino, ticket):
    words = ("note", ticket, "--event-type", "called", "--idempotency-key", f"note-{ticket}")
    first = postino(*words)
    assert postino(*words, again=True) == first
    assert postino("events", ticket).count(b"called") == 1
    write = ("write", ticket, "--subject", "News", "--text", "Soon.", "--idempotency-key", f"mail-{ticket}", "--json")
    sent = json.loads(postino(*write))
    assert json.loads(postino(*write, again=True))["message_id"] == sent["message_id"]


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


def test_fields_have_the_names_of_the_command_line(postino, ticket):
    refused = postino("open", "--customer-id", "c", "--symptom-text", "short", status=1)
    assert refused.startswith(b"postino: --symptom-text must have"), refused
    refused = postino("list", "--since", "yesterday", status=1)
    assert refused.startswith(b"postino: --since must be a time"), refused
    refused = postino("open", "--customer-id", "c", "--symptom-text", "It restarts.", "--letter-to", "nowhere", status=1)
    assert b"--letter-subject is required" in refused or b"--letter-subject must" in refused, refused
    assert b"letter." not in refused and b"customer." not in refused, refused
    refused = postino("rate", ticket, "--operator-id", "op", "--rating", "9", status=2)
    assert refused.startswith(b"postino: --rating: "), refused


def test_results_are_kept_by_name_and_value(postino):
    postino("cache", "put", "sum", "--data", "answer=42", "--data", "unit=apples")
    assert json.loads(postino("cache", "get", "sum", "--json"))["data"] == {"answer": "42", "unit": "apples"}


def on_terminal(binary, columns, *words):
    """What a terminal of this width shows."""
    terminal, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    subprocess.run([binary, *words], stdout=end, stderr=subprocess.DEVNULL, check=True)
    os.close(end)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    return shown.replace("\r\n", "\n")


def test_long_texts_do_not_push_others_off_the_terminal(binary, postino, desk):
    symptom = "It restarts " + "very " * 500 + "often."
    opened = json.loads(postino("open", "--customer-id", "long", "--symptom-text", symptom, "--json"))
    ticket = opened["ticket_id"]
    postino("move", ticket, "--status", "PROCESSING", "--version", "1")
    postino("escalate", ticket, "--engineer", "engineer-" * 10, "--by", "b" * 100)
    lists = (["list", "--customer-id", "long"], ["escalated"], ["events", ticket])
    for words in lists:
        shown = on_terminal(binary, 160, "tickets", *words, "--url", desk.url)
        assert max(map(len, shown.splitlines())) <= 160, shown
    assert ("engineer-" * 10).encode() in postino("list", "--customer-id", "long"), "in a file it is whole"
