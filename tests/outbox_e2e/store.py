"""What the outbox keeps in its table, read as anybody can: with boto3."""

import boto3


def dynamodb(server, service="client"):
    make = getattr(boto3, service)
    return make(
        "dynamodb",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="postino",
        aws_secret_access_key="secret",
    )


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
