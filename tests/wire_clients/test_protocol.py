"""HTTP and JSON: what comes before, around and after an operation."""

import gzip
import json
import re
import select
import zlib

import pytest

from conftest import BINARY
from expectations import invalid
from postino_server import Server
from raw_http import RawConnection, request_bytes
from wire import CONTENT_TYPE, REQUEST_ID, Wire, target_of

LIST = b"{}"
UNKNOWN = "com.amazon.coral.service#UnknownOperationException"
SERIALIZATION = "com.amazon.coral.service#SerializationException"


@pytest.fixture(scope="module")
def table(new_table):
    return new_table("pk:S")


def signed(wire, server, operation="ListTables", body=LIST, **extra):
    return {"Host": f"{server.host}:{server.port}", **wire.signed_headers(operation, body, extra)}


# ---- what is not the API


def test_get_tells_that_the_service_is_healthy(wire):
    answer = wire.send({}, method="GET")
    assert (answer.status, answer.body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
    assert int(answer.headers["x-amz-crc32"]) == zlib.crc32(answer.body)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_and_readiness(wire, path):
    assert wire.send({}, method="GET", path=path).status == 200


def test_metrics_are_in_the_text_format_of_prometheus(wire):
    wire.call("ListTables")
    answer = wire.send({}, method="GET", path="/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    sample = re.compile(
        r'[a-z_:][a-z0-9_:]*(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.eE+-]+|[a-z_:][a-z0-9_:]* (NaN|\+Inf)'
    )
    lines = answer.body.decode().splitlines()
    assert lines and all(line.startswith("# ") or sample.fullmatch(line) for line in lines)
    assert any("ListTables" in line for line in lines)


@pytest.mark.parametrize(
    "method, headers, body",
    [
        ("PUT", {"Content-Type": CONTENT_TYPE}, LIST),
        ("DELETE", {}, b""),
        ("POST", {"Content-Type": "text/plain"}, LIST),
        ("POST", {"Content-Type": "application/xml", "X-Amz-Target": target_of("ListTables")}, LIST),
    ],
    ids=["PUT", "DELETE", "text", "xml"],
)
def test_anything_but_a_json_post_is_unknown(wire, method, headers, body):
    answer = wire.send(headers, body, method=method)
    assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")


def test_body_over_16_megabytes_is_refused(server, wire):
    with RawConnection(server) as connection:
        headers = {**signed(wire, server), "Content-Length": (16 << 20) + 1}
        connection.send(request_bytes(headers, b""))
        chunk, sent = b" " * 65_536, 0
        while sent < 16 << 20 and not select.select([connection.socket], [], [], 0)[0]:
            connection.send(chunk)
            sent += len(chunk)
        status, _, body = connection.receive()
        assert (status, body) == (413, b"")


def test_large_bodies_below_the_limit_are_taken(wire, table):
    padding = {"pad": "x" * (10 << 20)}  # an unknown member, which is ignored
    assert "Table" in wire.call("DescribeTable", TableName=table, **padding)


# ---- browsers


PAGE = "http://localhost:3000"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-amz-target, authorization"}


@pytest.fixture(scope="module")
def for_page(tmp_path_factory):
    """A server that a page may call."""
    with Server(BINARY, tmp_path_factory.mktemp("page") / "data", "--allowed-origin", PAGE) as server:
        wire = Wire(server)
        yield wire
        wire.close()


@pytest.mark.parametrize("origin", [PAGE, "http://evil.example", "null"])
def test_pages_may_not_call(wire, origin):
    answer = wire.post("ListTables", LIST, {"Origin": origin})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (403, None)
    assert answer.json["__type"].endswith("#AccessDeniedException")
    preflight = wire.send({"Origin": origin, **PREFLIGHT}, method="OPTIONS")
    assert preflight.status == 403
    assert not [name for name in preflight.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"X-Forwarded-For": "192.0.2.7"}, {"Via": "1.1 proxy"}])
def test_other_names_and_proxies_may_not_call(wire, headers):
    answer = wire.post("ListTables", LIST, headers)
    assert answer.status == 403 and answer.json["__type"].endswith("#AccessDeniedException")
    assert wire.send(headers, method="GET", path="/metrics").status == 403


def test_pages_that_were_allowed_may_call(for_page):
    answer = for_page.post("ListTables", LIST, {"Origin": PAGE})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, PAGE)
    assert for_page.post("ListTables", LIST).headers["Access-Control-Allow-Origin"] is None
    assert for_page.post("ListTables", LIST, {"Origin": "http://evil.example"}).status == 403


def test_preflight_allows_what_is_asked_for(for_page):
    answer = for_page.send({"Origin": PAGE, **PREFLIGHT}, method="OPTIONS")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert answer.headers["Access-Control-Allow-Methods"] == "POST"
    assert answer.headers["Access-Control-Allow-Headers"] == "x-amz-target, authorization"
    assert answer.headers["Access-Control-Max-Age"] == "172800"


# ---- connections


def test_connection_is_kept(server, wire):
    with RawConnection(server) as connection:
        for _ in range(20):
            connection.send(request_bytes(signed(wire, server), LIST))
            assert connection.receive()[0] == 200


def test_pipelined_requests_are_answered_in_order(server, wire, table):
    numbers = range(30)
    for number in numbers:
        wire.call("PutItem", TableName=table, Item={"pk": {"S": f"pipe{number}"}, "n": {"N": str(number)}})
    requests = b""
    for number in numbers:  # reads and writes, which take different ways through the server
        body = json.dumps({"TableName": table, "Key": {"pk": {"S": f"pipe{number}"}}}).encode()
        operation = "GetItem"
        if number % 3 == 2:
            operation = "PutItem"
            body = json.dumps(
                {"TableName": table, "Item": {"pk": {"S": f"pipe{number}"}}, "ReturnValues": "ALL_OLD"}
            ).encode()
        requests += request_bytes(signed(wire, server, operation, body), body)
    with RawConnection(server) as connection:
        connection.send(requests)
        for number in numbers:
            status, _, body = connection.receive()
            answer = json.loads(body)
            item = answer.get("Item") or answer.get("Attributes")
            assert (status, item["n"]["N"]) == (200, str(number))


@pytest.mark.parametrize("version, header", [("HTTP/1.1", {"Connection": "close"}), ("HTTP/1.0", {})])
def test_connection_is_closed_when_the_client_wants_that(server, wire, version, header):
    with RawConnection(server) as connection:
        connection.send(request_bytes({**signed(wire, server), **header}, LIST, version=version))
        assert connection.receive()[0] == 200
        assert connection.receive() is None


def test_chunked_body(server, wire):
    with RawConnection(server) as connection:
        headers = {**signed(wire, server, body=b'{"Limit":1}'), "Transfer-Encoding": "chunked"}
        chunks = b'4\r\n{"Li\r\n7\r\nmit":1}\r\n0\r\n\r\n'
        connection.send(request_bytes(headers, chunks, length=False))
        assert connection.receive()[0] == 200


def test_body_may_wait_for_the_servers_consent(server, wire):
    with RawConnection(server) as connection:
        headers = {**signed(wire, server), "Expect": "100-continue", "Content-Length": len(LIST)}
        connection.send(request_bytes(headers, b""))
        assert connection.receive()[0] == 100
        connection.send(LIST)
        assert connection.receive()[0] == 200


@pytest.mark.parametrize(
    "garbage",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
    ids=["no request", "length", "negative", "long header"],
)
def test_malformed_http_ends_the_connection(server, wire, garbage):
    with RawConnection(server) as connection:
        try:
            connection.send(garbage)
            answer = connection.receive()
        except ConnectionError:
            answer = None
        assert answer is None or 400 <= answer[0] < 500
    assert "TableNames" in wire.call("ListTables")


# ---- compression


def test_compressed_request(wire, table):
    body = gzip.compress(json.dumps({"TableName": table}).encode())
    answer = wire.post("DescribeTable", body, {"Content-Encoding": "gzip"})
    assert (answer.status, answer.json["Table"]["TableName"]) == (200, table)


def test_corrupt_compression_is_an_error_of_the_service(wire):
    answer = wire.post("ListTables", b"\x1f\x8bnot gzip at all", {"Content-Encoding": "gzip"})
    assert answer.status == 500


def test_compressed_bomb_is_refused(wire):
    answer = wire.post("ListTables", gzip.compress(b" " * (64 << 20)), {"Content-Encoding": "gzip"})
    assert answer.status in (413, 500)


def test_large_answer_can_be_read_whatever_the_client_accepts(wire, table):
    item = {"pk": {"S": "large"}, "pad": {"S": "x" * 100_000}}
    wire.call("PutItem", TableName=table, Item=item)
    body = json.dumps({"TableName": table, "Key": {"pk": {"S": "large"}}})
    answer = wire.post("GetItem", body, {"Accept-Encoding": "gzip"})
    text = gzip.decompress(answer.body) if answer.headers["Content-Encoding"] == "gzip" else answer.body
    assert json.loads(text) == {"Item": item}


# ---- from bytes to an operation


def error(answer):
    answer.check_envelope()
    return answer.status, answer.json


def test_operation_and_content_type_are_understood_in_their_variants(wire):
    for content_type in ("application/json", CONTENT_TYPE, CONTENT_TYPE + "; charset=utf-8"):
        answer = wire.post("ListTables", LIST, {"Content-Type": content_type})
        assert answer.status == 200
        assert answer.headers["Content-Type"] == content_type.split(";")[0]


@pytest.mark.parametrize(
    "body",
    [b"{", b'{"TableName"', b"nonsense", b'{"a":1,}', b'{"a":"\xff\xfe"}', b"[" * 100_000],
    ids=["open", "half", "word", "comma", "not UTF-8", "deep"],
)
def test_malformed_json_has_no_message(wire, body):
    assert error(wire.post("DescribeTable", body)) == (400, {"__type": SERIALIZATION})


def test_malformed_json_is_found_before_an_unknown_operation(wire):
    assert error(wire.post("NoSuchOperation", b"{")) == (400, {"__type": SERIALIZATION})


@pytest.mark.parametrize(
    "operation",
    [
        "NoSuchOperation",
        "listtables",
        "ListTables2",
        "DynamoDB_20120810.ListTables",
    ],
)
def test_operation_that_is_not_there_is_unknown(wire, operation):
    assert error(wire.post(operation, LIST)) == (400, {"__type": UNKNOWN})


@pytest.mark.parametrize("target", [None, "", "ListTables", "DynamoDB_20990101.ListTables", "DynamoDB_20120810."])
def test_target_must_name_an_operation_of_this_version(wire, target):
    headers = wire.signed_headers("ListTables", LIST)
    del headers["X-Amz-Target"]
    if target is not None:
        headers["X-Amz-Target"] = target
    assert error(wire.send(headers, LIST)) == (400, {"__type": UNKNOWN})


def test_empty_body_is_no_request(wire):
    assert error(wire.post("ListTables", b"")) == (400, {"__type": SERIALIZATION})


def test_unknown_and_null_members_are_ignored(wire, table):
    answer = wire.call("DescribeTable", TableName=table, Unknown={"a": [1, None]}, Another=None)
    assert answer["Table"]["TableName"] == table
    item = {"pk": {"S": "null members", "N": None, "SS": None}}
    wire.call("PutItem", TableName=table, Item=item, ConditionExpression=None, ExpressionAttributeNames=None)


@pytest.mark.parametrize(
    "operation, members, message",
    [
        ("DescribeTable", {"TableName": 23}, "NUMBER_VALUE cannot be converted to String"),
        ("DescribeTable", {"TableName": 1.5}, "DECIMAL_VALUE cannot be converted to String"),
        ("DescribeTable", {"TableName": True}, "TRUE_VALUE cannot be converted to String"),
        ("DescribeTable", {"TableName": False}, "FALSE_VALUE cannot be converted to String"),
        ("DescribeTable", {"TableName": {}}, "Start of structure or map found where not expected"),
        ("DescribeTable", {"TableName": []}, "Unrecognized collection type class java.lang.String"),
        ("ListTables", {"Limit": "many"}, "STRING_VALUE cannot be converted to Integer"),
        ("ListTables", {"Limit": True}, "TRUE_VALUE cannot be converted to Integer"),
        (
            "CreateTable",
            {"ProvisionedThroughput": {"ReadCapacityUnits": "many"}},
            "STRING_VALUE cannot be converted to Long",
        ),
        ("GetItem", {"Key": "a"}, "Unexpected field type"),
        (
            "GetItem",
            {"Key": []},
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        ("GetItem", {"Key": {"a": "b"}}, "Unexpected value type in payload"),
        ("GetItem", {"Key": {"a": {"S": 1}}}, "NUMBER_VALUE cannot be converted to String"),
        ("GetItem", {"Key": {"a": {"N": 1}}}, "NUMBER_VALUE cannot be converted to String"),
        ("GetItem", {"Key": {"a": {"B": 1}}}, "only base-64-encoded strings are convertible to bytes"),
        (
            "GetItem",
            {"Key": {"a": {"B": "a"}}},
            "Base64 encoded length is expected a multiple of 4 bytes but found: 1",
        ),
        ("GetItem", {"Key": {"a": {"B": "YR=="}}}, "Invalid last non-pad Base64 character dectected"),
        ("GetItem", {"Key": {"a": {"SS": "x"}}}, "Unexpected field type"),
        ("GetItem", {"Key": {"a": {"L": {}}}}, "Start of structure or map found where not expected"),
        ("GetItem", {"AttributesToGet": "a"}, "Unexpected field type"),
        ("GetItem", {"ConsistentRead": "perhaps"}, "Unexpected token received from parser"),
        ("CreateTable", {"KeySchema": "a"}, "Unexpected field type"),
        ("CreateTable", {"KeySchema": ["a"]}, "Unexpected value type in payload"),
        ("CreateTable", {"ProvisionedThroughput": "a"}, "Unexpected field type"),
        ("TransactWriteItems", {"TransactItems": {}}, "Start of structure or map found where not expected"),
    ],
    ids=str,
)
def test_wrong_json_type_is_named(wire, operation, members, message):
    answer = wire.post(operation, json.dumps(members))
    assert error(answer) == (400, {"__type": SERIALIZATION, "Message": message})


def test_lenient_conversions(wire, table):
    request = {"TableName": table, "Key": {"pk": {"S": "nobody"}}}
    for consistent in ("true", "false", "1", "0", "yes", "no"):
        assert wire.call("GetItem", request, ConsistentRead=consistent) == {}
    assert len(wire.call("ListTables", Limit=1.9)["TableNames"]) == 1


# ---- the shape of answers


@pytest.mark.parametrize(
    "operation, members, type_, key",
    [
        ("DescribeTable", {"TableName": "a"}, "com.amazon.coral.validate#ValidationException", "message"),
        (
            "DescribeTable",
            {"TableName": "no-such-table"},
            "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
            "message",
        ),
        ("DescribeTable", {"TableName": 1}, SERIALIZATION, "Message"),
    ],
)
def test_error_names_its_namespace(wire, operation, members, type_, key):
    status, body = error(wire.post(operation, json.dumps(members)))
    assert (status, body["__type"]) == (400, type_)
    assert set(body) == {"__type", key}


def test_every_request_has_an_id_of_its_own(wire):
    ids = {wire.post("ListTables", LIST).headers["x-amzn-RequestId"] for _ in range(100)}
    assert len(ids) == 100
    assert all(REQUEST_ID.fullmatch(identity) for identity in ids)


def test_text_is_escaped_as_json_needs_it(wire, table):
    text = "".join(chr(code) for code in range(0x20)) + '"\\/\u2028\u2029\x7f\ud7ff\ue000\U0010ffff'
    wire.call("PutItem", TableName=table, Item={"pk": {"S": text}})
    assert wire.call("GetItem", TableName=table, Key={"pk": {"S": text}}) == {"Item": {"pk": {"S": text}}}


def test_surrogate_pairs_are_one_character(wire, table):
    body = '{"TableName":"%s","Item":{"pk":{"S":"\\ud83d\\udcec"}}}' % table
    assert wire.post("PutItem", body).status == 200
    assert "Item" in wire.call("GetItem", TableName=table, Key={"pk": {"S": "\U0001f4ec"}})


def test_at_most_ten_faults_are_reported(wire):
    definitions = [{"AttributeName": "a", "AttributeType": "X"}] * 12
    with invalid(re.compile("(?s)10 validation errors detected: .*")) as seen:
        wire.call("CreateTable", TableName="abc", AttributeDefinitions=definitions, KeySchema=[])
    assert seen.message.count(" failed to satisfy constraint: ") == 10


def test_two_clients_at_once_do_not_disturb_each_other(server, wire, table):
    other = Wire(server)
    for number in range(20):
        key = {"pk": {"S": f"mine{number}"}}
        wire.call("PutItem", TableName=table, Item=key)
        assert other.call("GetItem", TableName=table, Key=key, ConsistentRead=True) == {"Item": key}
    other.close()
