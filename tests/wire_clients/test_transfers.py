"""Exports and imports of tables as boto3 and the AWS CLI use them."""

import base64
import gzip
import hashlib
import json
import subprocess
import time

import boto3
import pytest
from botocore.config import Config

from expectations import ANY_MESSAGE, eventually, invalid, refused
from postino_server import PATIENCE_SECONDS
from tables import fresh_name
from wire import Wire


@pytest.fixture
def lake(data_directory):
    bucket = data_directory / "buckets" / "lake"
    bucket.mkdir(parents=True)
    return bucket


@pytest.fixture
def exchange(start_server, lake):
    with start_server("--export-directory", str(lake.parent)) as server:
        yield server


def clients_of(server):
    access = {
        "endpoint_url": server.endpoint,
        "region_name": "us-east-1",
        "aws_access_key_id": "local",
        "aws_secret_access_key": "local",
        "config": Config(retries={"max_attempts": 1}),
    }
    return boto3.client("dynamodb", **access), boto3.resource("dynamodb", **access)


DEFINITION = {
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [
        {"AttributeName": "id", "AttributeType": "S"},
        {"AttributeName": "kind", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-kind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


def make_stock(client, resource):
    table = resource.create_table(TableName=fresh_name("stock"), **DEFINITION)
    client.update_continuous_backups(
        TableName=table.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    table.put_item(Item={"id": "a", "kind": "stamp", "sizes": {1, 2}, "raw": b"\0\1", "more": [None, True, {"x y": "z"}]})
    table.put_item(Item={"id": "b", "kind": "card", "text": 'line\n"quoted"'})
    return table


def exported(client, table, **options):
    arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
    export = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="lake", **options)["ExportDescription"]
    assert export["ExportStatus"] == "IN_PROGRESS"

    def description():
        return client.describe_export(ExportArn=export["ExportArn"])["ExportDescription"]

    eventually(lambda: description()["ExportStatus"] != "IN_PROGRESS")
    return description()


def imported(client, prefix, **options):
    name = fresh_name("imported")
    parameters = {"TableName": name, **DEFINITION}
    begun = client.import_table(
        S3BucketSource={"S3Bucket": "lake", "S3KeyPrefix": prefix}, TableCreationParameters=parameters, **options
    )["ImportTableDescription"]
    assert begun["ImportStatus"] == "IN_PROGRESS"

    def description():
        return client.describe_import(ImportArn=begun["ImportArn"])["ImportTableDescription"]

    eventually(lambda: description()["ImportStatus"] != "IN_PROGRESS")
    return name, description()


def data_lines(lake, export):
    manifest = json.loads((lake / export["ExportManifest"]).read_text())
    lines = []
    for entry in (lake / manifest["manifestFilesS3Key"]).read_text().splitlines():
        file = json.loads(entry)
        packed = (lake / file["dataFileS3Key"]).read_bytes()
        assert file["md5Checksum"] == base64.b64encode(hashlib.md5(packed).digest()).decode()
        part = gzip.decompress(packed).decode().splitlines()
        assert file["itemCount"] == len(part)
        lines += part
    return manifest, lines


@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_what_is_exported_is_imported_again(exchange, lake, form):
    client, resource = clients_of(exchange)
    table = make_stock(client, resource)
    export = exported(client, table, ExportFormat=form, S3Prefix="nightly")
    assert (export["ExportStatus"], export["ItemCount"]) == ("COMPLETED", 2)
    manifest, lines = data_lines(lake, export)
    assert (manifest["itemCount"], manifest["outputFormat"], len(lines)) == (2, form, 2)
    if form == "DYNAMODB_JSON":
        assert {json.loads(line)["Item"]["id"]["S"] for line in lines} == {"a", "b"}

    folder = export["ExportManifest"].rpartition("/")[0]
    name, done = imported(client, f"{folder}/data/", InputFormat=form, InputCompressionType="GZIP")
    assert (done["ImportStatus"], done["ImportedItemCount"], done["ErrorCount"]) == ("COMPLETED", 2, 0)
    assert done["TableCreationParameters"]["TableName"] == name

    def items(of):
        return sorted(of.scan()["Items"], key=lambda item: item["id"])

    assert items(resource.Table(name)) == items(table)
    found = resource.Table(name).query(
        IndexName="by-kind", KeyConditionExpression="kind = :k", ExpressionAttributeValues={":k": "card"}
    )
    assert found["Count"] == 1


def test_an_export_is_of_its_time(exchange, lake):
    client, resource = clients_of(exchange)
    table = make_stock(client, resource)

    def latest():
        description = client.describe_continuous_backups(TableName=table.name)["ContinuousBackupsDescription"]
        return description["PointInTimeRecoveryDescription"]["LatestRestorableDateTime"]

    second = latest()
    eventually(lambda: latest() > second)
    table.put_item(Item={"id": "late", "kind": "stamp"})
    export = exported(client, table, ExportTime=second)
    assert export["ExportTime"] == second
    _, lines = data_lines(lake, export)
    assert {json.loads(line)["Item"]["id"]["S"] for line in lines} == {"a", "b"}


def test_a_token_begins_one_export(exchange):
    client, resource = clients_of(exchange)
    table = make_stock(client, resource)
    first = exported(client, table, ClientToken="once")
    assert exported_again(client, table, "once", "") == first["ExportArn"]
    with pytest.raises(client.exceptions.ExportConflictException):
        exported_again(client, table, "once", "elsewhere")
    summaries = client.list_exports(TableArn=first["TableArn"])["ExportSummaries"]
    assert [summary["ExportArn"] for summary in summaries] == [first["ExportArn"]]


def exported_again(client, table, token, prefix):
    arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
    options = {"S3Prefix": prefix} if prefix else {}
    answer = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="lake", ClientToken=token, **options)
    return answer["ExportDescription"]["ExportArn"]


def test_exceptions_of_exports(exchange):
    client, resource = clients_of(exchange)
    table = make_stock(client, resource)
    arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
    with pytest.raises(client.exceptions.TableNotFoundException):
        client.export_table_to_point_in_time(TableArn=arn + "x", S3Bucket="lake")
    with pytest.raises(client.exceptions.InvalidExportTimeException):
        client.export_table_to_point_in_time(TableArn=arn, S3Bucket="lake", ExportTime=1_500_000_000)
    with pytest.raises(client.exceptions.ExportNotFoundException):
        client.describe_export(ExportArn=f"{arn}/export/01767323045000000-00000000")
    with pytest.raises(client.exceptions.ImportNotFoundException):
        client.describe_import(ImportArn=f"{arn}/import/01767323045000000-00000000")
    missing = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="nowhere")["ExportDescription"]["ExportArn"]

    def description():
        return client.describe_export(ExportArn=missing)["ExportDescription"]

    eventually(lambda: description()["ExportStatus"] == "FAILED")
    assert description()["FailureCode"] == "S3NoSuchBucket"


# Older boto3 does not know them.
def test_incremental_exports_have_a_period(exchange):
    client, resource = clients_of(exchange)
    table = make_stock(client, resource)
    arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
    export = {"TableArn": arn, "S3Bucket": "lake", "ExportType": "INCREMENTAL_EXPORT"}
    wire = Wire(exchange)
    with invalid(ANY_MESSAGE):
        wire.call("ExportTableToPointInTime", **export)
    now = int(time.time())
    for seconds, message in (
        (14 * 60, "Invalid Request: the period of an incremental export must be at least 15 minutes"),
        (25 * 3_600, "Invalid Request: the period of an incremental export must be at most 24 hours"),
        (20 * 60, ANY_MESSAGE),  # the table did not have point-in-time recovery then
    ):
        period = {"ExportFromTime": now - seconds, "ExportToTime": now}
        with refused("InvalidExportTimeException", message):
            wire.call("ExportTableToPointInTime", **export, IncrementalExportSpecification=period)
    wire.close()


def test_csv_is_imported_by_the_aws_cli(exchange, lake):
    client, resource = clients_of(exchange)
    (lake / "in").mkdir()
    (lake / "in" / "stock.csv").write_text('id;kind;note\na;stamp;"one; two"\nb;card;\n')
    name = fresh_name("imported")
    command = ["/usr/bin/aws", "--endpoint-url", exchange.endpoint, "--output", "json", "dynamodb", "import-table"]
    command += ["--s3-bucket-source", "S3Bucket=lake,S3KeyPrefix=in/", "--input-format", "CSV"]
    command += ["--input-format-options", json.dumps({"Csv": {"Delimiter": ";"}})]
    command += ["--table-creation-parameters", json.dumps({"TableName": name, **DEFINITION})]
    access = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": "us-east-1"}
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env={**access, "PATH": "/usr/bin:/bin"}
    )
    assert ended.returncode == 0, ended.stderr
    arn = json.loads(ended.stdout)["ImportTableDescription"]["ImportArn"]

    def description():
        return client.describe_import(ImportArn=arn)["ImportTableDescription"]

    eventually(lambda: description()["ImportStatus"] != "IN_PROGRESS")
    assert description()["ImportStatus"] == "COMPLETED"
    assert description()["InputFormatOptions"] == {"Csv": {"Delimiter": ";"}}
    items = sorted(resource.Table(name).scan()["Items"], key=lambda item: item["id"])
    assert items == [
        {"id": "a", "kind": "stamp", "note": "one; two"},
        {"id": "b", "kind": "card", "note": ""},
    ]


def test_good_items_are_kept(exchange, lake):
    client, resource = clients_of(exchange)
    (lake / "in").mkdir()
    lines = ['{"Item":{"id":{"S":"a"}}}', '{"Item":{"id":{"N":"1"}}}', "no json", '{"Item":{"id":{"S":"b"}}}']
    (lake / "in" / "stock.json").write_text("\n".join(lines))
    name, done = imported(client, "in/", InputFormat="DYNAMODB_JSON")
    assert (done["ImportStatus"], done["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert (done["ProcessedItemCount"], done["ImportedItemCount"], done["ErrorCount"]) == (4, 2, 2)
    assert {item["id"] for item in resource.Table(name).scan()["Items"]} == {"a", "b"}


def test_transfers_go_on_after_a_crash(start_server, lake):
    flags = ("--export-directory", str(lake.parent))
    first = start_server(*flags)
    client, resource = clients_of(first)
    table = make_stock(client, resource)
    with table.batch_writer() as batch:
        for number in range(3_000):
            batch.put_item(Item={"id": f"item-{number}", "kind": "many", "filler": "x" * 500})
    arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
    export = client.export_table_to_point_in_time(TableArn=arn, S3Bucket="lake")["ExportDescription"]["ExportArn"]
    first.kill()
    second = start_server(*flags)
    client, resource = clients_of(second)

    def exported_now():
        return client.describe_export(ExportArn=export)["ExportDescription"]

    eventually(lambda: exported_now()["ExportStatus"] == "COMPLETED")
    assert exported_now()["ItemCount"] == 3_002
    folder = exported_now()["ExportManifest"].rpartition("/")[0]
    name = fresh_name("imported")
    begun = client.import_table(
        S3BucketSource={"S3Bucket": "lake", "S3KeyPrefix": f"{folder}/data/"},
        InputFormat="DYNAMODB_JSON",
        InputCompressionType="GZIP",
        TableCreationParameters={"TableName": name, **DEFINITION},
    )["ImportTableDescription"]["ImportArn"]
    second.kill()
    third = start_server(*flags)
    client, resource = clients_of(third)

    def imported_now():
        return client.describe_import(ImportArn=begun)["ImportTableDescription"]

    eventually(lambda: imported_now()["ImportStatus"] == "COMPLETED")
    assert client.describe_table(TableName=name)["Table"]["ItemCount"] == 3_002
    third.stop()


def test_without_a_place_there_are_none(client, new_table):
    arn = client.describe_table(TableName=new_table("pk:S"))["Table"]["TableArn"]
    with pytest.raises(client.exceptions.ClientError, match="--export-directory"):
        client.export_table_to_point_in_time(TableArn=arn, S3Bucket="lake")
