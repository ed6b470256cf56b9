"""Servers that share e-mails must share the spool, too: one with another spool is refused. E-mails whose contents are not
there are waited for, not failed."""

import re
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

from payloads import payload
from waiting import PATIENCE_SECONDS, eventually

TIMES = ["--retry-first", "100ms", "--retry-longest", "200ms"]


def refused(binary, data, *flags):
    command = [binary, "serve", "--data", data, "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0", *flags]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode != 0
    return ended.stderr


@pytest.mark.remote_only
def test_a_server_with_another_spool_is_refused(start, binary, ledger, directory):
    shared, other = directory / "shared", directory / "other"
    flags = ledger.flags(directory / "data")

    def send_through(server):
        server.rest().await_status(server.rest().accept_one(payload()), "SENT")

    first = start("--spool", shared)
    send_through(first)
    for name, spool in {"second": ["--spool", other], "third": []}.items():
        text = refused(binary, directory / name, *flags, *spool)
        assert str(shared) in text and "Give all servers the same --spool" in text, text
    send_through(start("--spool", shared))
    replaced = re.search("--spool-replaces ([0-9a-f-]{36})", text)[1]
    moved = start("--spool", other, "--spool-replaces", replaced)
    send_through(moved)
    assert str(other) in refused(binary, directory / "fourth", *flags, "--spool", shared), "it is noted"
    send_through(start("--spool", other))
    eventually(lambda: str(other) in first.readiness()[1], "a server that was there before notices")
    assert first.readiness()[0] == 503


def test_contents_that_are_not_there_are_awaited(start, directory):
    spool = directory / "spool"
    server = start("--spool", spool, *TIMES)
    soon = datetime.now(timezone.utc) + timedelta(seconds=2)
    identifier = server.rest().accept_one(payload(send_at=soon.isoformat()))
    [message] = eventually(lambda: list(spool.rglob("*.eml")), "the message")
    hidden = message.rename(directory / "hidden")
    eventually(lambda: "waits for contents" in server.readiness()[1], "readiness that tells of it")
    status, text = server.readiness()
    assert status == 200 and identifier in text
    assert not {"FAILED", "INVALID"} & set(server.rest().states(identifier))
    hidden.rename(message)
    server.rest().await_status(identifier, "SENT")
    assert "waits for contents" not in server.readiness()[1]
