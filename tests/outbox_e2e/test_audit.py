"""The audit of a server: it has what was done, whatever becomes of the server, and no caller changes it."""

import json
import subprocess

import pytest
from botocore.exceptions import ClientError

from outbox_server import OutboxServer
from store import dynamodb


EMAIL = {"from": "shop@example.com", "to": "ann@example.com", "subject": "Hello", "body_text": "Hello."}


def cli(binary, server, *arguments):
    return subprocess.run([binary, *arguments, "--url", server.url], capture_output=True, text=True)


def entries(binary, server, *filters):
    done = cli(binary, server, "audit", "list", "--all", "--json", *filters)
    assert done.returncode == 0, done.stderr
    return [entry for line in done.stdout.splitlines() for entry in json.loads(line)["data"]]


def make_table(client, name):
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def test_what_was_done_survives_kills(binary, directory):
    data = directory / "killed"
    told = []
    for round in range(3):
        server = OutboxServer(binary, data)
        client = dynamodb(server)
        make_table(client, f"table-{round}")
        client.delete_table(TableName=f"table-{round}")
        identifier = server.rest().accept_one(EMAIL)
        server.rest().post(f"/emails/{identifier}/cancel", {"reason": "mine"})  # it may be sent already, which is told as well
        server.kill()
        table = f"table-{round}"
        told += [("dynamodb:CreateTable", table), ("dynamodb:DeleteTable", table), ("cancelEmail", identifier)]
    with OutboxServer(binary, data) as server:
        allowed = reversed(entries(binary, server, "--result", "allowed"))
        assert [(each["action"], each["subject"]) for each in allowed if each["action"] != "audit.opened"] == told
        verified = cli(binary, server, "audit", "verify")
        assert verified.returncode == 0, verified.stdout + verified.stderr
        assert "nothing was changed or removed" in verified.stdout
        heads = verified.stdout.splitlines()[1:]
        assert len(heads) == 1, "each start goes on with the same chain"
        assert cli(binary, server, "audit", "verify", "--known", heads[0]).returncode == 0
        changed = heads[0][:-1] + ("0" if heads[0][-1] != "0" else "1")
        verified = cli(binary, server, "audit", "verify", "--known", changed)
        assert verified.returncode == 1 and "another one" in verified.stderr, verified


def test_no_caller_changes_it(binary, directory):
    with OutboxServer(binary, directory / "closed") as server:
        client = dynamodb(server)
        make_table(client, "mine")
        (item, *_) = [each for each in client.scan(TableName="postino-audit")["Items"] if "action" in each]
        key = {"PK": item["PK"], "SK": item["SK"]}
        attempts = [
            lambda: client.put_item(TableName="postino-audit", Item={**item, "actor": {"S": "otto"}}),
            lambda: client.delete_item(TableName="postino-audit", Key=key),
            lambda: client.update_item(TableName="postino-audit", Key=key, AttributeUpdates={}),
            lambda: client.delete_table(TableName="postino-audit"),
            lambda: client.update_time_to_live(
                TableName="postino-audit", TimeToLiveSpecification={"Enabled": False, "AttributeName": "ttl"}
            ),
        ]
        for attempt in attempts:
            with pytest.raises(ClientError, match="AccessDenied"):
                attempt()
        refused = entries(binary, server, "--result", "refused")
        assert {entry["action"] for entry in refused} == {
            "dynamodb:PutItem",
            "dynamodb:DeleteItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteTable",
            "dynamodb:UpdateTimeToLive",
        }
        assert cli(binary, server, "audit", "verify").returncode == 0


def test_without_it_there_is_no_table(binary, directory):
    with OutboxServer(binary, directory / "without", "--no-audit") as server:
        assert "postino-audit" not in dynamodb(server).list_tables()["TableNames"]
        assert server.rest().get("/audit").problem["code"] == "NO_AUDIT"
