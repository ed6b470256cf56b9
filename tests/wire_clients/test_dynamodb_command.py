"""postino dynamodb: the store alone, in the place of DynamoDB Local, with its flags and habits."""

import os
import subprocess
import urllib.request

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from conftest import BINARY
from postino_server import PATIENCE_SECONDS, Server


class DynamodbServer(Server):
    def command(self, data):
        return ["dynamodb", "-port", "0", *([] if data == "None" else ["-dbPath", data])]


@pytest.fixture
def start_dynamodb(data_directory):
    started = []

    def start(*flags, data=data_directory / "tables"):
        started.append(DynamodbServer(BINARY, data, *flags))
        return started[-1]

    yield start
    for server in started:
        server.kill()


def client_of(server, key="local", region="us-east-1", secret="local", service="dynamodb"):
    return boto3.client(
        service,
        endpoint_url=server.endpoint,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )


def create(client, name):
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )


def tables(client):
    return client.list_tables()["TableNames"]


def misuse(*flags):
    ended = subprocess.run(
        [BINARY, "dynamodb", *flags], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert ended.returncode == 2, ended
    return ended.stderr


def test_there_are_no_tables_of_services(start_dynamodb):
    with start_dynamodb() as server:
        assert tables(client_of(server)) == []


def test_each_region_and_access_key_has_tables_of_its_own(start_dynamodb, data_directory):
    with start_dynamodb() as server:
        create(client_of(server), "one")
        create(client_of(server, key="other"), "two")
        create(client_of(server, region="eu-west-1"), "three")
        assert tables(client_of(server)) == ["one"]
        assert tables(client_of(server, key="other")) == ["two"]
        europe = client_of(server, region="eu-west-1")
        assert tables(europe) == ["three"]
        arn = europe.describe_table(TableName="three")["Table"]["TableArn"]
        assert arn == "arn:aws:dynamodb:eu-west-1:000000000000:table/three"
    names = sorted(each.name for each in (data_directory / "tables").iterdir())
    assert names == ["local_eu-west-1", "local_us-east-1", "other_us-east-1"]
    with start_dynamodb() as server:
        assert tables(client_of(server, key="other")) == ["two"]


def test_a_shared_database_is_one_for_all(start_dynamodb, data_directory):
    with start_dynamodb("-sharedDb") as server:
        create(client_of(server), "one")
        assert tables(client_of(server, key="other", region="eu-west-1")) == ["one"]
    assert [each.name for each in (data_directory / "tables").iterdir()] == ["shared-local-instance"]


def test_in_memory_nothing_stays(start_dynamodb, data_directory):
    for flag in ("-inMemory", "--inMemory"):
        with start_dynamodb(flag, data=None) as server:
            create(client_of(server), "one")
            client_of(server).put_item(TableName="one", Item={"pk": {"S": "a"}})
            assert client_of(server).scan(TableName="one")["Count"] == 1
        with start_dynamodb(flag, data=None) as server:
            assert tables(client_of(server)) == []
    assert not os.listdir(data_directory)


def test_more_sets_than_are_open_at_a_time(start_dynamodb):
    """As of a test suite that makes up an access key for each test."""
    with start_dynamodb() as server:
        for number in range(40):
            create(client_of(server, key=f"key{number}"), f"table{number}")
        for number in (0, 20, 39):
            assert tables(client_of(server, key=f"key{number}")) == [f"table{number}"]


def test_streams_are_those_of_the_caller(start_dynamodb):
    with start_dynamodb() as server:
        client = client_of(server)
        create(client, "one")
        client.update_table(
            TableName="one", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        )
        assert len(client_of(server, service="dynamodbstreams").list_streams()["Streams"]) == 1
        assert client_of(server, key="other", service="dynamodbstreams").list_streams()["Streams"] == []


def test_states_take_their_time_if_they_shall(start_dynamodb):
    with start_dynamodb("-delayTransientStatuses") as server:
        client = client_of(server)
        create(client, "one")
        assert client.describe_table(TableName="one")["Table"]["TableStatus"] == "CREATING"


def test_it_says_how_it_is(start_dynamodb):
    with start_dynamodb() as server:
        for path, text in (("/readyz", "ready"), ("/healthz", "ok"), ("/metrics", "process_"), ("/", "healthy")):
            with urllib.request.urlopen(server.endpoint + path, timeout=PATIENCE_SECONDS) as answer:
                assert text in answer.read().decode()


def test_only_pages_of_named_origins_may_call(start_dynamodb):
    def origins_of(answer):
        return answer.headers.get("Access-Control-Allow-Origin")

    with start_dynamodb("-cors", "http://localhost:3000,https://app.example") as server:
        for origin, status in (("https://app.example", 200), ("https://evil.example", 403)):
            asked = urllib.request.Request(
                server.endpoint,
                method="OPTIONS",
                headers={"Origin": origin, "Access-Control-Request-Method": "POST"},
            )
            try:
                with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as answer:
                    assert (answer.status, origins_of(answer)) == (status, origin)
            except urllib.error.HTTPError as refusal:
                assert (refusal.code, origins_of(refusal)) == (status, None)
    assert "must be an origin" in misuse("-cors", "*")


def test_strangers_open_nothing(start_dynamodb, data_directory):
    with start_dynamodb() as server:
        asked = urllib.request.Request(
            server.endpoint,
            data=b"{}",
            headers={
                "Origin": "https://evil.example",
                "Content-Type": "application/x-amz-json-1.0",
                "X-Amz-Target": "DynamoDB_20120810.ListTables",
                "X-Amz-Date": "20260102T030405Z",
                "Authorization": "AWS4-HMAC-SHA256 Credential=local/20260102/us-east-1/dynamodb/aws4_request, "
                "SignedHeaders=host;x-amz-date, Signature=00",
            },
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS)
        assert refused.value.code == 403
    assert not os.listdir(data_directory / "tables")


def test_other_machines_need_a_key(start_dynamodb):
    assert "requests must be signed" in misuse("-host", "0.0.0.0")
    with start_dynamodb("-accessKey", "mine:secret") as server:
        assert tables(client_of(server, key="mine", secret="secret")) == []
        for key, secret in (("mine", "wrong"), ("other", "secret")):
            with pytest.raises(ClientError) as refused:
                tables(client_of(server, key=key, secret=secret))
            assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_flags_that_contradict_each_other_are_refused():
    assert "cannot be used together" in misuse("-inMemory", "-dbPath", "somewhere")
    assert "unknown argument: --sharedDB" in misuse("-sharedDB")
    assert "-host and -port" in misuse("-port", "many")


def test_what_dynamodb_local_also_takes_is_accepted(start_dynamodb):
    with start_dynamodb("-optimizeDbBeforeStartup", "-disableTelemetry", "-sharedDb", "-cors", "http://localhost") as server:
        assert tables(client_of(server)) == []
