"""Servers that share a store on another machine: here it is another Postino, by DynamoDB's API."""

import subprocess
import urllib.error
import urllib.request

import pytest

from iam_proxy import IamProxy
from ledgers import shared_store_flags
from outbox_server import OutboxServer
from payloads import payload
from postino_server import Server
from store import delete_table, dynamodb
from waiting import PATIENCE_SECONDS, eventually, free_port

pytestmark = pytest.mark.store_only

KEY_ID, SECRET = "AKIASHARED", "a-secret-of-the-store"


class Store(Server):
    """What stands for Amazon DynamoDB. It keeps its port when it is started again."""

    ended_on_purpose = False

    def __init__(self, binary, data, port):
        super().__init__(binary, data, "--access-key", f"{KEY_ID}:{SECRET}", "--dynamodb", f"127.0.0.1:{port}")

    @property
    def flags(self):
        return remote_flags(self.port)


def remote_flags(port, secret=SECRET):
    keys = ["--store-key-id", KEY_ID, "--store-secret", secret]
    return ["--store", "dynamodb", "--store-endpoint", f"http://127.0.0.1:{port}", "--store-timeout", "2s", *keys]


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def shared(directory):
    """Flags of all servers but those of the store: what they put into files, too, they share."""
    return ["--objects", str(directory / "objects")]


@pytest.fixture
def store(binary, directory, port):
    started = Store(binary, directory / "store", port)
    yield started
    started.kill()


def answer(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_what_one_server_takes_another_shows(binary, directory, store, shared):
    with OutboxServer(binary, directory / "one", *store.flags, *shared) as one:
        with OutboxServer(binary, directory / "two", *store.flags, *shared) as two:
            key = {"Idempotency-Key": "once"}
            [email] = one.rest().accept(payload(), headers=key)
            assert two.rest().accept(payload(), headers=key) == [email], "they share their keys"
            eventually(lambda: "SENT" in two.rest().states(email), "the e-mail at the other")
            message = {"target": {"queueName": "q"}, "messages": [{"body": "x"}]}
            assert one.rest().request("POST", "/messages/produce", message, {"Idempotency-Key": "m"}).status == 200
            assert two.rest().get("/messages/queues/q/depth").json["depth"] == 1, "and their queues"
            metrics = answer(one.url + "/metrics")[1]
            assert 'postino_store_requests_total{operation="TransactWriteItems"' in metrics
            assert "postino_store_write_units_total{" in metrics
            assert SECRET not in metrics
    assert not (directory / "one").exists(), "nothing is kept on the disk of a server"
    assert SECRET not in one.whole_log()


def test_its_own_api_passes_calls_on(binary, directory, store, shared):
    with OutboxServer(binary, directory / "one", *store.flags, *shared) as one:
        tables = dynamodb(one).list_tables()["TableNames"]
        assert {"email-outbox", "EmailTrackingTable-audit", "prod-tickets-unified"} <= set(tables)
        with pytest.raises(Exception, match="AccessDenied"):
            dynamodb(one, "resource").Table("EmailTrackingTable-audit").put_item(Item={"PK": "x", "SK": "y"})


def test_an_outage_is_told_and_ends_by_itself(binary, directory, store, port, shared):
    one = OutboxServer(binary, directory / "one", *store.flags, *shared)
    try:
        assert answer(one.url + "/readyz")[0] == 200
        store.stop()
        # The outbox may say that it cannot write before it is sure of the store.
        told = f"127.0.0.1:{port}"
        eventually(lambda: (found := answer(one.url + "/readyz"))[0] == 503 and told in found[1], "the outage")
        assert one.rest().post("/emails", {"data": [payload()]}).status == 503
        again = Store(binary, directory / "store", port)
        try:
            eventually(lambda: answer(one.url + "/readyz")[0] == 200, "the end of the outage")
            [email] = one.rest().accept(payload())
            eventually(lambda: "SENT" in one.rest().states(email), "the e-mail")
            assert one.stop() == 0
        finally:
            again.kill()
    finally:
        one.kill()


def test_a_server_waits_for_a_store_that_is_away_for_a_moment(binary, directory, port, shared):
    command = [binary, "serve", "--data", str(directory / "one"), "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    early = subprocess.Popen([*command, *remote_flags(port), *shared], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = iter(early.stdout.readline, "")
    try:
        assert any("waits for the store" in line for line in lines)
        with Store(binary, directory / "store", port):
            assert any("REST API: " in line for line in lines)
            early.terminate()
            early.communicate(timeout=PATIENCE_SECONDS)
        assert early.returncode == 0
    finally:
        early.kill()
        early.wait()


def test_a_server_that_waits_ends_when_it_is_told_to(binary, directory, port, shared):
    command = [binary, "serve", "--data", str(directory / "one"), "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    early = subprocess.Popen([*command, *remote_flags(port), *shared], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert any("waits for the store" in line for line in iter(early.stdout.readline, ""))
        early.terminate()
        told, _ = early.communicate(timeout=PATIENCE_SECONDS)
        assert early.returncode == 1 and "ended while it waited for the store" in told
    finally:
        early.kill()
        early.wait()


def test_keys_that_do_not_count_end_the_start(binary, directory, store, shared):
    command = [binary, "serve", "--data", str(directory / "one"), "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    flags = remote_flags(store.port, "another-secret")
    ended = subprocess.run([*command, *flags, *shared], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode == 1
    assert "cannot be used" in ended.stderr and "another-secret" not in ended.stdout + ended.stderr


def test_tables_are_planned_and_made_where_they_are(binary, store, shared):
    def tables(*words):
        command = [binary, "tables", *words, *store.flags, "--no-tickets"]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    planned = tables("plan")
    assert planned.returncode == 2 and "create table email-outbox\n" in planned.stdout, planned
    made = tables("apply")
    assert made.returncode == 0, made
    assert tables("plan").returncode == 0
    again = tables("apply")
    assert again.returncode == 0 and "nothing to do" in again.stdout, again


def test_a_table_that_was_lost_is_not_made_again_by_a_server(binary, directory):
    with Server(binary, directory / "open-store") as open_store:
        flags = shared_store_flags(open_store.endpoint, directory / "data")
        with OutboxServer(binary, directory / "data", *flags):
            pass
        delete_table(open_store, "email-outbox-suppressions")
        addresses = ["--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"]
        command = [binary, "serve", "--data", directory / "data", *addresses, *flags]
        refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert refused.returncode != 0
        assert "table email-outbox-suppressions is missing" in refused.stderr and "tables apply" in refused.stderr
        subprocess.run([binary, "tables", "apply", *flags], check=True, timeout=PATIENCE_SECONDS)
        with OutboxServer(binary, directory / "data", *flags) as server:
            assert server.rest().get("/suppressions").status == 200


@pytest.fixture
def guarded(binary, store, shared):
    """The store by the rights of the policy that a server needs; its tables are there."""
    made = subprocess.run([binary, "tables", "apply", *store.flags, *shared], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert made.returncode == 0, made
    command = [binary, "tables", "export", "--format", "iam", "--region", "us-east-1", "--account", "111122223333"]
    policy = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS).stdout
    with IamProxy(policy, store.port) as proxy:
        yield proxy


def test_a_server_needs_no_more_than_the_rights_of_its_policy(binary, directory, guarded, shared):
    """The samples are e-mails, messages, reminders and tickets that go all of their ways."""
    with OutboxServer(binary, directory / "one", *remote_flags(guarded.port), *shared, "--sample") as one:
        rest = one.rest()
        [email] = rest.accept(payload(), headers={"Idempotency-Key": "once"})
        eventually(lambda: "SENT" in rest.states(email), "the e-mail")
        assert rest.put("/suppressions/nobody@customer.example", {"reason": "asked"}).status == 204
        assert rest.get("/suppressions").status == 200 and rest.delete("/suppressions/nobody@customer.example").status == 204
        assert rest.get("/emails").status == 200 and rest.get("/mailbox").status == 200
        details = {"customer_name": "Ada", "customer_email": "ada@customer.example"}
        assert rest.put("/reminders/customers/c1", details).status == 200
        assert rest.get("/reminders/audit").status == 200
        observed = rest.get("/capacity/observed")
        assert observed.status == 200, observed
        found = {(each["service"], each["operation"]) for each in observed.json["services"]}
        assert {("outbox", "TransactWriteItems"), ("tickets", "Query")} <= found, found
        assert 'postino_store_cost_dollars_total{service="outbox",operation="TransactWriteItems"}' in answer(one.url + "/metrics")[1]
        eventually(lambda: ("GetRecords", "*") in guarded.used, "a follower of a stream")
        assert answer(one.url + "/readyz") == (200, "ready\n")
    assert not guarded.refused
    assert ("PutItem", "table/EmailTrackingTable-audit") in guarded.used
    assert ("UpdateItem", "table/EmailTrackingTable-audit") not in guarded.used


def test_rights_that_are_taken_away_are_told_and_come_back(binary, directory, guarded, shared):
    with OutboxServer(binary, directory / "one", *remote_flags(guarded.port), *shared) as one:
        assert answer(one.url + "/readyz")[0] == 200
        guarded.is_detached = True
        # Other parts may say before that what they cannot do.
        told = eventually(
            lambda: (found := answer(one.url + "/readyz"))[0] == 503 and "does not allow" in found[1] and found[1], "the trouble"
        )
        assert " of table " in told and "postino tables export --format iam" in told, told
        metrics = answer(one.url + "/metrics")[1]
        failures = [line for line in metrics.splitlines() if line.startswith("postino_store_failures_total{") and not line.endswith(" 0")]
        assert failures, metrics
        guarded.is_detached = False
        eventually(lambda: answer(one.url + "/readyz")[0] == 200, "that rights are there again")
        [email] = one.rest().accept(payload())
        eventually(lambda: "SENT" in one.rest().states(email), "the e-mail")


def test_change_streams_that_cannot_be_read_keep_no_callers_away(binary, directory, guarded, shared):
    with OutboxServer(binary, directory / "one", *remote_flags(guarded.port), *shared) as one:
        guarded.broken = {"DescribeStream", "GetShardIterator", "GetRecords"}
        told = eventually(lambda: "DynamoDB Streams" in (found := answer(one.url + "/readyz"))[1] and found, "the trouble")
        assert told[0] == 200 and told[1].startswith("ready, but "), told
        guarded.broken = set()
        eventually(lambda: "DynamoDB Streams" not in answer(one.url + "/readyz")[1], "its end")


def test_a_store_without_transactions_is_refused(binary, directory, guarded, shared):
    guarded.unknown = {"TransactWriteItems"}
    command = [binary, "serve", "--data", str(directory / "one"), "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    ended = subprocess.run([*command, *remote_flags(guarded.port), *shared], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode == 1
    assert "it has no transactions (TransactWriteItems)" in ended.stderr, ended
