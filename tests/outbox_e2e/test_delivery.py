"""What is handed in arrives: every field of a payload, seen from the other side by Python's own mail parser."""

import base64
import hashlib
import re
import subprocess
import threading
from datetime import datetime, timedelta

import pytest

from payloads import RECIPIENT, SENDER, payload
from received_mail import structure
from waiting import eventually

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
TABLE = "Größe;Preis\n10;9,99\n".encode("latin-1")
DOCUMENT = b"%PDF-1.4\n" + bytes(range(256)) * 40
TEXT = "Kære Ada,\n\n.a dot at the start\n..two\n.\nFrom here on " + "a very long line " * 100 + "\n\nHilsen 🐎\n"
SUBJECT = "Faktura № 7 – příliš žluťoučký kůň úpěl ďábelské ódy, und noch mehr, damit es gefaltet wird 🐎"


def unix(text):
    return text.replace("\r\n", "\n")


def full_payload():
    return {
        "from": '"Købmand Ærø, A/S" <billing@shop.example>',
        "reply_to": "Support <support@shop.example>",
        "to": ["Ada Łovelace <ada@customer.example>", "bob@customer.example"],
        "cc": "Carol <carol@customer.example>",
        "bcc": ["dan@audit.example", "Eve <eve@audit.example>"],
        "subject": SUBJECT,
        "body_text": TEXT,
        "body_html": f'<p>Kære Ada &amp; Bob</p><img alt="dot" src="data:image/png;base64,'
        f'{base64.b64encode(PICTURE).decode()}">',
        "attachments": [
            "invoices/2026/invoice-7.pdf",
            {"path": "invoices/2026/invoice-7.pdf", "name": "Rechnung für Ada.pdf", "content_type": "application/pdf"},
            {
                "name": "preise.csv",
                "content_type": "text/csv",
                "content_base64": base64.b64encode(TABLE).decode(),
            },
        ],
        "custom_headers": {"X-Invoice": "7", "X-Customer": "Łovelace"},
        "unsubscribe": {"url": "https://shop.example/unsubscribe?c=7", "mailto": "leave@shop.example"},
        "tags": ["invoice"],
    }


def make_attachments(directory):
    files = directory / "files" / "invoices" / "2026"
    files.mkdir(parents=True)
    (files / "invoice-7.pdf").write_bytes(DOCUMENT)
    return directory / "files"


def test_every_field_of_a_payload_arrives(start, sink, directory):
    relay = sink()
    flags = ["--attachments", make_attachments(directory), "--smtp-from", "bounces@shop.example"]
    rest = start("--smtp", relay.address, *flags).rest()
    identifier = rest.accept_one(full_payload())
    email = rest.await_status(identifier, "SENT")
    (mail,) = relay.await_mail()

    everybody = ["ada@customer.example", "bob@customer.example", "carol@customer.example"]
    everybody += ["dan@audit.example", "eve@audit.example"]
    assert mail.sender == "bounces@shop.example"
    assert mail.recipients == everybody
    assert [(each["address"], each["status"]) for each in email["recipients"]] == [
        (address, "sent") for address in everybody
    ]

    message = mail.message
    assert message.defects == []
    (sender,) = message["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Købmand Ærø, A/S", "billing@shop.example")
    assert [(each.display_name, each.addr_spec) for each in message["To"].addresses] == [
        ("Ada Łovelace", "ada@customer.example"),
        ("", "bob@customer.example"),
    ]
    assert str(message["Cc"]) == "Carol <carol@customer.example>"
    assert str(message["Reply-To"]) == "Support <support@shop.example>"
    assert message["Subject"] == SUBJECT
    assert "Bcc" not in message and b"audit.example" not in mail.content
    assert message["X-Invoice"] == "7" and message["X-Customer"] == "Łovelace"
    assert mail.id == identifier
    assert abs(message["Date"].datetime - datetime.fromisoformat(email["created_at"])) < timedelta(seconds=2)

    assert structure(message) == (
        "multipart/mixed",
        [
            ("multipart/alternative", ["text/plain", ("multipart/related", ["text/html", "image/png"])]),
            "application/pdf",
            "application/pdf",
            "text/csv",
        ],
    )
    assert unix(mail.text()) == TEXT
    html = mail.text("text/html")
    (content_id,) = re.findall(r'src="cid:([^"]+)"', html)
    assert "<p>Kære Ada &amp; Bob</p>" in html and "data:" not in html
    picture = mail.part("image/png")
    assert picture["Content-ID"] == f"<{content_id}>"
    assert picture.get_content() == PICTURE
    attached = [(part.get_filename(), part.get_payload(decode=True)) for part in message.iter_attachments()]
    assert attached == [
        ("invoice-7.pdf", DOCUMENT),
        ("Rechnung für Ada.pdf", DOCUMENT),
        ("preise.csv", TABLE),
    ]


def test_message_keeps_to_what_every_server_understands(start, recorder, directory):
    rest = start("--smtp", recorder.address, "--attachments", make_attachments(directory)).rest()
    identifier = rest.accept_one(full_payload())
    rest.await_status(identifier, "SENT")
    (mail,) = recorder.await_mail()

    lines = mail.content.split(b"\r\n")
    assert all(byte < 128 for byte in mail.content)
    assert max(map(len, lines)) <= 78, "lines are folded"
    head = mail.content.split(b"\r\n\r\n")[0].decode()
    assert "MIME-Version: 1.0" in head.split("\r\n")
    assert mail.part("text/plain")["Content-Transfer-Encoding"] == "quoted-printable"
    for part in mail.message.iter_attachments():
        assert part["Content-Transfer-Encoding"] == "base64"
        lengths = [len(line) for line in part.get_payload().split()]
        assert set(lengths[:-1]) <= {76} and lengths[-1] <= 76
    # Dots at the start of a line went over the wire doubled and came out single.
    shown = rest.get(f"/emails/{identifier}/message")
    assert shown.headers["content-type"].startswith("message/rfc822")
    assert shown.body == mail.content


@pytest.mark.parametrize(
    "subject", ["=?utf-8?b?G1szMW1yZWQ=?=", "=?utf-8?q?half", "  spaces  ", "a" * 900, "é" * 450, "=?x?=", "Re: \u202e"]
)
def test_subject_is_read_as_it_was_written(start, recorder, subject):
    """Also one that looks as if it were encoded already, or is longer than a line may be."""
    rest = start("--smtp", recorder.address).rest()
    rest.accept(payload(subject=subject, **{"from": "=?utf-8?q?not_me?= <billing@shop.example>"}))
    (mail,) = recorder.await_mail()
    assert str(mail.message["Subject"]).strip() == subject.strip()
    assert mail.message["From"].addresses[0].display_name == "=?utf-8?q?not_me?="
    assert max(map(len, mail.content.split(b"\r\n"))) <= 998


def test_one_click_unsubscribe_is_offered(start, sink):
    relay = sink()
    rest = start("--smtp", relay.address).rest()
    unsubscribe = {"url": "https://shop.example/u?c=7", "mailto": "leave@shop.example"}
    rest.accept(payload(unsubscribe=unsubscribe))
    (mail,) = relay.await_mail()
    targets = re.findall(r"<([^>]+)>", mail.message["List-Unsubscribe"])
    assert targets == ["https://shop.example/u?c=7", "mailto:leave@shop.example"]
    assert mail.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_without_settings_the_envelope_is_from_the_sender(start, sink):
    relay = sink()
    rest = start("--smtp", relay.address).rest()
    rest.accept(payload(reply_to=SENDER))
    (mail,) = relay.await_mail()
    assert mail.sender == SENDER
    assert mail.recipients == [RECIPIENT]
    assert mail.message["Message-ID"].endswith("@shop.example>")
    assert "Reply-To" not in mail.message, "it would say the same as From"
    assert mail.message.get_content_type() == "text/plain"
    assert unix(mail.text()) == "It is attached.\n"


def test_domain_of_the_message_id_can_be_chosen(start, sink):
    relay = sink()
    rest = start("--smtp", relay.address, "--message-id-domain", "mail.shop.example").rest()
    identifier = rest.accept_one(payload())
    (mail,) = relay.await_mail()
    assert mail.message["Message-ID"] == f"<{identifier}@mail.shop.example>"


def test_messages_are_signed_with_dkim(start, recorder, directory):
    key = directory / "dkim.pem"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
    flags = ["--dkim-domain", "shop.example", "--dkim-selector", "e2e", "--dkim-key", key]
    rest = start("--smtp", recorder.address, *flags).rest()
    rest.accept(payload(body_text="One line.\n\n\n"))
    (mail,) = recorder.await_mail()
    tags = dict(re.findall(r"(\w+)=([^;]+)", re.sub(r"\s", "", mail.message["DKIM-Signature"])))
    assert (tags["d"], tags["s"], tags["a"]) == ("shop.example", "e2e", "rsa-sha256")
    assert {"from", "to", "subject", "date", "message-id"} <= set(tags["h"].lower().split(":"))
    # Both canonical forms drop empty lines at the end (RFC 6376, 3.4); this body has no others to tell them apart by.
    body = mail.content.split(b"\r\n\r\n", 1)[1].rstrip(b"\r\n") + b"\r\n"
    assert base64.b64decode(tags["bh"]) == hashlib.sha256(body).digest()


def test_many_messages_share_few_connections(start, recorder):
    rest = start("--smtp", recorder.address, "--smtp-connections", "2").rest()
    identifiers = rest.accept(*[payload(subject=f"Number {number}") for number in range(40)])
    for identifier in identifiers:
        rest.await_status(identifier, "SENT")
    mails = recorder.await_mail(40)
    assert sorted(mail.id for mail in mails) == sorted(identifiers), "each arrived exactly once"
    assert recorder.most_sessions <= 2


def test_concurrency_of_a_destination_is_limited(start, recorder, hanging):
    gate = hanging(recorder, ".")
    rest = start("--smtp", recorder.address, "--destination-concurrency", "1").rest()
    near = [payload(to=f"user{number}@near.example") for number in range(4)]
    far = [payload(to=f"user{number}@far.example") for number in range(4)]
    identifiers = rest.accept(*near, *far)
    eventually(lambda: len(recorder.arrived) >= 2, "a message to each destination")
    identifiers += rest.accept(payload(to="user@third.example"))  # comes after all others
    eventually(lambda: "third.example" in recorder.most_at_once, "a message to the third destination")
    gate.set()
    for identifier in identifiers:
        rest.await_status(identifier, "SENT")
    assert recorder.most_at_once == {"near.example": 1, "far.example": 1, "third.example": 1}
    for identifier in identifiers:
        states = [status for status, _ in rest.history(identifier)]
        assert states == ["ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"], "waiting leaves no line"


def test_a_slow_destination_keeps_no_other_waiting(start, recorder):
    """None of many e-mails is answered, and those for another domain are sent all the same, though they came later: those
    that senders get with their acceptance, and those that they have to claim."""
    answers = recorder.slow_domains.setdefault("slow.example", threading.Event())
    rest = start("--smtp", recorder.address).rest()
    for _ in range(6):
        rest.accept(*[payload(to="user@slow.example") for _ in range(50)])
    eventually(lambda: len(recorder.arrived) >= 2, "messages to the slow destination")
    attached = [{"name": "a.txt", "content_base64": "YQ=="}]
    fast = [payload(to="user@fast.example") for _ in range(20)]
    fast += [payload(to="user@fast.example", attachments=attached) for _ in range(20)]
    for identifier in rest.accept(*fast):
        rest.await_status(identifier, "SENT")
    assert {mail.recipients[0] for mail in recorder.acknowledged} == {"user@fast.example"}
    answers.set()
    eventually(lambda: rest.counts()["SENT"] == 340, "the end of all e-mails")
    assert len(recorder.arrived) == 340, "each arrived once"
