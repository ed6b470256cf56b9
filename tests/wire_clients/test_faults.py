"""Faults on purpose, capacity that is enforced, and the timing of the real service."""

import subprocess
import time

import pytest

from conftest import BINARY
from expectations import eventually, refused
from postino_server import PATIENCE_SECONDS
from tables import create_table, table_request
from wire import Refused, Wire

THROTTLED = {
    "ProvisionedThroughputExceededException": (
        "The level of configured provisioned throughput for the table was exceeded. Consider increasing your "
        "provisioning level with the UpdateTable API."
    ),
    "ThrottlingException": (
        "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table "
        "or index so please try again shortly. If exceptions persist, check if you have a hot key: "
        "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
    ),
}


@pytest.fixture
def table(start_server):
    """A table in the data that the test's own servers use, made before they are made to fail."""
    with start_server() as server:
        wire = Wire(server)
        name = create_table(wire, name="victim")
        wire.close()
    return name


def put(client, table, key):
    return client.put_item(TableName=table, Item={"pk": {"S": key}})


def test_throttled_requests_are_refused(start_server, connect, table):
    with start_server("--inject", "throttle=1.0") as server:
        client = connect(server)
        for request in (
            lambda: put(client, table, "a"),
            lambda: client.get_item(TableName=table, Key={"pk": {"S": "a"}}),
            lambda: client.scan(TableName=table),
        ):
            with pytest.raises(client.exceptions.ClientError) as failure:
                request()
            error = failure.value.response["Error"]
            assert error["Message"] == THROTTLED[error["Code"]]
            assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_sdk_that_tries_again_gets_through_throttling_and_errors(start_server, connect, table):
    with start_server("--inject", "throttle=0.1,error=0.1") as server:
        client = connect(server, attempts=20)
        for number in range(40):
            put(client, table, str(number))
        assert client.scan(TableName=table, Select="COUNT", ConsistentRead=True)["Count"] == 40


def test_injected_error_is_one_of_the_service(start_server, connect, table):
    with start_server("--inject", "error=1.0") as server:
        client = connect(server)
        with pytest.raises(client.exceptions.InternalServerError) as failure:
            put(client, table, "a")
        assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    with start_server() as server:
        assert connect(server).scan(TableName=table)["Count"] == 0


def test_injected_latency_delays_answers(start_server, connect, table):
    with start_server("--inject", "latency=200ms") as server:
        client = connect(server)
        start = time.monotonic()
        put(client, table, "a")
        assert time.monotonic() - start >= 0.2


def test_faulty_injection_is_refused(data_directory):
    for text in ("throttle=2", "nonsense=1", "throttle"):
        command = [BINARY, "serve", "--data", str(data_directory / "data"), "--dynamodb", "127.0.0.1:0", "--no-outbox"]
        ended = subprocess.run([*command, "--inject", text], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert ended.returncode != 0, text
        assert "postino: " in ended.stderr


# ---- capacity


def test_provisioned_throughput_is_enforced(start_server):
    with start_server("--enforce-throughput") as server:
        wire = Wire(server)
        throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
        table = create_table(wire, BillingMode="PROVISIONED", ProvisionedThroughput=throughput)
        free = create_table(wire)
        item = {"pk": {"S": "a"}, "pad": {"S": "x" * 100_000}}  # 98 units a write, where 300 can be saved up
        message = THROTTLED["ProvisionedThroughputExceededException"]
        with refused("ProvisionedThroughputExceededException", message) as seen:
            for _ in range(10):
                wire.call("PutItem", TableName=table, Item=item)
        (reason,) = seen.body["ThrottlingReasons"]
        assert reason["reason"] == "TableWriteProvisionedThroughputExceeded"
        assert reason["resource"].endswith(f":table/{table}")
        with refused("ProvisionedThroughputExceededException", message):
            for _ in range(100):
                wire.call("GetItem", TableName=table, Key={"pk": {"S": "a"}}, ConsistentRead=True)
        for _ in range(10):
            wire.call("PutItem", TableName=free, Item=item)
        wire.close()


def test_throughput_is_not_enforced_unasked(wire, new_table):
    throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    table = new_table("pk:S", BillingMode="PROVISIONED", ProvisionedThroughput=throughput)
    for number in range(20):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": str(number)}, "pad": {"S": "x" * 100_000}})


# ---- timing


def test_realistic_timing_makes_tables_wait(start_server):
    with start_server("--realistic-timing") as server:
        wire = Wire(server)
        request = table_request("pk:S", name="slow")
        assert wire.call("CreateTable", request)["TableDescription"]["TableStatus"] == "CREATING"
        assert wire.call("DescribeTable", TableName="slow")["Table"]["TableStatus"] == "CREATING"
        with refused("ResourceNotFoundException", "Requested resource not found"):
            wire.call("PutItem", TableName="slow", Item={"pk": {"S": "a"}})
        with refused(
            "ResourceInUseException",
            "Attempt to change a resource which is still in use: Table is being created: slow",
        ):
            wire.call("DeleteTable", TableName="slow")
        eventually(lambda: wire.call("DescribeTable", TableName="slow")["Table"]["TableStatus"] == "ACTIVE")
        wire.call("PutItem", TableName="slow", Item={"pk": {"S": "a"}})
        assert wire.call("DeleteTable", TableName="slow")["TableDescription"]["TableStatus"] == "DELETING"
        assert wire.call("ListTables")["TableNames"] == ["slow"]

        def gone():
            try:
                wire.call("DescribeTable", TableName="slow")
            except Refused as refusal:
                return refusal.code == "ResourceNotFoundException"

        eventually(gone)
        wire.close()
