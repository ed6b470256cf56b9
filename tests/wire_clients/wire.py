"""DynamoDB's wire protocol, spoken directly: what a test writes is what is sent, and what comes back is seen whole."""

import http.client
import json
import re
import zlib

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from postino_server import PATIENCE_SECONDS

CONTENT_TYPE = "application/x-amz-json-1.0"
STREAM_OPERATIONS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
REQUEST_ID = re.compile(r"[0-9A-Z]{52}")


def target_of(operation):
    service = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
    return f"{service}_20120810.{operation}"


class Refused(Exception):
    """An error answer: its status, its type with and without the namespace, its message, and the whole body."""

    def __init__(self, answer):
        self.status = answer.status
        self.body = answer.json
        self.type = self.body["__type"]
        self.code = self.type.partition("#")[2]
        self.message = self.body.get("message", self.body.get("Message"))
        super().__init__(f"{answer.status} {answer.body!r}")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    def check_envelope(self):
        """What every answer of the API carries, whatever it says."""
        assert int(self.headers["x-amz-crc32"]) == zlib.crc32(self.body)
        assert int(self.headers["Content-Length"]) == len(self.body)
        assert REQUEST_ID.fullmatch(self.headers["x-amzn-RequestId"])
        assert self.headers["Content-Type"] == CONTENT_TYPE


class Wire:
    """One connection, kept alive. Requests are signed with the given credentials."""

    def __init__(self, server, key="postino", secret="secret", token=None):
        self.server = server
        self.credentials = Credentials(key, secret, token)
        self.connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_SECONDS)

    def close(self):
        self.connection.close()

    def signed_headers(self, operation, body, extra=None):
        headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": target_of(operation), **(extra or {})}
        request = AWSRequest("POST", f"{self.server.endpoint}/", headers=headers, data=body)
        SigV4Auth(self.credentials, "dynamodb", "us-east-1").add_auth(request)
        return dict(request.headers.items())

    def send(self, headers, body=b"", method="POST", path="/"):
        """Any HTTP request, as it is."""
        try:
            self.connection.request(method, path, body=body, headers=headers)
            return Answer(self.connection.getresponse())
        except (http.client.HTTPException, OSError):
            self.connection.close()
            raise

    def post(self, operation, body, extra=None):
        """A signed request with any body; the answer whatever it is."""
        if isinstance(body, str):
            body = body.encode()
        return self.send(self.signed_headers(operation, body, extra), body)

    def call(self, operation, members=None, **more):
        """A signed request for an operation; its answer, or Refused."""
        answer = self.post(operation, json.dumps({**(members or {}), **more}))
        answer.check_envelope()
        if answer.status != 200:
            raise Refused(answer)
        return answer.json if answer.body else {}
