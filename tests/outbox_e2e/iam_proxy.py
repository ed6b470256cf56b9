"""What stands between a server and its store: it allows what a policy of IAM allows, and fails as it is told to."""

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ACTIONS_OF_A_TRANSACTION = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem", "Get": "GetItem"}


def table_of_stream(arn):
    return arn.split(":table/")[1].split("/")[0]


def wanted_by(operation, request):
    """The pairs of an action and a resource, as IAM has them, that one call needs."""
    if operation in ("TransactWriteItems", "TransactGetItems"):
        items = [item for each in request["TransactItems"] for item in each.items()]
        return {(ACTIONS_OF_A_TRANSACTION[kind], f"table/{action['TableName']}") for kind, action in items}
    if operation in ("BatchGetItem", "BatchWriteItem"):
        return {(operation, f"table/{table}") for table in request["RequestItems"]}
    if operation in ("DescribeStream", "GetShardIterator"):
        return {(operation, f"table/{table_of_stream(request['StreamArn'])}/stream/*")}
    if operation == "GetRecords":
        return {(operation, "*")}  # an iterator need not say whose it is
    index = f"/index/{request['IndexName']}" if "IndexName" in request else ""
    return {(operation, f"table/{request['TableName']}{index}")} if "TableName" in request else {(operation, "*")}


class Policy:
    def __init__(self, text):
        self.statements = json.loads(text)["Statement"]

    def allows(self, action, resource):
        for statement in self.statements:
            if f"dynamodb:{action}" in statement["Action"]:
                if resource == "*" and action == "GetRecords":
                    return True
                if any(arn.split(":")[-1] == resource for arn in statement["Resource"]):
                    return True
        return False


class IamProxy:
    def __init__(self, policy, store_port):
        self.policy = Policy(policy)
        self.store_port = store_port
        self.is_detached = False  # then nothing is allowed
        self.broken = set()  # operations that fail with an internal error
        self.unknown = set()  # and those that the store does not have
        self.refused = set()
        self.used = set()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                proxy.handle(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def handle(self, caller):
        body = caller.rfile.read(int(caller.headers["Content-Length"]))
        operation = caller.headers["X-Amz-Target"].split(".")[1]
        if operation in self.unknown:
            return self.answer(caller, 400, self.error("UnknownOperationException", operation))
        if operation in self.broken:
            return self.answer(caller, 500, self.error("InternalServerError", "broken"))
        wanted = wanted_by(operation, json.loads(body))
        self.used |= wanted
        refused = {each for each in wanted if self.is_detached or not self.policy.allows(*each)}
        if refused:
            if not self.is_detached:
                self.refused |= refused
            action, resource = min(refused)
            message = f"User: arn:aws:iam::111122223333:user/postino is not authorized to perform: dynamodb:{action} on resource: {resource}"
            return self.answer(caller, 400, self.error("AccessDeniedException", message))
        return self.forward(caller, body)

    @staticmethod
    def error(name, message):
        return json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "Message": message}).encode()

    def forward(self, caller, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.store_port, timeout=60)
        try:
            connection.putrequest("POST", caller.path, skip_host=True, skip_accept_encoding=True)
            for name, value in caller.headers.items():  # the signature is about them
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            kept = {name: value for name, value in answer.getheaders() if name.lower() in ("x-amz-crc32", "date")}
            self.answer(caller, answer.status, answer.read(), kept)
        except OSError:
            caller.close_connection = True
        finally:
            connection.close()

    @staticmethod
    def answer(caller, status, body, headers=None):
        caller.send_response_only(status)
        for name, value in (headers or {}).items():
            caller.send_header(name, value)
        caller.send_header("Content-Type", "application/x-amz-json-1.0")
        caller.send_header("Content-Length", str(len(body)))
        caller.end_headers()
        caller.wfile.write(body)
