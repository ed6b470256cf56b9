"""The command line: what people type, and what scripts depend on."""

import json
import re
import subprocess
import uuid

import pytest

from payloads import in_the_future, payload
from waiting import PATIENCE_SECONDS, eventually

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class Postino:
    def __init__(self, binary, url):
        self.binary, self.url = binary, url

    def run(self, *arguments, input=None, **environment):
        return subprocess.run(
            [self.binary, *map(str, arguments)],
            input=input,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            env={"POSTINO_URL": self.url, "LC_ALL": "C.UTF-8", **environment},
        )

    def succeed(self, *arguments, **more):
        ended = self.run(*arguments, **more)
        assert ended.returncode == 0, ended
        return ended.stdout

    def json(self, *arguments):
        return json.loads(self.succeed(*arguments, "--json"))


@pytest.fixture(scope="module")
def postino(binary, outbox):
    return Postino(binary, outbox.url)


def simple(**fields):
    given = {"from": "billing@shop.example", "to": "ada@customer.example", "subject": "Hello", "text": "Hi", **fields}
    return ["send", *[part for name, value in given.items() for part in ("--" + name.replace("_", "-"), value)]]


def identifier_in(text):
    (found,) = set(re.findall(UUID, text))
    return found


class TestSend:
    def test_prints_the_id_and_the_state(self, postino, rest):
        output = postino.succeed(*simple())
        assert "ACCEPTED" in output.upper()
        rest.await_status(identifier_in(output), "SENT")

    def test_every_option_reaches_the_payload(self, postino, rest, directory):
        (directory / "text.txt").write_text("Grüße\n")
        (directory / "page.html").write_text("<p>Grüße</p>")
        (directory / "data.csv").write_bytes(b"a;b\n1;2\n")
        own = str(uuid.uuid4())
        when = in_the_future()
        output = postino.succeed(
            *("send", "--from", "Shop <billing@shop.example>", "--to", "ada@customer.example"),
            *("--to", "bob@customer.example", "--cc", "carol@customer.example", "--bcc", "dan@audit.example"),
            *("--reply-to", "support@shop.example", "--subject", "Žádost", "--id", own, "--send-at", when),
            *("--text-file", directory / "text.txt", "--html-file", directory / "page.html"),
            *("--attach", directory / "data.csv", "--header", "X-One: 1", "--header", "X-Two: zwei"),
            *("--callback-url", "https://shop.example/hook", "--tag", "a", "--tag", "b"),
        )
        assert identifier_in(output) == own
        kept = rest.fetch(f"/emails/{own}/payload")
        assert kept["subject"] == "Žádost"
        assert (kept["body_text"], kept["body_html"]) == ("Grüße\n", "<p>Grüße</p>")
        assert kept["custom_headers"] == {"X-One": "1", "X-Two": "zwei"}
        assert kept["tags"] == ["a", "b"] and kept["callback_url"] == "https://shop.example/hook"
        email = rest.await_status(own, "READY")
        assert [each["address"].partition("@")[0] for each in email["recipients"]] == ["ada", "bob", "carol", "dan"]
        message = rest.get(f"/emails/{own}/message").body
        assert b"data.csv" in message and b"YTtiCjE7Mgo=" in message
        assert b"Reply-To: support@shop.example" in message

    def test_waits_for_the_outcome(self, postino):
        output = postino.succeed(*simple(), "--wait")
        lines = output.split()
        for state in ("ACCEPTED", "READY", "SENT"):
            assert state in lines
        assert output.strip().splitlines()[-1].count("SENT") >= 1

    def test_waiting_for_a_failure_fails(self, postino, rest):
        address = f"{uuid.uuid4().hex}@customer.example"
        rest.put(f"/suppressions/{address}")
        ended = postino.run(*simple(to=address), "--wait")
        assert ended.returncode == 1 and "FAILED" in ended.stdout + ended.stderr

    def test_waiting_tells_who_did_not_get_it(self, postino, rest):
        refused = f"{uuid.uuid4().hex}@customer.example"
        rest.put(f"/suppressions/{refused}", {"reason": "asked to"})
        ended = postino.run(*simple(), "--to", refused, "--wait")
        assert ended.returncode == 3, "neither sent to all nor to none"
        assert f"not sent to {refused}: suppressed: asked to" in ended.stderr
        (line,) = [each for each in postino.succeed("emails", "list", "--to", refused).splitlines() if "SENT" in each]
        assert "SENT (partly)" in line and "Hello" in line

    def test_json_is_json(self, postino, rest):
        answer = postino.json(*simple())
        rest.await_status(identifier_in(json.dumps(answer)), "SENT")

    def test_idempotency_key_makes_a_repeat_harmless(self, postino, rest):
        before = rest.fetch("/emails/counts")["total"]
        first, second = (postino.succeed(*simple(idempotency_key="cli-once")) for _ in range(2))
        assert identifier_in(first) == identifier_in(second)
        assert rest.fetch("/emails/counts")["total"] == before + 1

    def test_a_repeat_is_said_to_be_one(self, postino):
        first, second = (postino.run(*simple(idempotency_key="cli-repeat")) for _ in range(2))
        assert "accepted before" not in first.stderr and "accepted before" in second.stderr
        assert first.stdout == second.stdout

    def test_refusal_names_the_field(self, postino):
        ended = postino.run(*simple(to="nobody"))
        assert ended.returncode == 1 and "to" in ended.stderr and "Traceback" not in ended.stderr

    @pytest.mark.parametrize(
        "arguments",
        [
            ["send"],
            ["send", "--from", "a@b.example"],
            ["send", "--nonsense"],
            ["send", "--file"],
            ["emails"],
            ["emails", "show"],
        ]
        + [["emails", "dance"], ["mailbox", "show"], simple() + ["--header", "no colon"]],
        ids=" ".join,
    )
    def test_misuse_is_told_from_failure(self, postino, arguments):
        ended = postino.run(*arguments)
        assert ended.returncode == 2, ended
        assert ended.stderr

    def test_missing_file_is_a_failure(self, postino):
        for arguments in (["send", "--file", "/nonexistent"], simple() + ["--attach", "/nonexistent"]):
            ended = postino.run(*arguments)
            assert ended.returncode in (1, 2) and "/nonexistent" in ended.stderr

    def test_server_that_is_not_there_is_a_failure(self, binary):
        ended = Postino(binary, "http://127.0.0.1:1").run(*simple())
        assert ended.returncode == 1 and "127.0.0.1:1" in ended.stderr


class TestFile:
    @pytest.mark.parametrize(
        "written",
        [
            lambda payloads: json.dumps(payloads[0]),
            lambda payloads: json.dumps(payloads),
            lambda payloads: json.dumps({"data": payloads}, indent=2),
            lambda payloads: "\n".join(map(json.dumps, payloads)) + "\n",
        ],
        ids=["payload", "array", "data", "lines"],
    )
    def test_every_form_is_understood(self, postino, rest, directory, written):
        payloads = [payload(id=str(uuid.uuid4())) for _ in range(3)]
        file = directory / "emails.json"
        file.write_text(written(payloads))
        postino.succeed("send", "--file", file)
        expected = 1 if written(payloads).count('"id"') == 1 else 3
        for each in payloads[:expected]:
            rest.await_status(each["id"], "SENT")

    def test_large_files_go_in_batches_and_can_be_repeated(self, postino, rest):
        before = rest.fetch("/emails/counts")["total"]
        lines = "\n".join(json.dumps(payload(subject=f"Number {number}")) for number in range(250))
        first = postino.run("send", "--file", "-", input=lines)
        assert first.returncode == 0 and "250" in first.stdout + first.stderr
        assert "\r" not in first.stderr, "no progress bar where nobody watches"
        assert rest.fetch("/emails/counts")["total"] == before + 250
        assert "earlier" not in first.stdout
        again = postino.run("send", "--file", "-", input=lines)
        assert again.returncode == 0
        assert "250 accepted (250 by an earlier request), 0 refused" in again.stdout
        assert rest.fetch("/emails/counts")["total"] == before + 250

    def test_broken_line_fails_and_is_named(self, postino, rest):
        lines = json.dumps(payload()) + "\n{broken\n"
        ended = postino.run("send", "--file", "-", input=lines)
        assert ended.returncode == 1 and "2" in ended.stderr

    def test_refused_payload_fails(self, postino):
        ended = postino.run("send", "--file", "-", input=json.dumps(payload(to="nobody")))
        assert ended.returncode == 1 and "to" in ended.stderr


class TestEmails:
    @pytest.fixture
    def waiting(self, rest):
        identifier = rest.accept_one(payload(send_at=in_the_future()))
        rest.await_status(identifier, "READY")
        return identifier

    def test_list(self, postino, rest, waiting):
        assert waiting in postino.succeed("emails", "list", "--status", "READY")
        assert waiting not in postino.succeed("emails", "list", "--status", "SENT", "--all")
        page = postino.json("emails", "list", "--limit", "1")
        assert waiting in json.dumps(page)

    def test_show(self, postino, waiting):
        shown = postino.succeed("emails", "show", waiting)
        for word in (waiting, "ACCEPTED", "INTAKING", "READY"):
            assert word in shown
        assert postino.json("emails", "show", waiting)["status"] == "READY"
        assert postino.run("emails", "show", str(uuid.uuid4())).returncode == 1

    def test_hold_release_and_cancel(self, postino, rest, waiting):
        for command, state in (("hold", "HELD"), ("release", "READY"), ("cancel", "CANCELLED")):
            postino.succeed("emails", command, waiting)
            assert rest.email(waiting)["status"] == state
        assert postino.run("emails", "cancel", waiting).returncode == 1

    def test_several_at_once(self, postino, rest):
        identifiers = rest.accept(*[payload(send_at=in_the_future()) for _ in range(3)])
        for identifier in identifiers:
            rest.await_status(identifier, "READY")
        ended = postino.run("emails", "cancel", identifiers[0], str(uuid.uuid4()), *identifiers[1:])
        assert ended.returncode == 1, "one of them is unknown"
        assert {rest.email(identifier)["status"] for identifier in identifiers} == {"CANCELLED"}

    def test_requeue(self, postino, outbox, rest):
        name = f"{uuid.uuid4().hex}.txt"
        identifier = rest.accept_one(payload(attachments=[name]))
        rest.await_status(identifier, "INVALID")
        (outbox.files / name).write_text("now")
        postino.succeed("emails", "requeue", identifier)
        rest.await_status(identifier, "SENT")
        assert postino.run("emails", "requeue", identifier).returncode == 1

    def test_retry(self, postino, rest, waiting):
        ended = postino.run("emails", "retry", waiting)
        assert ended.returncode == 1 and "is not to be sent before" in ended.stderr

    def test_found_by_tag(self, postino, rest):
        tag = uuid.uuid4().hex
        identifier = rest.accept_one(payload(tags=[tag]))
        assert [each["id"] for each in postino.json("emails", "list", "--tag", tag)["data"]] == [identifier]
        assert postino.succeed("emails", "payload", identifier).startswith("{")

    def test_counts(self, postino, rest, waiting):
        assert "READY" in postino.succeed("emails", "counts")
        # Others may still be on their way.
        eventually(lambda: postino.json("emails", "counts")["counts"] == rest.counts(), "the same counts")


class TestWhatComesBack:
    def test_suppressions_are_added_listed_and_removed(self, postino, rest):
        address = f"{uuid.uuid4().hex}@customer.example"
        assert f"suppressed {address}" in postino.succeed("suppressions", "add", address, "--reason", "asked to")
        assert f"{address}" in postino.succeed("suppressions", "list", "--all")
        postino.succeed("suppressions", "remove", address)
        ended = postino.run("suppressions", "remove", address)
        assert ended.returncode == 1 and address in ended.stderr

    def test_callbacks_are_listed_and_replayed(self, postino, rest):
        postino.succeed("callbacks", "list")
        identifier = rest.accept_one(payload())
        rest.await_status(identifier, "SENT")
        ended = postino.run("callbacks", "replay", identifier)
        assert ended.returncode == 1 and "was not given up" in ended.stderr

    def test_a_report_is_submitted(self, postino):
        ended = postino.run("bounces", "submit", "-", input="Subject: no report\n\nHello.\n")
        assert ended.returncode == 1 and ended.stderr


class TestMailbox:
    def test_list_show_and_clear(self, binary, start):
        server = start()
        rest, postino = server.rest(), Postino(binary, server.url)
        identifier = rest.accept_one(payload(subject="Příliš žluťoučký"))
        rest.await_status(identifier, "SENT")
        for command in (["mailbox"], ["mailbox", "list"]):
            listed = postino.succeed(*command)
            assert identifier in listed and "Příliš žluťoučký" in listed
        assert f"Message-ID: <{identifier}@shop.example>" in postino.succeed("mailbox", "show", identifier)
        assert postino.json("mailbox", "list")["data"][0]["id"] == identifier
        postino.succeed("mailbox", "clear")
        assert rest.fetch("/mailbox")["data"] == []
        assert postino.run("mailbox", "show", identifier).returncode == 1

    def test_what_is_in_mail_does_not_command_the_terminal(self, postino, rest):
        """A subject cannot have control characters, but it may look as if it had some, encoded."""
        identifier = rest.accept_one(payload(subject="=?utf-8?b?G1szMW1yZWQ=?="))
        rest.await_status(identifier, "SENT")
        for command in (["mailbox", "list"], ["emails", "list"], ["emails", "show", identifier]):
            shown = postino.succeed(*command)
            assert "\x1b" not in shown and "\x9b" not in shown, command


class TestKeys:
    SECRET = "secret-of-the-command-line"

    def test_key_is_given_as_flag_or_variable(self, binary, start):
        server = start("--api-key", f"cli:operator:{self.SECRET}")
        postino = Postino(binary, server.url)
        assert postino.run("emails", "counts").returncode == 1
        assert postino.run("emails", "counts", "--key", "wrong-secret-0123456789").returncode == 1
        assert postino.run("emails", "counts", "--key", self.SECRET).returncode == 0
        assert postino.run("emails", "counts", POSTINO_API_KEY=self.SECRET).returncode == 0
        refused = postino.run("emails", "counts", "--key", "wrong-secret-0123456789")
        assert "wrong-secret" not in refused.stdout + refused.stderr


class TestSessions:
    # Of the reference implementation of argon2id, for "password".
    HASH = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    SECRET = "secret-of-the-command-line"

    @pytest.fixture
    def signing(self, binary, start):
        users = [f"{name}:operator:{self.HASH}" for name in ("anna", "otto")]
        server = start("--user", users[0], "--user", users[1], "--api-key", f"cli:operator:{self.SECRET}")
        return Postino(binary, server.url)

    def test_a_token_is_printed_and_used_until_its_end(self, signing):
        token = signing.succeed("sessions", "sign-in", "--user", "anna", input="password\n").strip()
        (session,) = json.loads(signing.succeed("sessions", "list", "--json", POSTINO_API_KEY=token))["data"]
        shown = signing.succeed("sessions", "list-of", "anna", POSTINO_API_KEY=token)
        assert session["id"] in shown and "SESSION" in shown and "127.0.0.1" in shown
        assert "removed  1" in signing.succeed("sessions", "end-all", POSTINO_API_KEY=token)
        ended = signing.run("sessions", "list", POSTINO_API_KEY=token)
        assert ended.returncode == 1
        assert ended.stderr == "postino: The session has ended. Sign in again with: postino sessions sign-in\n"

    def test_a_user_without_sessions_has_none(self, signing):
        ended = signing.run("sessions", "list-of", "otto", "--key", self.SECRET)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "None found.\n")
        unknown = signing.run("sessions", "list-of", "karl", "--key", self.SECRET)
        assert unknown.returncode == 1 and "No user and no API key has this name" in unknown.stderr

    def test_what_is_wrong_is_said_plainly(self, signing):
        for user in ("anna", "karl"):
            ended = signing.run("sessions", "sign-in", "--user", user, input="passwort\n")
            assert (ended.returncode, ended.stdout) == (1, "")
            assert ended.stderr == "postino: the name of the user or the password is wrong\n"
        ended = signing.run("sessions", "sign-in", "--key", "wrong-secret-0123456789")
        assert (ended.returncode, ended.stderr) == (1, "postino: the API key is wrong\n")
        ended = signing.run("sessions", "sign-in", "--user", "anna", input="")
        assert (ended.returncode, ended.stderr) == (1, "postino: there is no password on the standard input\n")

    def test_what_the_server_refuses_is_no_misuse(self, signing):
        for command in (["--item-bytes", "1"], ["prices"]):
            ended = signing.run("capacity", *command, "--server")
            assert ended.returncode == 1 and "A valid API key is required" in ended.stderr, ended


def test_an_empty_list_says_so(postino):
    ended = postino.run("emails", "list", "--status", "HELD")
    assert ended.returncode == 0 and ended.stderr == "None found.\n"
