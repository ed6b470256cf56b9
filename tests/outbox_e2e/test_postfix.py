"""A real Postfix that wants TLS and a password."""

import pytest

from certificates import Authority
from payloads import payload
from postfix_server import PASSWORD, USER, Postfix

WRONG_PASSWORD = "wrong-horse-battery-staple"
RETRY = ["--retry-first", "1s", "--retry-longest", "1s"]


@pytest.fixture(scope="module")
def authority(module_directory):
    return Authority(module_directory / "authority")


@pytest.fixture(scope="module")
def postfix(module_directory, authority):
    directory = module_directory / "postfix"
    directory.mkdir()
    server = Postfix(directory, *authority.issue("mail.example"))
    yield server
    server.stop()


@pytest.fixture
def start_for(start, postfix, authority):
    """A server whose relay is that Postfix; the flags given come last, and win."""

    def start_server(*flags, port=None, tls="required", password=PASSWORD, ca=None):
        relay = ["--smtp", f"localhost:{port or postfix.submission}", "--smtp-tls", tls]
        login = ["--smtp-user", USER, "--smtp-password", password, "--smtp-ca", ca or authority.certificate]
        return start(*relay, *login, *RETRY, *flags)

    return start_server


def await_failed_attempt(rest, identifier):
    return rest.await_email(identifier, lambda it: it["status"] == "READY" and it["attempts"] >= 1, "a failed attempt")


def received_headers(mail):
    return " ".join(mail.message.get_all("Received"))


def test_mail_goes_over_required_tls_with_a_password(start_for, postfix):
    rest = start_for().rest()
    identifier = rest.accept_one(
        payload(
            subject="Žluťoučký kůň",
            body_text="Příliš\n.tečka\n",
            body_html="<p>Příliš</p>",
            attachments=[{"name": "a.bin", "content_base64": "AAEC/w=="}],
        )
    )
    rest.await_status(identifier, "SENT")
    (mail,) = postfix.await_mail(identifier)
    assert mail.message["Subject"] == "Žluťoučký kůň"
    assert mail.text() == "Příliš\n.tečka\n"
    assert mail.text("text/html").rstrip("\n") == "<p>Příliš</p>"
    (attachment,) = mail.message.iter_attachments()
    assert attachment.get_payload(decode=True) == b"\x00\x01\x02\xff"
    assert "using TLSv1." in received_headers(mail)
    assert f"Authenticated sender: {USER}@" in received_headers(mail)
    # Below what Postfix put on top stands what was sent.
    built = rest.get(f"/emails/{identifier}/message").body.replace(b"\r\n", b"\n")
    assert mail.content.endswith(built)


def test_mail_goes_over_tls_from_the_first_byte(start_for, postfix):
    rest = start_for(port=postfix.smtps, tls="implicit").rest()
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "SENT")
    (mail,) = postfix.await_mail(identifier)
    assert "using TLSv1." in received_headers(mail)


def test_opportunistic_tls_is_used_where_it_is_offered(start_for, postfix):
    rest = start_for(tls="opportunistic").rest()
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "SENT")
    (mail,) = postfix.await_mail(identifier)
    assert "using TLSv1." in received_headers(mail)


def test_wrong_password_delivers_nothing_and_is_not_told(start_for, postfix, directory):
    server = start_for("--log-requests", password=WRONG_PASSWORD)
    rest = server.rest()
    identifier = rest.accept_one(payload())
    email = await_failed_attempt(rest, identifier)
    assert email["reason"].startswith("535"), "an operator must see what is wrong"
    assert "next_attempt_at" in email
    shown = str(rest.email(identifier))
    assert server.stop() == 0
    for secret in (WRONG_PASSWORD, "AHBvc3Rpbm8Ad3Jvbmct"):  # as it is, and as AUTH PLAIN has it
        assert secret not in server.whole_log()
        assert secret not in shown
    # With the right one it goes out: it was never the message's fault.
    rest = start_for().rest()
    rest.await_status(identifier, "SENT")
    assert len(postfix.await_mail(identifier)) == 1


def test_password_is_taken_from_the_environment(start_for, postfix, monkeypatch, start, authority):
    monkeypatch.setenv("POSTINO_SMTP_PASSWORD", PASSWORD)
    relay = ["--smtp", f"localhost:{postfix.submission}", "--smtp-tls", "required", "--smtp-ca", authority.certificate]
    rest = start(*relay, "--smtp-user", USER).rest()
    identifier = rest.accept_one(payload())
    rest.await_status(identifier, "SENT")
    assert len(postfix.await_mail(identifier)) == 1


@pytest.mark.parametrize("tls", ["required", "implicit"])
def test_certificate_of_an_unknown_authority_is_refused(start_for, postfix, directory, tls):
    stranger = Authority(directory / "stranger")
    port = postfix.smtps if tls == "implicit" else postfix.submission
    rest = start_for(port=port, tls=tls, ca=stranger.certificate).rest()
    identifier = rest.accept_one(payload())
    assert "certificate" in await_failed_attempt(rest, identifier)["reason"]
    assert identifier not in postfix.log(), "not a word of it was said"


def test_certificate_for_another_name_is_refused(start, directory, authority):
    other = directory / "other"
    other.mkdir()
    postfix = Postfix(other, *authority.issue("elsewhere.example", "DNS:elsewhere.example"))
    try:
        login = ["--smtp-user", USER, "--smtp-password", PASSWORD, "--smtp-ca", authority.certificate]
        server = start("--smtp", f"localhost:{postfix.submission}", "--smtp-tls", "required", *login, *RETRY)
        rest = server.rest()
        identifier = rest.accept_one(payload())
        await_failed_attempt(rest, identifier)
        assert identifier not in postfix.log() and "sasl_username" not in postfix.log()
    finally:
        postfix.stop()


def test_required_tls_is_not_done_without(start, recorder):
    """The recorder knows no TLS."""
    rest = start("--smtp", recorder.address, "--smtp-tls", "required", *RETRY).rest()
    identifier = rest.accept_one(payload())
    await_failed_attempt(rest, identifier)
    assert recorder.arrived == []


@pytest.mark.parametrize("tls", ["required", "opportunistic"])
def test_password_is_not_sent_in_the_clear(start, recorder, tls):
    recorder.replies["EHLO"] = "250-recorder\r\n250 AUTH PLAIN LOGIN"
    heard = []
    recorder.replies["AUTH"] = "235 2.7.0 welcome"
    recorder.hear = heard.append
    flags = ["--smtp-tls", tls, "--smtp-user", USER, "--smtp-password", PASSWORD]
    rest = start("--smtp", recorder.address, *flags, *RETRY).rest()
    await_failed_attempt(rest, rest.accept_one(payload()))
    assert not [line for line in heard if line.upper().startswith("AUTH")]


def test_bounce_that_postfix_writes_is_understood(start_for, postfix):
    rest = start_for().rest()
    # Postfix has the sender's mailbox, but none for the recipient: it takes the message, and sends a report.
    identifier = rest.accept_one(payload(**{"from": "shop@customer.example", "to": "nobody@elsewhere.example"}))
    rest.await_status(identifier, "SENT")
    report = postfix.await_report(identifier)
    answer = rest.post("/bounces", report, {"Content-Type": "message/rfc822"})
    assert answer.status == 200, answer
    assert answer.json["email_id"] == identifier
    (bounce,) = answer.json["bounces"]
    assert (bounce["recipient"], bounce["status"], bounce["permanent"]) == ("nobody@elsewhere.example", "5.1.1", True)
    assert "user unknown" in bounce["diagnostic"]
    assert answer.json["suppressed"] == ["nobody@elsewhere.example"]
    assert rest.states(identifier)[-1] == "BOUNCED"
