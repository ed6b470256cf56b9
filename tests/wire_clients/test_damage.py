"""A damaged store is refused with a message that helps; postino check finds the damage, and postino repair mends it."""

import json
import os
import subprocess

import pytest

from conftest import BINARY
from postino_server import PATIENCE_SECONDS
from tables import create_table
from wire import Refused, Wire

ITEMS = 200


def postino(*arguments, **environment):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                          env=os.environ | environment)


def fill(server):
    wire = Wire(server)
    create_table(wire, name="letters")
    for number in range(ITEMS):
        wire.call("PutItem", TableName="letters", Item={"pk": {"S": str(number)}, "text": {"S": "x" * 500}})


def count(server):
    return Wire(server).call("Scan", TableName="letters", Select="COUNT", ConsistentRead=True)["Count"]


@pytest.fixture
def crashed(start_server, data_directory):
    """The data of a server that was killed: everything is in the log."""
    server = start_server()
    fill(server)
    server.kill()
    return data_directory / "data"


def get(server, path):
    answer = Wire(server).send({}, method="GET", path=path)
    return answer.status, answer.body.decode()


def newest_log(data):
    return max((data / "store").glob("*.log"))


def test_damage_in_the_log_is_refused_and_repaired(start_server, crashed):
    log = newest_log(crashed)
    contents = bytearray(log.read_bytes())
    contents[len(contents) // 2] ^= 4
    log.write_bytes(contents)

    refused = postino("serve", "--data", crashed, "--dynamodb", "127.0.0.1:0", "--no-outbox")
    assert refused.returncode == 1
    assert log.name in refused.stderr and "postino repair" in refused.stderr
    assert log.read_bytes() == contents

    checked = postino("check", "--data", crashed)
    assert checked.returncode == 1 and log.name in checked.stdout
    repaired = json.loads(postino("repair", "--data", crashed, "--json").stdout)
    assert repaired["needed"] and repaired["lost_count"] == 1
    assert postino("check", "--data", crashed).returncode == 0
    with start_server() as server:
        assert count(server) == ITEMS - 1
        in_use = postino("check", "--data", crashed)
        assert in_use.returncode == 1 and "stop the postino serve" in in_use.stderr


def test_a_repair_that_cannot_count_anew_says_so_and_is_finished_later(start_server, data_directory):
    server = start_server()
    fill(server)
    wire = Wire(server)
    wire.call("CreateTable", TableName="messages", BillingMode="PAY_PER_REQUEST",
              AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("Shelf", "Position")],
              KeySchema=[{"AttributeName": "Shelf", "KeyType": "HASH"},
                         {"AttributeName": "Position", "KeyType": "RANGE"}])
    for number in range(3):
        wire.call("PutItem", TableName="messages",
                  Item={"Shelf": {"S": "ready/q"}, "Position": {"S": f"1767323045000-00000{number}-00000000"}})
    server.kill()
    data = data_directory / "data"
    log = newest_log(data)
    contents = bytearray(log.read_bytes())
    contents[len(contents) // 2] ^= 4
    log.write_bytes(contents)

    # With so much to be kept free, nothing can be written.
    repaired = postino("repair", "--data", data, "--json", POSTINO_RESERVE_MB="1000000000")
    assert repaired.returncode == 4, repaired.stderr
    answer = json.loads(repaired.stdout)
    assert answer["lost_count"] == 1 and not answer["recounted"]
    assert "counted again" in answer["unfinished"]
    assert "The repaired store is in its place" in repaired.stderr and "postino repair" in repaired.stderr
    checked = json.loads(postino("check", "--data", data, "--json").stdout)
    assert checked["sound"] and "RECOUNT" in checked["notes"][0]

    finished = postino("repair", "--data", data)
    assert finished.returncode == 0, finished.stderr
    assert "counted again" in finished.stdout and "the store is sound" in finished.stdout
    assert not json.loads(postino("check", "--data", data, "--json").stdout)["notes"]
    with start_server() as server:
        counts = Wire(server).call("GetItem", TableName="messages", ConsistentRead=True,
                                   Key={"Shelf": {"S": "counts/q"}, "Position": {"S": "0"}})["Item"]
        assert counts["Ready"] == {"N": "3"}


def test_wrong_counts_are_found_and_counted_anew(start_server, data_directory):
    with start_server() as server:
        wire = Wire(server)
        wire.call("CreateTable", TableName="messages", BillingMode="PAY_PER_REQUEST",
                  AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("Shelf", "Position")],
                  KeySchema=[{"AttributeName": "Shelf", "KeyType": "HASH"},
                             {"AttributeName": "Position", "KeyType": "RANGE"}])
        wire.call("PutItem", TableName="messages",
                  Item={"Shelf": {"S": "ready/q"}, "Position": {"S": "1767323045000-000000-00000000"}})
        wire.call("PutItem", TableName="messages",
                  Item={"Shelf": {"S": "counts/q"}, "Position": {"S": "0"}, "Ready": {"N": "1.5"}})
        wire.call("PutItem", TableName="messages",
                  Item={"Shelf": {"S": "counts/q"}, "Position": {"S": "1"}, "Ready": {"N": "1"}})
    data = data_directory / "data"
    checked = postino("check", "--data", data)
    assert checked.returncode == 1 and "counts of queue q: Ready is no whole number" in checked.stdout
    repaired = json.loads(postino("repair", "--data", data, "--json").stdout)
    assert repaired["recounted"] and not repaired["needed"] and not repaired["kept_in"]
    assert repaired["problems"] == ["counts of queue q: Ready is no whole number"]
    checked = postino("check", "--data", data)
    assert checked.returncode == 0, checked.stdout
    counts = json.loads(postino("check", "--data", data, "--json").stdout)["counts"]
    assert repaired["saved"] == counts, "what is there after counting"
    again = postino("repair", "--data", data)
    assert again.returncode == 0 and "nothing to do" in again.stdout


def test_a_missing_log_is_refused(crashed):
    log = newest_log(crashed)
    log.unlink()
    refused = postino("serve", "--data", crashed, "--dynamodb", "127.0.0.1:0", "--no-outbox")
    assert refused.returncode == 1 and f"{log.name}: is missing" in refused.stderr


def test_a_torn_end_of_the_log_heals(start_server, crashed):
    log = newest_log(crashed)
    log.write_bytes(log.read_bytes()[:-100])
    with start_server() as server:
        assert count(server) == ITEMS - 1


def test_data_is_private(crashed):
    for path in (crashed, *crashed.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_full_disk_is_reported(start_server):
    with start_server() as server:
        fill(server)
        assert get(server, "/readyz") == (200, "ready\n")
        assert 'postino_store_writes_refused{reason="disk_full"} 0' in get(server, "/metrics")[1]
    with start_server("--reserve-mb", "1000000000") as server:
        wire = Wire(server)
        assert count(server) == ITEMS
        with pytest.raises(Refused, match="writes are refused until there is more"):
            wire.call("PutItem", TableName="letters", Item={"pk": {"S": "one more"}})
        status, text = get(server, "/readyz")
        assert status == 503 and "writes are refused: the disk of the data directory has less than" in text
        assert 'postino_store_writes_refused{reason="disk_full"} 1' in get(server, "/metrics")[1]
