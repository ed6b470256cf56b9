"""Keys in the store: made, used, replaced and taken back while the server runs; and the drill of docs/access.md."""

import json
import os
import re
import stat
import subprocess
import urllib.request
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError

from described_rest import DescribedRest
from outbox_server import OutboxServer
from payloads import payload

pytestmark = pytest.mark.store_only

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "access.md"
READ_ONE_TABLE = json.dumps(
    {
        "Statement": [
            {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "arn:aws:dynamodb:*:*:table/orders"},
        ]
    }
)
ONLY_READ = json.dumps({"Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}]})


def init(binary, data, *more):
    done = subprocess.run([binary, "keys", "init", "--data", data, *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def client(server, identifier, secret, token=None):
    return boto3.client(
        "dynamodb",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=identifier,
        aws_secret_access_key=secret,
        aws_session_token=token,
    )


def make_table(with_client, name="orders"):
    with_client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def code_of(call, **parameters):
    with pytest.raises(ClientError) as refused:
        call(**parameters)
    return refused.value.response["Error"]["Code"]


@pytest.fixture
def data(directory):
    return directory / "keyed"


@pytest.fixture
def admin_secret(binary, data):
    return init(binary, data, "--name", "anna")


@pytest.fixture
def server(binary, data, admin_secret):
    """A test may stop it."""
    server = OutboxServer(binary, data)
    yield server
    assert server.stop() == 0, "".join(server.log)


@pytest.fixture
def admin(server, admin_secret):
    return server.rest(admin_secret)


def make(admin, **fields):
    answer = admin.post("/keys", fields)
    assert answer.status == 201, answer
    return answer.json


def test_every_operation_answers_as_it_is_described(admin):
    api = DescribedRest(admin)
    shop = api.call("createKey", 201, {"name": "shop", "role": "sender", "expires_at": "2100-01-01T00:00:00Z"}).json
    desk = api.call("createKey", 201, {"name": "desk", "kind": "access_key", "policy": READ_ONE_TABLE}).json
    api.call("createKey", 409, {"name": "shop", "role": "sender"})
    api.call("createKey", 400, {"name": "no spaces", "role": "sender"})
    api.call("createKey", 400, {"name": "other", "role": "king"})
    api.call("createKey", 400, {"name": "other", "kind": "access_key", "policy": "{}"})
    listed = api.call("listKeys", 200).json["data"]
    assert {each["name"] for each in listed} == {"anna", "shop", "desk"}
    assert not any("secret" in each for each in listed)
    api.call("disableKey", 200, key=shop["id"])
    api.call("enableKey", 200, key=shop["id"])
    second = api.call("rotateKey", 201, {"overlap_seconds": 60}, key=shop["id"]).json
    assert second["name"] == "shop" and second["role"] == "sender"
    api.call("rotateKey", 409, key=second["id"])
    api.call("beginKeySession", 201, {"duration_seconds": 900}, key=desk["id"])
    api.call("beginKeySession", 409, key=second["id"])
    api.call("deleteKey", 204, key=shop["id"])
    api.call("deleteKey", 404, key=shop["id"])
    api.call("disableKey", 404, key="pk_none")
    named = {name for name, (_, _, operation) in api.operations.items() if operation["tags"] == ["Keys"]}
    assert named == set(api.exercised)


def test_an_empty_value_makes_no_key_with_more_rights(binary, directory, server, admin, admin_secret):
    """As an unset variable or an empty file gives one."""
    before = [key["id"] for key in admin.get("/keys").json["data"]]
    for name in ("policy", "tenant", "expires_at", "kind", "customer"):
        for empty in ("", None):
            refused = admin.post("/keys", {"name": "desk", "kind": "access_key", name: empty})
            assert refused.status == 400 and refused.problem["errors"][0]["field"] == name, (name, empty, refused)
    nothing = directory / "empty.json"
    nothing.write_text("")
    command = [binary, "keys", "create", "--url", server.url, "--name", "desk", "--kind", "access_key"]
    for given in (["--policy-file", nothing], ["--tenant", ""]):
        made = subprocess.run([*command, *given], capture_output=True, text=True, env={"POSTINO_API_KEY": admin_secret})
        assert made.returncode == 1 and "must not be empty" in made.stderr, made
    assert [key["id"] for key in admin.get("/keys").json["data"]] == before


def test_a_key_is_refused_from_the_moment_of_its_revocation(server, admin):
    key = make(admin, name="shop", role="sender")
    shop = server.rest(key["secret"])
    assert shop.get("/emails").status == 200
    assert shop.get("/keys").status == 403
    token = shop.post("/sessions", {"api_key": key["secret"]}).json["token"]
    signed_in = server.rest(token)
    assert signed_in.get("/emails").status == 200
    assert admin.post(f"/keys/{key['id']}/disable").json["state"] == "disabled"
    assert shop.get("/emails").status == 401
    assert signed_in.get("/emails").status == 401, "sessions that were begun with it end"
    assert admin.post(f"/keys/{key['id']}/enable").status == 200
    assert shop.get("/emails").status == 200
    assert admin.request("DELETE", f"/keys/{key['id']}").status == 204
    assert shop.get("/emails").status == 401


def test_an_access_key_is_refused_from_the_moment_of_its_revocation(server, admin):
    key = make(admin, name="desk", kind="access_key", policy=READ_ONE_TABLE)
    desk = client(server, key["id"], key["secret"])
    make_table(desk)
    desk.put_item(TableName="orders", Item={"id": {"S": "1"}})
    assert code_of(desk.list_tables) == "AccessDeniedException"
    assert code_of(client(server, key["id"], "0" * 64).list_tables) == "InvalidSignatureException"
    assert admin.post(f"/keys/{key['id']}/disable").status == 200
    assert code_of(desk.get_item, TableName="orders", Key={"id": {"S": "1"}}) == "UnrecognizedClientException"
    assert admin.post(f"/keys/{key['id']}/enable").status == 200
    desk.get_item(TableName="orders", Key={"id": {"S": "1"}})
    assert admin.request("DELETE", f"/keys/{key['id']}").status == 204
    assert code_of(desk.get_item, TableName="orders", Key={"id": {"S": "1"}}) == "UnrecognizedClientException"


def test_a_temporary_key_may_do_less_and_ends_with_its_key(server, admin):
    key = make(admin, name="desk", kind="access_key", policy=READ_ONE_TABLE)
    desk = client(server, key["id"], key["secret"])
    make_table(desk)
    desk.put_item(TableName="orders", Item={"id": {"S": "1"}})

    def begin(**fields):
        made = admin.post(f"/keys/{key['id']}/sessions", fields).json
        return made, client(server, made["access_key_id"], made["secret_access_key"], made["session_token"])

    made, reader = begin(policy=ONLY_READ)
    assert reader.get_item(TableName="orders", Key={"id": {"S": "1"}})["Item"]
    assert code_of(reader.delete_item, TableName="orders", Key={"id": {"S": "1"}}) == "AccessDeniedException"
    assert code_of(reader.get_item, TableName="others", Key={"id": {"S": "1"}}) == "AccessDeniedException"
    _, whole = begin()
    whole.put_item(TableName="orders", Item={"id": {"S": "2"}})
    assert code_of(whole.list_tables) == "AccessDeniedException"
    other, _ = begin()
    for identifier, secret, token in [
        (made["access_key_id"], made["secret_access_key"], None),
        (made["access_key_id"], made["secret_access_key"], other["session_token"]),
        (made["access_key_id"], made["secret_access_key"], made["session_token"][:-8] + "AAAAAAA="),
        (key["id"], key["secret"], made["session_token"]),
    ]:
        assert code_of(client(server, identifier, secret, token).list_tables) == "UnrecognizedClientException"
    assert admin.request("DELETE", f"/keys/{key['id']}").status == 204
    for ended in (reader, whole):
        assert code_of(ended.get_item, TableName="orders", Key={"id": {"S": "1"}}) == "UnrecognizedClientException"


def test_keys_survive_a_restart_and_secrets_are_nowhere(binary, data, server, admin, admin_secret):
    shop = make(admin, name="shop", role="sender")
    desk = make(admin, name="desk", kind="access_key")
    assert server.rest(shop["secret"]).get("/emails").status == 200
    server.stop()
    assert stat.S_IMODE(os.stat(data / "sealing.key").st_mode) == 0o600
    with OutboxServer(binary, data) as again:
        assert again.rest(shop["secret"]).get("/emails").status == 200
        assert client(again, desk["id"], desk["secret"]).list_tables()["TableNames"]
        listed = {each["name"]: each for each in again.rest(admin_secret).get("/keys").json["data"]}
        assert "last_used_at" in listed["shop"]
    secrets = [key["secret"].rpartition("_")[2] for key in (shop, desk)] + [admin_secret.rpartition("_")[2]]
    log = server.whole_log() + again.whole_log()
    assert not any(secret in log for secret in secrets)
    for file in data.rglob("*"):
        if file.is_file():
            contents = file.read_bytes()
            assert not any(secret.encode() in contents for secret in secrets), file


def test_a_server_does_not_start_without_the_sealing_key(binary, data, server, admin_secret):
    server.stop()
    kept = (data / "sealing.key").rename(data / "elsewhere.key")
    with pytest.raises(RuntimeError, match="--sealing-key"):
        OutboxServer(binary, data)
    with OutboxServer(binary, data, "--sealing-key", kept) as again:
        assert again.rest(admin_secret).get("/keys").status == 200


def test_the_table_is_not_changed_by_the_other_api(server, admin):
    key = make(admin, name="desk", kind="access_key")
    desk = client(server, key["id"], key["secret"])
    items = [each for each in desk.scan(TableName="postino-keys")["Items"] if each["PK"]["S"] == "KEYS"]
    item = next(each for each in items if each["name"]["S"] == "anna")
    assert code_of(desk.put_item, TableName="postino-keys", Item={**item, "state": {"S": "disabled"}}) == "AccessDeniedException"
    assert code_of(desk.delete_table, TableName="postino-keys") == "AccessDeniedException"


def test_the_first_key_is_an_operators(binary, directory):
    with OutboxServer(binary, directory / "open") as server:
        local = server.rest()
        assert local.post("/keys", {"name": "shop", "role": "sender"}).problem["code"] == "KEY_REFUSED"
        assert local.post("/keys", {"name": "desk", "kind": "access_key"}).problem["code"] == "KEY_REFUSED"
        made = local.post("/keys", {"name": "anna", "role": "operator"})
        assert made.status == 201
        assert local.get("/emails").status == 401, "from now on callers need one"
        anna = server.rest(made.json["secret"])
        assert anna.get("/emails").status == 200
        assert code_of(client(server, "local", "local").list_tables) == "UnrecognizedClientException"
        assert anna.request("DELETE", f"/keys/{made.json['id']}").status == 204
        assert local.get("/emails").status == 401, "and nothing opens it again"


def test_a_program_without_a_key_gets_none_for_the_api_that_asks_for_keys(binary, directory):
    with OutboxServer(binary, directory / "half", "--access-key", "id:secret") as server:
        local = server.rest()
        assert local.get("/emails").status == 200
        assert local.post("/keys", {"name": "anna", "role": "operator"}).problem["code"] == "FORBIDDEN"


def test_a_public_address_asks_for_a_first_key(binary, directory):
    data = directory / "public"
    with pytest.raises(RuntimeError, match="postino keys init --name NAME --data"):
        OutboxServer(binary, data, "--http", "0.0.0.0:0")
    secret = init(binary, data)
    with OutboxServer(binary, data, "--http", "0.0.0.0:0", "--dynamodb", "0.0.0.0:0") as server:
        _, _, port = server.addresses["REST"]
        server.url = f"http://127.0.0.1:{port}"
        assert server.rest(secret).get("/keys").status == 200
        assert server.rest().get("/keys").status == 401


def test_quotas_are_told_and_kept(binary, data, server, admin):
    key = make(admin, name="shop", role="sender", emails_per_day=3)
    shop = server.rest(key["secret"])
    two = {"data": [payload(), payload()]}
    accepted = shop.post("/emails", two)
    assert accepted.status == 201
    assert re.search(r'"api_key-emails";q=3;w=86400', accepted.headers["ratelimit-policy"])
    assert re.search(r'"api_key-emails";r=1;t=\d+', accepted.headers["ratelimit"])
    refused = shop.post("/emails", two)
    assert refused.status == 429 and refused.problem["code"] == "QUOTA_EXCEEDED"
    assert int(refused.headers["retry-after"]) > 0
    assert shop.post("/emails", {"data": [payload()]}).status == 201, "one is left"
    assert shop.get("/emails").status == 200, "it is about e-mails alone"
    second = admin.post(f"/keys/{key['id']}/rotate").json
    assert server.rest(second["secret"]).post("/emails", {"data": [payload()]}).status == 429, "it is the holder's"
    with urllib.request.urlopen(server.url + "/metrics") as answer:
        metrics = answer.read().decode()
    assert 'postino_quota_emails_today{of="api_key",name="shop"} 3' in metrics
    server.stop()
    with OutboxServer(binary, data) as again:
        assert again.rest(second["secret"]).post("/emails", {"data": [payload()]}).status == 429, "after a restart"


def test_requests_beyond_a_second_are_refused_by_both_apis(server, admin):
    key = make(admin, name="shop", role="sender", requests_per_second=1)
    shop = server.rest(key["secret"])
    answers = [shop.get("/emails") for _ in range(20)]
    assert answers[0].status == 200
    refused = [answer for answer in answers if answer.status == 429]
    assert refused and refused[0].headers["retry-after"] == "1"
    made = make(admin, name="desk", kind="access_key", requests_per_second=1)
    from botocore.config import Config

    desk = boto3.client(
        "dynamodb",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=made["id"],
        aws_secret_access_key=made["secret"],
        config=Config(retries={"total_max_attempts": 1}),
    )
    codes = set()
    for _ in range(20):
        try:
            desk.list_tables()
        except ClientError as error:
            codes.add(error.response["Error"]["Code"])
    assert codes == {"ThrottlingException"}


def test_drill_a_stolen_key(binary, server, admin, admin_secret):
    """The commands are those of the document."""
    stolen = make(admin, name="shop", role="sender")
    thief = server.rest(stolen["secret"])
    assert thief.get("/emails").status == 200
    section = DOCUMENT.read_text(encoding="utf-8").partition("### Drill: a stolen key\n")[2].partition("\n## ")[0]
    commands = [line.strip() for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]
    commands = [command for command in commands if command]
    assert [command.split()[1:3] for command in commands] == [
        ["keys", "list"],
        ["keys", "rotate"],
        ["keys", "disable"],
        ["audit", "list"],
        ["keys", "delete"],
    ]
    environment = {
        **os.environ,
        "PATH": f"{Path(binary).parent}:{os.environ['PATH']}",
        "POSTINO_URL": server.url,
        "POSTINO_API_KEY": admin_secret,
        "STOLEN": stolen["id"],
    }
    for command in commands:
        done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        if "rotate" in command:
            fresh = re.search(r"pk_[0-9a-f]{16}_[0-9a-f]{64}", done.stdout)[0]
            assert thief.get("/emails").status == 401, "at once"
            assert server.rest(fresh).get("/emails").status == 200
    names = {each["id"]: each["state"] for each in admin.get("/keys").json["data"] if each["name"] == "shop"}
    assert stolen["id"] not in names and list(names.values()) == ["active"]
    told = {(each["action"], each.get("subject")) for each in admin.get("/audit?actor=anna&limit=100").json["data"]}
    assert ("keys.deleted", stolen["id"]) in told and ("keys.disabled", stolen["id"]) in told
