"""Who may do what: API keys, their roles and tenants, and what holds where there are none."""

import json
import socket
import subprocess
import urllib.error
import urllib.request

import pytest
from botocore.exceptions import ClientError

from certificates import Authority
from outbox_server import OutboxServer
from payloads import in_the_future, payload
from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually

READER, SENDER, OPERATOR = "reader-0123456789abcdef", "sender-0123456789abcdef", "operator-0123456789abcdef"
NORTH, SOUTH = "north-0123456789abcdef", "south-0123456789abcdef"
NORTH_READER = "north-reader-0123456789abcdef"
KEYS = [
    f"dashboard:reader:{READER}",
    f"shop:sender:{SENDER}",
    f"admin:operator:{OPERATOR}",
    f"north:operator@north:{NORTH}",
    f"north-dashboard:reader@north:{NORTH_READER}",
    f"south:operator@south:{SOUTH}",
]


@pytest.fixture(scope="module")
def keyed(binary, module_directory, ledger):
    flags = [flag for key in KEYS for flag in ("--api-key", key)]
    data = module_directory / "keyed"
    with OutboxServer(binary, data, *ledger.flags(data), *flags) as server:
        yield server


@pytest.fixture(scope="module")
def operator(keyed):
    return keyed.rest(OPERATOR)


class TestKeys:
    def test_no_key_is_401(self, keyed):
        answer = keyed.rest().get("/emails")
        assert answer.status == 401 and answer.problem
        assert answer.headers["www-authenticate"].startswith("Bearer")

    @pytest.mark.parametrize(
        "headers",
        [
            {"Authorization": "Bearer nobody-0123456789abcdef"},
            {"Authorization": f"Basic {OPERATOR}"},
            {"Authorization": f"Bearer {OPERATOR}x"},
            {"Authorization": f"Bearer {OPERATOR[:-1]}"},
            {"X-API-Key": "nobody"},
            {"X-API-Key": ""},
        ],
    )
    def test_wrong_key_is_401(self, keyed, headers):
        answer = keyed.rest().get("/emails", headers)
        assert answer.status == 401 and answer.problem
        assert answer.headers["www-authenticate"].startswith("Bearer")

    def test_key_comes_in_either_header(self, keyed):
        for headers in ({"Authorization": f"Bearer {READER}"}, {"X-API-Key": READER}):
            assert keyed.rest().get("/emails", headers).status == 200

    def test_health_and_description_need_none(self, keyed):
        for path in ("/health-check", "/openapi.json"):
            assert keyed.rest().get(path).status == 200

    def test_wrong_key_learns_nothing_about_emails(self, keyed, operator):
        identifier = operator.accept_one(payload())
        assert keyed.rest().get(f"/emails/{identifier}").status == 401
        assert keyed.rest().get("/emails/unknown").status == 401

    def test_nothing_is_accepted_without_a_key(self, keyed, operator):
        before = operator.fetch("/emails/counts")["total"]
        assert keyed.rest().post("/emails", {"data": [payload()]}).status == 401
        assert operator.fetch("/emails/counts")["total"] == before

    def test_secrets_are_not_shown(self, binary, keyed):
        flags = [flag for key in KEYS for flag in ("--api-key", key)]
        shown = subprocess.run([binary, "config", *flags], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
        assert not [key for key in KEYS if key.split(":")[2] in shown.stdout + "".join(keyed.log)]


class TestLog:
    def test_lines_of_refused_calls_name_the_key(self, start):
        server = start("--log-requests", "--api-key", KEYS[0], "--access-key", "postino:other")
        assert server.rest(READER).post("/emails", {"data": [payload()]}).status == 403
        with pytest.raises(ClientError):
            dynamodb(server).list_tables()
        eventually(lambda: any("status=403" in line and "key=dashboard" in line for line in server.log), "the line")
        eventually(lambda: any("InvalidSignature" in line and "key=postino" in line for line in server.log), "the line")
        assert READER not in "".join(server.log)


class TestBodiesThatDoNotCome:
    """Who may not call is refused at the end of the headers, so that silent connections cannot keep others out."""

    @staticmethod
    def announce_body(address, lines, size):
        _, host, port = address
        connection = socket.create_connection((host, port), timeout=PATIENCE_SECONDS)
        lines = [*lines, f"Host: {host}:{port}", f"Content-Length: {size}", "", ""]
        connection.sendall("\r\n".join(lines).encode())
        return connection

    def test_no_key_is_refused_before_the_body(self, keyed, operator):
        lines = ["POST /emails HTTP/1.1", "Content-Type: application/json"]
        silent = [self.announce_body(keyed.addresses["REST"], lines, 40 << 20) for _ in range(11)]
        for connection in silent:
            assert connection.recv(100).startswith(b"HTTP/1.1 401")
        assert operator.post("/emails", {"data": [payload()]}).status == 201
        for connection in silent:
            connection.close()

    def test_a_body_is_refused_where_none_is_taken(self, keyed, operator):
        for method, path, server, status in [
            ("GET", "/openapi.json", "REST", b"413"),
            ("GET", "/healthz", "DynamoDB", b"404"),
            ("PUT", "/", "DynamoDB", b"404"),
        ]:
            with self.announce_body(keyed.addresses[server], [f"{method} {path} HTTP/1.1"], 10 << 20) as connection:
                assert connection.recv(100).startswith(b"HTTP/1.1 " + status)
        assert operator.get("/openapi.json").status == 200

    def test_no_signature_is_refused_before_the_body(self, keyed):
        lines = ["POST / HTTP/1.1", "Content-Type: application/x-amz-json-1.0", "X-Amz-Target: DynamoDB_20120810.PutItem"]
        with self.announce_body(keyed.addresses["DynamoDB"], lines, 10 << 20) as connection:
            assert connection.recv(100).startswith(b"HTTP/1.1 400")

    def test_a_page_is_refused_before_the_body(self, outbox):
        lines = ["POST / HTTP/1.1", "X-Amz-Target: DynamoDB_20120810.PutItem", "Origin: http://evil.example"]
        with self.announce_body(outbox.addresses["DynamoDB"], lines, 100) as connection:
            assert connection.recv(100).startswith(b"HTTP/1.1 403")


class TestDynamodbWhereThereAreKeys:
    """The other port must not be a way around the keys."""

    def test_requests_without_a_signature_are_refused(self, keyed):
        request = urllib.request.Request(
            keyed.endpoint,
            b"{}",
            {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810.ListTables"},
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE_SECONDS)
        assert refused.value.code == 400
        assert json.load(refused.value)["__type"].endswith("#MissingAuthenticationTokenException")

    def test_made_up_credentials_are_refused(self, keyed):
        with pytest.raises(ClientError) as refused:
            dynamodb(keyed).list_tables()
        assert refused.value.response["Error"]["Code"] == "UnrecognizedClientException"

    def test_an_access_key_opens_it(self, start):
        server = start("--api-key", KEYS[2], "--access-key", "postino:secret")
        assert "mq-probe-idempotency" in dynamodb(server).list_tables()["TableNames"]


class TestTablesOfTheOutbox:
    @pytest.mark.store_only
    def test_cannot_be_deleted(self, outbox):
        client = dynamodb(outbox)
        for name in client.list_tables()["TableNames"]:
            with pytest.raises(ClientError) as refused:
                client.delete_table(TableName=name)
            if name.endswith(("-audit", "-keys")):
                assert refused.value.response["Error"]["Code"] == "AccessDeniedException", "nothing of it can be changed"
            else:
                assert "deletion protection" in str(refused.value).lower(), name


class TestMetrics:
    def test_can_require_a_key(self, start):
        server = start(*[flag for key in KEYS for flag in ("--api-key", key)], "--metrics-require-key")
        token = "Bearer " + server.rest().post("/sessions", {"api_key": READER}).json["token"]
        assert self.status(server.url + "/emails", token, "Authorization") == 200
        for url in (server.url, server.endpoint):
            statuses = [self.status(url + "/metrics", key) for key in ("", "nobody-0123456789", NORTH, READER)]
            assert statuses == [401, 401, 403, 200], url
            assert self.status(url + "/metrics", f"Bearer {READER}", "Authorization") == 200, url
            assert self.status(url + "/metrics", token, "Authorization") == 401, "no session, but a key that stays"
            assert self.status(url + "/healthz", "") == 200

    @staticmethod
    def status(url, key, header="X-API-Key"):
        request = urllib.request.Request(url, headers={header: key} if key else {})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code

    def test_that_require_a_key_need_one(self, binary, directory):
        command = [binary, "serve", "--data", str(directory / "data"), "--metrics-require-key"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert ended.returncode == 2 and "--api-key" in ended.stderr


class TestRoles:
    def test_reader_reads_and_no_more(self, keyed, operator):
        identifier = operator.accept_one(payload(send_at=in_the_future()))
        operator.await_status(identifier, "READY")
        reader = keyed.rest(READER)
        for path in ("/emails", f"/emails/{identifier}", f"/emails/{identifier}/message", "/emails/counts"):
            assert reader.get(path).status == 200, path
        assert reader.post("/emails", {"data": [payload()]}).status == 403
        for what in ("cancel", "hold", "release", "requeue"):
            answer = reader.post(f"/emails/{identifier}/{what}")
            assert answer.status == 403 and answer.problem, what
        assert operator.email(identifier)["status"] == "READY"

    def test_sender_sends_and_cancels(self, keyed, operator):
        sender = keyed.rest(SENDER)
        identifier = sender.accept_one(payload(send_at=in_the_future()))
        sender.await_status(identifier, "READY")
        for what in ("hold", "release", "requeue"):
            assert sender.post(f"/emails/{identifier}/{what}").status == 403, what
        assert sender.post(f"/emails/{identifier}/cancel").status == 204

    def test_the_rest_is_for_operators(self, keyed, operator):
        requests = [
            ("POST", "/bounces"),
            ("PUT", "/suppressions/a@b.example"),
            ("DELETE", "/suppressions/a@b.example"),
            ("DELETE", "/mailbox"),
            ("POST", "/dead-callbacks/x/replay"),
        ]
        for method, path in requests:
            for key in (READER, SENDER):
                assert keyed.rest(key).request(method, path).status == 403, (method, path)
            assert operator.request(method, path).status != 403, (method, path)


class TestTenants:
    @pytest.fixture(scope="class")
    def mine(self, keyed):
        north = keyed.rest(NORTH)
        identifier = north.accept_one(payload(send_at=in_the_future()))
        assert north.await_status(identifier, "READY")["tenant"] == "north"
        return identifier

    def test_other_tenants_do_not_see_it(self, keyed, mine):
        south = keyed.rest(SOUTH)
        for path in ("", "/message", "/payload"):
            assert south.get(f"/emails/{mine}{path}").status == 404
        for what in ("cancel", "hold", "release", "requeue"):
            assert south.post(f"/emails/{mine}/{what}").status == 404
        assert south.fetch("/emails")["data"] == []
        assert south.fetch("/emails/counts")["total"] == 0
        assert keyed.rest(NORTH).email(mine)["status"] == "READY"

    def test_it_is_told_from_an_unknown_one_by_nothing(self, keyed, mine):
        south = keyed.rest(SOUTH)
        unknown = "00000000-0000-4000-8000-000000000000"
        hidden, absent = south.get(f"/emails/{mine}").problem, south.get(f"/emails/{unknown}").problem
        for problem in (hidden, absent):
            del problem["request_id"]
            problem["detail"] = problem["detail"].replace(mine, "ID").replace(unknown, "ID")
        assert hidden == absent

    def test_all_keys_of_the_tenant_see_it(self, keyed, mine):
        reader = keyed.rest(NORTH_READER)
        assert [email["id"] for email in reader.fetch("/emails", status="READY")["data"]] == [mine]
        assert reader.fetch("/emails/counts")["counts"]["READY"] == 1

    def test_keys_without_a_tenant_see_all(self, operator, mine):
        assert operator.email(mine)["tenant"] == "north"

    def test_the_id_of_another_tenants_email_cannot_be_taken(self, keyed, mine):
        answer = keyed.rest(SOUTH).post("/emails", {"data": [payload(id=mine, subject="Mine now")]})
        assert answer.status == 422
        assert keyed.rest(NORTH).get(f"/emails/{mine}/payload").json["subject"] == "Your invoice"

    def test_idempotency_keys_are_the_tenants_own(self, keyed):
        body = {"data": [payload(send_at=in_the_future())]}
        headers = {"Idempotency-Key": "shared-word"}
        north, south = (keyed.rest(key).post("/emails", body, headers) for key in (NORTH, SOUTH))
        assert (north.status, south.status) == (201, 201)
        assert "idempotent-replayed" not in south.headers
        assert north.json["results"][0]["id"] != south.json["results"][0]["id"]

    def test_mailbox_shows_a_tenant_its_own_mail(self, keyed, operator):
        north, south = keyed.rest(NORTH), keyed.rest(SOUTH)
        identifier = north.accept_one(payload())
        north.await_status(identifier, "SENT")
        assert north.get(f"/mailbox/{identifier}").status == 200
        assert south.get(f"/mailbox/{identifier}").status == 404
        assert identifier not in [mail["id"] for page in south.pages("/mailbox") for mail in page]
        assert identifier in [mail["id"] for page in operator.pages("/mailbox") for mail in page]


class TestWithoutKeys:
    @pytest.mark.parametrize(
        "host", ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"]
    )
    def test_other_host_names_are_refused(self, rest, host):
        answer = rest.get("/emails", {"Host": host})
        assert answer.status == 403 and answer.problem

    @pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "Via", "X-Real-IP"])
    def test_what_a_proxy_passed_on_is_refused(self, rest, name):
        """Otherwise every client that can reach the proxy would be operator."""
        answer = rest.get("/emails", {name: "192.0.2.7"})
        assert answer.status == 403 and answer.problem

    def test_a_trusted_proxy_may_pass_requests_on(self, start):
        trusting = start("--trusted-proxy", "127.0.0.1", "--allowed-host", "mail.example").rest()
        assert trusting.get("/emails", {"X-Forwarded-For": "192.0.2.7", "Host": "mail.example"}).status == 200
        assert trusting.get("/emails", {"X-Forwarded-For": "192.0.2.7", "Host": "evil.example"}).status == 403

    def test_pages_that_were_allowed_may_call(self, start):
        page = "http://localhost:3000"
        allowing = start("--allowed-origin", page).rest()
        answer = allowing.get("/emails", {"Origin": page})
        assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, page)
        refused = allowing.get("/emails", {"Origin": "http://evil.example"})
        assert refused.status == 403 and "access-control-allow-origin" not in refused.headers

    def test_own_names_are_fine(self, outbox, rest):
        port = outbox.addresses["REST"][2]
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost", f"[::1]:{port}"):
            assert rest.get("/emails", {"Host": host}).status == 200, host

    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://localhost:1"])
    def test_pages_of_other_origins_are_refused(self, rest, origin):
        before = rest.fetch("/emails/counts")["total"]
        answer = rest.post("/emails", {"data": [payload()]}, {"Origin": origin})
        assert answer.status == 403 and answer.problem
        assert rest.fetch("/emails/counts")["total"] == before

    def test_own_origin_is_fine(self, outbox, rest):
        assert rest.get("/emails", {"Origin": outbox.url}).status == 200

    def test_a_form_of_a_web_page_cannot_send(self, rest):
        """Browsers send these types without asking first."""
        for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            answer = rest.post("/emails", '{"data":[]}', {"Content-Type": content_type})
            assert answer.status == 415 and answer.problem, content_type

    @pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
    def test_address_that_others_reach_is_refused(self, binary, directory, address):
        command = [binary, "serve", "--data", str(directory / "data"), "--dynamodb", "127.0.0.1:0", "--http", address]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert ended.returncode == 1, ended  # there could be keys in the store: it had to be opened first
        assert "give an --api-key or a --user, or listen on 127.0.0.1" in ended.stderr

    def test_address_that_others_reach_is_fine_with_keys(self, start):
        server = start("--http", "0.0.0.0:0", "--api-key", KEYS[2])
        assert server.rest().get("/emails").status == 401
        assert server.rest(OPERATOR).get("/emails").status == 200


@pytest.mark.parametrize(
    "key",
    [
        "name",
        "name:operator",
        "name:king:0123456789abcdef",
        ":operator:0123456789abcdef",
        "n:operator:",
        "n:reader@:0123456789abcdef",
    ],
)
def test_malformed_key_is_misuse(binary, directory, key):
    command = [binary, "serve", "--data", str(directory / "data"), "--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    ended = subprocess.run([*command, "--api-key", key], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode == 2 and "key" in ended.stderr
    assert "0123456789abcdef" not in ended.stderr + ended.stdout


def test_api_over_tls(start, directory):
    authority = Authority(directory / "authority")
    certificate, key = authority.issue("localhost")
    server = start("--http-tls-certificate", certificate, "--http-tls-key", key)
    assert server.url.startswith("https://")
    rest = server.rest(ca=authority.certificate)
    rest.await_status(rest.accept_one(payload()), "SENT")


def test_paths_and_methods_that_do_not_exist(rest):
    for path in ("/", "/email", "/emails/", "/emails/x/y/z", "/mailbox/a/b"):
        answer = rest.get(path)
        assert answer.status == 404 and answer.problem, path
    for method, path, allowed in (
        ("DELETE", "/emails", {"GET", "POST"}),
        ("PUT", "/emails/x", {"GET"}),
        ("GET", "/bounces", {"POST"}),
        ("POST", "/suppressions/a@b.example", {"PUT", "DELETE"}),
    ):
        answer = rest.request(method, path)
        assert answer.status == 405 and answer.problem, path
        assert allowed <= set(answer.headers["allow"].replace(",", " ").split())


def test_request_id_of_the_caller_is_kept(rest):
    answer = rest.get("/emails/unknown", {"X-Request-Id": "my-request-7"})
    assert answer.problem["request_id"] == "my-request-7"
    ids = [
        rest.get("/emails", {"X-Request-Id": strange}).headers["x-request-id"] for strange in ("a b", "<x>", "y" * 999)
    ]
    assert not {"a b", "<x>", "y" * 999} & set(ids), "what could disturb a log is not"
