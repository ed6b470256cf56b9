"""What people send who mean no good, or whose programs are broken: it is refused with the name of the field and the
rule, and nothing of it is accepted."""

import base64
import json
import os
import socket

import pytest

from payloads import payload
from raw_http import RawConnection, request_bytes
from waiting import PATIENCE_SECONDS

JSON = {"Content-Type": "application/json"}
LINE_ENDS = ["\r\nBcc: victim@example.org", "\nBcc: victim@example.org", "\rX: y", "\0", "\x7f", "\x1b[31m"]


@pytest.fixture(autouse=True)
def nothing_is_accepted(rest):
    before = rest.fetch("/emails/counts")["total"]
    yield
    assert rest.fetch("/emails/counts")["total"] == before


def refused(rest, element, *fields):
    answer = rest.post("/emails", {"data": [payload(), element]})
    assert answer.status == 400, answer
    rules = answer.broken_rules
    assert set(rules) == {f"data[1]{field and '.' + field}" for field in fields}, rules
    assert all(rules.values())
    return rules


TEXT_FIELDS = [
    ("from", lambda text: {"from": f"Shop{text} <billing@shop.example>"}),
    ("from", lambda text: {"from": f"billing@shop.example{text}"}),
    ("reply_to", lambda text: {"reply_to": f"a@shop.example{text}"}),
    ("to", lambda text: {"to": f"Ada{text} <ada@customer.example>"}),
    ("to", lambda text: {"to": f"ada@customer.example{text}"}),
    ("to[0]", lambda text: {"to": [f"ada{text}@customer.example"]}),
    ("cc[0]", lambda text: {"cc": [f"Ada{text} <ada@customer.example>"]}),
    ("bcc[0]", lambda text: {"bcc": [f"ada@customer.example{text}"]}),
    ("subject", lambda text: {"subject": f"Hello{text}"}),
    ("custom_headers.X-Note", lambda text: {"custom_headers": {"X-Note": f"a{text}"}}),
    ("attachments[0].name", lambda text: {"attachments": [{"name": f"a{text}", "content_base64": ""}]}),
    (
        "attachments[0].content_type",
        lambda text: {"attachments": [{"name": "a", "content_type": f"text/csv{text}", "content_base64": ""}]},
    ),
    ("attachments[0].path", lambda text: {"attachments": [{"path": f"a{text}"}]}),
    ("attachments[0]", lambda text: {"attachments": [f"a{text}"]}),
    ("tags[0]", lambda text: {"tags": [f"a{text}"]}),
    ("callback_url", lambda text: {"callback_url": f"https://shop.example/{text}"}),
    ("unsubscribe.url", lambda text: {"unsubscribe": {"url": f"https://shop.example/{text}"}}),
    ("unsubscribe.mailto", lambda text: {"unsubscribe": {"mailto": f"leave@shop.example{text}"}}),
    ("send_at", lambda text: {"send_at": f"2027-01-01T00:00:00Z{text}"}),
    ("id", lambda text: {"id": f"00000000-0000-4000-8000-00000000000{text}"}),
]


@pytest.mark.parametrize("field, fields", TEXT_FIELDS, ids=[f"{n}-{field}" for n, (field, _) in enumerate(TEXT_FIELDS)])
def test_line_ends_and_control_characters_are_refused(rest, field, fields):
    for text in LINE_ENDS:
        refused(rest, payload(**fields(text)), field)


@pytest.mark.parametrize("name", ["X-A\r\nBcc", "X A", "X:A", "", "Ünicode", "X-A\0"])
def test_header_names_are_names(rest, name):
    refused(rest, payload(custom_headers={name: "value"}), f"custom_headers.{name}")


@pytest.mark.parametrize(
    "name",
    ["From", "to", "CC", "Bcc", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", "Reply-To", "Sender"]
    + ["content-transfer-encoding", "Return-Path", "Received", "DKIM-Signature", "List-Unsubscribe"],
)
def test_structural_headers_cannot_be_replaced(rest, name):
    refused(rest, payload(custom_headers={name: "value"}), f"custom_headers.{name}")


@pytest.mark.parametrize(
    "path",
    ["../secret", "a/../../secret", "/etc/passwd", "..", "a/..", "", ".//../x", "a/", "C:\\..\\x\0", "a\nb"],
)
def test_paths_stay_below_the_base(rest, path):
    refused(rest, payload(attachments=[path]), "attachments[0]")
    refused(rest, payload(attachments=[{"path": path, "name": "x"}]), "attachments[0].path")


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", ""])
def test_names_of_attachments_are_names(rest, name):
    content = base64.b64encode(b"x").decode()
    refused(rest, payload(attachments=[{"name": name, "content_base64": content}]), "attachments[0].name")


WRONG = [
    ("from", {"from": None}),
    ("from", {"from": ["a@b.example"]}),
    ("from", {"from": "a@b.example, c@d.example"}),
    ("to", {"to": None}),
    ("to", {"to": []}),
    ("to", {"to": 7}),
    ("to", {"to": {"address": "a@b.example"}}),
    ("to[1]", {"to": ["a@b.example", 7]}),
    ("to[0]", {"to": ["<>"]}),
    ("to", {"to": "a@b.example; c@d.example"}),
    ("to", {"to": "@b.example"}),
    ("to", {"to": "a@"}),
    ("to", {"to": f"{'a' * 65}@b.example"}),
    ("subject", {"subject": 7}),
    ("subject", {"subject": None}),
    ("body_text", {"body_text": None}),
    ("body_text", {"body_text": {"a": 1}}),
    ("body_html", {"body_html": ["x"]}),
    ("body_text", {"body_text": "NUL \0"}),
    ("attachments", {"attachments": "a"}),
    ("attachments[0]", {"attachments": [7]}),
    ("attachments[0].path", {"attachments": [{}]}),
    ("attachments[0].path", {"attachments": [{"path": "a", "name": "a", "content_base64": "YQ=="}]}),
    ("attachments[0].content_base64", {"attachments": [{"name": "a", "content_base64": "!!!"}]}),
    ("attachments[0].content_type", {"attachments": [{"name": "a", "content_type": "text", "content_base64": ""}]}),
    ("attachments[0].size", {"attachments": [{"path": "a", "size": 1}]}),
    ("custom_headers", {"custom_headers": ["X-A: 1"]}),
    ("custom_headers.X-A", {"custom_headers": {"X-A": 1}}),
    ("send_at", {"send_at": "tomorrow"}),
    ("send_at", {"send_at": 1_800_000_000}),
    ("send_at", {"send_at": "2100-01-01T00:00:00Z"}),
    ("callback_url", {"callback_url": "ftp://shop.example"}),
    ("callback_url", {"callback_url": "javascript:alert(1)"}),
    ("callback_url", {"callback_url": "file:///etc/passwd"}),
    ("callback_url", {"callback_url": "shop.example/hook"}),
    ("tags", {"tags": "a"}),
    ("tags[0]", {"tags": [""]}),
    ("tags[0]", {"tags": ["x" * 300]}),
    ("unsubscribe.url", {"unsubscribe": {"url": "http://shop.example"}}),
    ("id", {"id": "7"}),
    ("id", {"id": 7}),
    ("priority", {"priority": "high"}),
]


@pytest.mark.parametrize("field, fields", WRONG, ids=[f"{n}-{field}" for n, (field, _) in enumerate(WRONG)])
def test_wrong_values_are_named(rest, field, fields):
    element = {**payload(), **fields}
    refused(rest, {name: value for name, value in element.items() if value is not None}, field)


@pytest.mark.parametrize(
    "field, fields",
    [
        ("to", {"to": ["a@b.example"] * 101}),
        ("to", {"to": ["a@b.example"] * 60, "cc": ["a@b.example"] * 60}),
        ("attachments", {"attachments": ["a"] * 1000}),
        ("tags", {"tags": ["a"] * 1000}),
        ("custom_headers", {"custom_headers": {f"X-{number}": "a" for number in range(1000)}}),
        ("subject", {"subject": "x" * 100_000}),
        ("from", {"from": "x" * 100_000 + " <a@b.example>"}),
        ("custom_headers.X-Long", {"custom_headers": {"X-Long": "x" * 100_000}}),
        ("body_text", {"body_text": "x" * (10 * 2**20 + 1)}),
        ("callback_url", {"callback_url": "https://shop.example/" + "x" * 100_000}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_too_much_is_named(rest, field, fields):
    refused(rest, payload(**fields), field)


def test_array_with_a_hundred_thousand_elements_is_refused(rest):
    answer = rest.post("/emails", b'{"data":[' + b",".join([b"{}"] * 100_000) + b"]}", JSON)
    assert answer.status == 400 and answer.problem["errors"]
    assert len(answer.body) < 100_000, "the answer does not grow with the request"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"[]",
        b"null",
        b"7",
        b'"data"',
        b'{"data":{}}',
        b'{"data":[null]}',
        b'{"data":[[]]}',
        b'{"data":["x"]}',
        b'{"Data":[]}',
        b'{"data":[{}],"more":1}',
        b'{"data":[{}]} {}',
        b'{"data":[{"a":"\x01"}]}',
        b'{"data":[' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
        b'{"a":' * 100_000,
        b'{"data":[{"subject":"\\ud800"}]}',
        b"\xef\xbb\xbf{",
        b"\xff\xfe{\x00}\x00",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_malformed_bodies_are_refused(rest, body):
    answer = rest.post("/emails", body, JSON)
    assert answer.status == 400 and answer.problem["errors"]


@pytest.mark.parametrize("text", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"])
def test_invalid_utf8_is_refused(rest, text):
    body = json.dumps({"data": [payload(subject="MARK")]}).encode().replace(b"MARK", text)
    answer = rest.post("/emails", body, JSON)
    assert answer.status == 400 and answer.problem


def test_body_of_fifty_megabytes_is_413(outbox, rest):
    answer = send_raw(outbox, {**JSON, "Content-Length": str(50 * 2**20)}, b"{")
    status, headers, body = answer
    assert status == 413
    assert headers["content-type"].startswith("application/problem+json") and json.loads(body)["status"] == 413


def test_body_of_fifty_megabytes_that_is_really_sent_is_not_accepted(rest):
    body = json.dumps({"data": [payload(body_text="x" * 50 * 2**20)]})
    try:
        answer = rest.post("/emails", body, JSON)
    except (BrokenPipeError, ConnectionResetError):
        return  # it need not be listened to until the end
    assert answer.status == 413


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/json5", "", None])
def test_other_types_are_415(rest, content_type):
    headers = {} if content_type is None else {"Content-Type": content_type}
    answer = rest.post("/emails", json.dumps({"data": [payload()]}).encode(), headers)
    assert answer.status == 415 and answer.problem


def test_compressed_body_is_415(rest):
    answer = rest.post("/emails", b"\x1f\x8b\x08", {**JSON, "Content-Encoding": "gzip"})
    assert answer.status == 415 and answer.problem


class RestAddress:
    """What RawConnection wants to know."""

    def __init__(self, server):
        _, self.host, self.port = server.addresses["REST"]


def send_raw(server, headers, body):
    with RawConnection(RestAddress(server)) as connection:
        connection.send(request_bytes({"Host": "localhost", **headers}, body, path="/emails"))
        return connection.receive()


@pytest.mark.parametrize(
    "request_text",
    [
        b"POST /emails HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        b"POST /emails HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /emails HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET /emails HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /emails/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /emails/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /emails/..%2f..%2fetc HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"hello\r\n\r\n",
    ],
    ids=lambda text: repr(text[:40]),
)
def test_broken_http_is_refused(outbox, request_text):
    with RawConnection(RestAddress(outbox)) as connection:
        connection.send(request_text)
        answer = connection.receive()
    assert answer is None or 400 <= answer[0] < 500


def test_slow_clients_keep_nobody_waiting(outbox, rest):
    slow = [socket.create_connection((rest.host, rest.port), timeout=PATIENCE_SECONDS) for _ in range(100)]
    for number, connection in enumerate(slow):
        half = b"POST /emails HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        connection.sendall(half + (b"\r\n{" if number % 2 else b"X-Slo"))
    assert rest.fetch("/emails", limit=1)["data"] is not None
    for connection in slow:
        connection.close()


def test_links_lead_nowhere(start, directory):
    """On a server of its own: these are accepted, and found out when the file is looked for."""
    files, secret = directory / "files", directory / "secret.txt"
    (files / "folder").mkdir(parents=True)
    secret.write_text("the secret")
    (files / "inside.txt").write_text("inside")
    os.symlink(secret, files / "link.txt")
    os.symlink(directory, files / "up")
    os.symlink("/", files / "root")
    os.mkfifo(files / "pipe")
    rest = start("--attachments", files).rest()
    paths = ["link.txt", "up/secret.txt", "root/etc/passwd", "folder", "pipe", "missing.txt", "inside.txt/x"]
    for path, identifier in zip(paths, rest.accept(*[payload(attachments=[path]) for path in paths])):
        email = rest.await_outcome(identifier)
        assert email["status"] == "INVALID" and path in email["reason"], path
    assert rest.fetch("/mailbox")["data"] == []
    assert rest.await_outcome(rest.accept_one(payload(attachments=["inside.txt"])))["status"] == "SENT"
    huge = files / "huge.bin"
    with huge.open("wb") as file:
        file.truncate(2**40)
    email = rest.await_outcome(rest.accept_one(payload(attachments=["huge.bin"])))
    assert email["status"] == "INVALID" and "huge.bin" in email["reason"]


def test_html_and_text_are_not_touched_by_what_looks_like_mail(start, recorder):
    """Lines that mean something to SMTP or to mbox files come through as they are."""
    rest = start("--smtp", recorder.address).rest()
    text = "Dear\n\n.\nMAIL FROM:<evil@example.org>\nFrom evil\n..\r\n.\r\nQUIT\r\n--boundary--\n"
    identifier = rest.accept_one(payload(body_text=text, body_html="<p>\r\n.\r\nRSET\r\n</p>"))
    rest.await_status(identifier, "SENT")
    (mail,) = recorder.await_mail()
    assert mail.text().replace("\r\n", "\n") == text.replace("\r\n", "\n")
    assert mail.text("text/html").replace("\r\n", "\n").rstrip("\n") == "<p>\n.\nRSET\n</p>"
