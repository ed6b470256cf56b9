"""What the outbox keeps in its table, read as anybody can: with boto3."""

import json
import urllib.request

import boto3

from waiting import PATIENCE_SECONDS


def dynamodb(server, service="client"):
    make = getattr(boto3, service)
    return make(
        "dynamodb",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="postino",
        aws_secret_access_key="secret",
    )


def delete_table(server, table):
    """Whether it is protected or not: boto3 may be too old to say that it is not to be."""
    headers = {"X-Amz-Target": "DynamoDB_20120810.UpdateTable", "Content-Type": "application/x-amz-json-1.0"}
    headers["X-Amz-Date"] = "20260101T000000Z"
    headers["Authorization"] = "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
    body = json.dumps({"TableName": table, "DeletionProtectionEnabled": False}).encode()
    urllib.request.urlopen(urllib.request.Request(server.endpoint, body, headers), timeout=PATIENCE_SECONDS).close()
    dynamodb(server).delete_table(TableName=table)


class OutboxItems:
    def __init__(self, server, table="email-outbox"):
        self.table = dynamodb(server, "resource").Table(table)

    def meta(self, identifier):
        return self.table.get_item(Key={"Id": identifier, "Status": "_META"})["Item"]

    def all_metas(self):
        """By id."""
        found, more = {}, {}
        while True:
            page = self.table.scan(
                FilterExpression="#s = :meta",
                ExpressionAttributeNames={"#s": "Status"},
                ExpressionAttributeValues={":meta": "_META"},
                **more
            )
            found.update({item["Id"]: item for item in page["Items"]})
            if "LastEvaluatedKey" not in page:
                return found
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
