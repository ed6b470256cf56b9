"""Payloads and messages in a bucket that servers share: each reads what the other has written. While the bucket is away,
nothing is accepted that could not be sent, what was accepted waits, and all goes on when it is back."""

from datetime import datetime, timedelta, timezone

import pytest

from bucket_server import BUCKET, bucket_server
from payloads import payload
from recording_smtp import RecordingSmtp
from waiting import eventually

pytestmark = pytest.mark.remote_only

TIMES = ["--retry-first", "100ms", "--retry-longest", "200ms"]


def test_servers_share_a_bucket_and_wait_for_it(start):
    with RecordingSmtp() as relay, bucket_server() as bucket:
        one, other = (start("--smtp", relay.address, *bucket.flags, *TIMES) for _ in range(2))
        ids = [server.rest().accept_one(payload()) for server in (one, other)]
        for identifier in ids:
            other.rest().await_status(identifier, "SENT")
        assert other.rest().get(f"/emails/{ids[0]}/message").status == 200, "written by the other server"

        soon = datetime.now(timezone.utc) + timedelta(seconds=2)
        ids.append(one.rest().accept_one(payload(send_at=soon.isoformat())))
        bucket.be_there(False)
        refused = eventually(lambda: (got := one.rest().post("/emails", {"data": [payload()]})).status == 503 and got)
        assert refused.problem["code"] == "STORE_UNAVAILABLE"
        eventually(lambda: BUCKET in one.readiness()[1], "readiness that names the bucket")
        assert "SENT" not in one.rest().states(ids[2]), "it waits"
        bucket.be_there(True)
        other.rest().await_status(ids[2], "SENT")
        taken = eventually(lambda: (got := one.rest().post("/emails", {"data": [payload()]})).status == 201 and got)
        ids.append(taken.json["results"][0]["id"])
        one.rest().await_status(ids[3], "SENT")
        assert sorted(mail.id for mail in relay.arrived) == sorted(ids), "each once"
