"""The AWS command line against the server: a script's worth of commands, one after the other."""

import json
import subprocess

import pytest

from postino_server import PATIENCE_SECONDS
from tables import fresh_name


@pytest.fixture(scope="module")
def aws(server):
    def run(service, *arguments):
        command = ["/usr/bin/aws", "--endpoint-url", server.endpoint, "--output", "json", service, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    def succeed(service, *arguments):
        ended = run(service, *arguments)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout) if ended.stdout else {}

    succeed.run = run
    return succeed


@pytest.fixture(scope="module")
def table(aws):
    name = fresh_name("music")
    created = aws(
        "dynamodb",
        "create-table",
        "--table-name",
        name,
        "--attribute-definitions",
        "AttributeName=artist,AttributeType=S",
        "AttributeName=song,AttributeType=S",
        "--key-schema",
        "AttributeName=artist,KeyType=HASH",
        "AttributeName=song,KeyType=RANGE",
        "--billing-mode",
        "PAY_PER_REQUEST",
        "--stream-specification",
        "StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES",
    )
    assert created["TableDescription"]["TableName"] == name
    aws("dynamodb", "wait", "table-exists", "--table-name", name)
    return name


def item(song, **more):
    return json.dumps({"artist": {"S": "Nobody"}, "song": {"S": song}, **more})


def test_table_is_listed_and_described(aws, table):
    assert table in aws("dynamodb", "list-tables")["TableNames"]
    assert aws("dynamodb", "describe-table", "--table-name", table)["Table"]["TableStatus"] == "ACTIVE"


def test_items_are_put_updated_queried_and_deleted(aws, table):
    for song, year in (("One", "1971"), ("Two", "1972")):
        aws("dynamodb", "put-item", "--table-name", table, "--item", item(song, year={"N": year}))
    updated = aws(
        "dynamodb",
        "update-item",
        "--table-name",
        table,
        "--key",
        item("One"),
        "--update-expression",
        "ADD plays :one",
        "--expression-attribute-values",
        '{":one": {"N": "1"}}',
        "--return-values",
        "UPDATED_NEW",
    )
    assert updated == {"Attributes": {"plays": {"N": "1"}}}
    found = aws(
        "dynamodb",
        "query",
        "--table-name",
        table,
        "--key-condition-expression",
        "artist = :a and begins_with(song, :s)",
        "--expression-attribute-values",
        '{":a": {"S": "Nobody"}, ":s": {"S": "O"}}',
    )
    assert found["Items"] == [
        {"artist": {"S": "Nobody"}, "song": {"S": "One"}, "year": {"N": "1971"}, "plays": {"N": "1"}}
    ]
    aws("dynamodb", "delete-item", "--table-name", table, "--key", item("Two"))
    assert aws("dynamodb", "scan", "--table-name", table, "--select", "COUNT")["Count"] == 1


def test_transaction_and_statement(aws, table):
    actions = [{"Put": {"TableName": table, "Item": json.loads(item(song))}} for song in ("Three", "Four")]
    aws("dynamodb", "transact-write-items", "--transact-items", json.dumps(actions))
    statement = f"SELECT song FROM \"{table}\" WHERE artist = 'Nobody' AND begins_with(song, 'T')"
    assert aws("dynamodb", "execute-statement", "--statement", statement)["Items"] == [{"song": {"S": "Three"}}]


def test_stream_is_read(aws, table):
    aws("dynamodb", "put-item", "--table-name", table, "--item", item("Streamed"))
    (stream,) = aws("dynamodbstreams", "list-streams", "--table-name", table)["Streams"]
    arn = ["--stream-arn", stream["StreamArn"]]
    shard = aws("dynamodbstreams", "describe-stream", *arn)["StreamDescription"]["Shards"][0]["ShardId"]
    position = aws(
        "dynamodbstreams", "get-shard-iterator", *arn, "--shard-id", shard, "--shard-iterator-type", "TRIM_HORIZON"
    )["ShardIterator"]
    records = aws("dynamodbstreams", "get-records", "--shard-iterator", position)["Records"]
    assert "Streamed" in [record["dynamodb"]["Keys"]["song"]["S"] for record in records]


def test_error_is_shown(aws, table):
    condition = ["--condition-expression", "attribute_exists(artist)"]
    ended = aws.run("dynamodb", "put-item", "--table-name", table, "--item", item("Never"), *condition)
    assert ended.returncode != 0
    assert (
        "An error occurred (ConditionalCheckFailedException) when calling the PutItem operation: "
        "The conditional request failed"
    ) in ended.stderr
