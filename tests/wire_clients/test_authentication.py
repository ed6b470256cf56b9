"""Signatures. A server with access keys checks them; one without takes any that is well formed."""

import datetime
import hashlib
import http.client
import urllib.parse

import botocore.auth
import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from conftest import BINARY
from postino_server import PATIENCE_SECONDS, Server
from wire import CONTENT_TYPE, Answer, Wire, target_of

NAMESPACE = "com.amazon.coral.service#"
MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details."
)
NOW = datetime.datetime.now(datetime.timezone.utc)
AMZ_DATE = "%Y%m%dT%H%M%SZ"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    data = tmp_path_factory.mktemp("guarded") / "data"
    keys = ["--access-key", "ALICE:wonderland", "--access-key", "BOB:the/builder+1="]
    with Server(BINARY, data, *keys) as server:
        yield server


def send(server, headers, body=b"{}", path="/"):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_SECONDS)
    connection.request("POST", path, body=body, headers=headers)
    answer = Answer(connection.getresponse())
    connection.close()
    return answer


def error(answer):
    answer.check_envelope()
    body = answer.json
    assert answer.status == 400
    assert body["__type"].startswith(NAMESPACE)
    return body["__type"][len(NAMESPACE) :], body.get("message")


def signed(server, key="ALICE", secret="wonderland", service="dynamodb", region="us-east-1", token=None, body=b"{}"):
    headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": target_of("ListTables")}
    request = AWSRequest("POST", f"{server.endpoint}/", headers=headers, data=body)
    SigV4Auth(Credentials(key, secret, token), service, region).add_auth(request)
    return dict(request.headers.items())


def presigned(server, key="ALICE", secret="wonderland", expires=300):
    request = AWSRequest("POST", f"{server.endpoint}/", headers={"X-Amz-Target": target_of("ListTables")}, data=b"{}")
    signer = SigV4QueryAuth(Credentials(key, secret), "dynamodb", "us-east-1", expires=expires)
    # Left alone, botocore moves the body into the query and signs an empty one.
    signer.payload = lambda request: hashlib.sha256(b"{}").hexdigest()
    signer.add_auth(request)
    parts = urllib.parse.urlsplit(request.url)
    return f"{parts.path or '/'}?{parts.query}", {
        "X-Amz-Target": target_of("ListTables"),
        "Content-Type": CONTENT_TYPE,
    }


def changed(headers, **parts):
    """The headers with parts of the Authorization header replaced or, when None, left out."""
    algorithm, _, rest = headers["Authorization"].partition(" ")
    known = dict(part.split("=", 1) for part in rest.split(", "))
    known.update(parts)
    rest = ", ".join(f"{name}={value}" for name, value in known.items() if value is not None)
    return {**headers, "Authorization": f"{algorithm} {rest}"}


# ---- accepted


@pytest.mark.parametrize("key, secret", [("ALICE", "wonderland"), ("BOB", "the/builder+1=")])
def test_right_signature_is_accepted(guarded, key, secret):
    assert send(guarded, signed(guarded, key, secret)).status == 200


def test_any_region_will_do(guarded):
    assert send(guarded, signed(guarded, region="eu-south-1")).status == 200


def test_boto3_signs_as_the_server_expects(connect, guarded):
    client = connect(guarded, key="BOB", secret="the/builder+1=")
    assert client.list_tables()["TableNames"] == []
    with pytest.raises(ClientError) as failure:
        connect(guarded, key="BOB", secret="wrong").list_tables()
    assert failure.value.response["Error"] == {"Code": "InvalidSignatureException", "Message": MISMATCH}


def test_presigned_url_is_accepted(guarded):
    path, headers = presigned(guarded)
    assert send(guarded, headers, path=path).status == 200


# ---- refused


def test_request_without_signature(guarded):
    headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": target_of("ListTables")}
    expected = ("MissingAuthenticationTokenException", "Request is missing Authentication Token")
    assert error(send(guarded, headers)) == expected
    assert error(send(guarded, {**headers, "Authorization": "Basic abc"})) == expected


def test_wrong_secret(guarded):
    assert error(send(guarded, signed(guarded, secret="looking-glass"))) == ("InvalidSignatureException", MISMATCH)


def test_secret_of_another_key(guarded):
    headers = signed(guarded, "ALICE", "the/builder+1=")
    assert error(send(guarded, headers)) == ("InvalidSignatureException", MISMATCH)


def test_unknown_key(guarded):
    assert error(send(guarded, signed(guarded, "MALLORY"))) == (
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    )


def test_body_that_was_changed_after_signing(guarded):
    headers = signed(guarded)
    assert error(send(guarded, headers, b'{"Limit":1}')) == ("InvalidSignatureException", MISMATCH)


def test_header_that_was_changed_after_signing(guarded):
    headers = {**signed(guarded), "X-Amz-Target": target_of("DescribeLimits")}
    assert error(send(guarded, headers)) == ("InvalidSignatureException", MISMATCH)


def test_session_token_that_nobody_issued(guarded):
    assert error(send(guarded, signed(guarded, token="made-up"))) == (
        "UnrecognizedClientException",
        "The security token included in the request is invalid",
    )


def test_presigned_url_with_a_wrong_secret(guarded):
    path, headers = presigned(guarded, secret="looking-glass")
    assert error(send(guarded, headers, path=path)) == ("InvalidSignatureException", MISMATCH)


def test_signature_in_header_and_query(guarded):
    path, _ = presigned(guarded)
    assert error(send(guarded, signed(guarded), path=path)) == (
        "InvalidSignatureException",
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    )


@pytest.mark.parametrize("minutes, start", [(-20, "Signature expired: "), (20, "Signature not yet current: ")])
def test_clock_that_is_wrong_by_more_than_a_quarter_of_an_hour(guarded, monkeypatch, minutes, start):
    moment = NOW + datetime.timedelta(minutes=minutes)

    class WrongClock(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return moment.replace(tzinfo=None)

    monkeypatch.setattr(botocore.auth.datetime, "datetime", WrongClock)
    headers = signed(guarded)
    monkeypatch.undo()
    assert headers["X-Amz-Date"] == moment.strftime(AMZ_DATE)
    code, message = error(send(guarded, headers))
    assert code == "InvalidSignatureException"
    assert message.startswith(start + headers["X-Amz-Date"])


@pytest.mark.parametrize(
    "parts, faults",
    [
        ({"Credential": None}, "Authorization header requires 'Credential' parameter. "),
        ({"Signature": None}, "Authorization header requires 'Signature' parameter. "),
        ({"SignedHeaders": None}, "Authorization header requires 'SignedHeaders' parameter. "),
        (
            {"Credential": None, "Signature": None, "SignedHeaders": None},
            "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' "
            "parameter. Authorization header requires 'SignedHeaders' parameter. ",
        ),
    ],
    ids=str,
)
def test_header_with_parts_missing(guarded, parts, faults):
    headers = changed(signed(guarded), **parts)
    headers["Authorization"] = headers["Authorization"].strip()
    assert error(send(guarded, headers)) == (
        "IncompleteSignatureException",
        f"{faults}Authorization={headers['Authorization']}",
    )


def test_header_without_a_date(guarded):
    headers = signed(guarded)
    del headers["X-Amz-Date"]
    assert error(send(guarded, headers)) == (
        "IncompleteSignatureException",
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        f"Authorization={headers['Authorization']}",
    )


def test_date_in_another_format(guarded):
    assert error(send(guarded, {**signed(guarded), "X-Amz-Date": "201"})) == (
        "IncompleteSignatureException",
        "Date must be in ISO-8601 'basic format'. Got '201'. See http://en.wikipedia.org/wiki/ISO_8601",
    )


def test_host_must_be_signed(guarded):
    assert error(send(guarded, changed(signed(guarded), SignedHeaders="x-amz-date"))) == (
        "InvalidSignatureException",
        "'Host' must be a 'SignedHeader' in the AWS Authorization.",
    )


def test_unknown_algorithm(guarded):
    headers = signed(guarded)
    headers["Authorization"] = headers["Authorization"].replace("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1")
    assert error(send(guarded, headers)) == (
        "IncompleteSignatureException",
        "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1' (only AWS4-HMAC-SHA256 for now). ",
    )


def test_credential_has_five_parts(guarded):
    assert error(send(guarded, changed(signed(guarded), Credential="a/b/c/d"))) == (
        "IncompleteSignatureException",
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'a/b/c/d'",
    )


@pytest.mark.parametrize(
    "position, value, message",
    [
        (3, "s3", "Credential should be scoped to correct service: 'dynamodb'. "),
        (4, "aws5", "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5'. "),
    ],
)
def test_credential_for_something_else(guarded, position, value, message):
    headers = signed(guarded)
    scope = headers["Authorization"].partition("Credential=")[2].partition(",")[0].split("/")
    scope[position] = value
    assert error(send(guarded, changed(headers, Credential="/".join(scope)))) == ("InvalidSignatureException", message)


def test_credential_for_another_day(guarded):
    headers = signed(guarded)
    date = headers["X-Amz-Date"]
    credential = "ALICE/20130609/us-east-1/dynamodb/aws4_request"
    assert error(send(guarded, changed(headers, Credential=credential))) == (
        "InvalidSignatureException",
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
        f"'20130609' != '{date[:8]}', from '{date}'.",
    )


# ---- the order of checks


def test_unknown_operation_is_found_before_the_signature(guarded):
    headers = {"Content-Type": CONTENT_TYPE, "X-Amz-Target": target_of("NoSuchOperation")}
    assert error(send(guarded, headers)) == ("UnknownOperationException", None)


def test_signature_is_checked_before_the_body(guarded):
    headers = signed(guarded, secret="looking-glass", body=b"")
    assert error(send(guarded, headers, b""))[0] == "InvalidSignatureException"
    headers = signed(guarded, secret="looking-glass", body=b'{"Limit":"x"}')
    assert error(send(guarded, headers, b'{"Limit":"x"}'))[0] == "InvalidSignatureException"


# ---- a server without keys


def test_server_without_keys_takes_any_well_formed_signature(server):
    assert send(server, signed(server, "ANYBODY", "anything")).status == 200
    assert send(server, signed(server, "ANYBODY", "anything", token="any-token")).status == 200
    path, headers = presigned(server, "ANYBODY", "anything")
    assert send(server, headers, path=path).status == 200


def test_health_needs_no_signature(guarded):
    wire = Wire(guarded)
    assert wire.send({}, method="GET", path="/healthz").status == 200
    wire.close()
