"""Payment reminders from end to end: drafted by a program, approved by a person, received by a mail server, once."""

import concurrent.futures
import json
import signal
import subprocess

import pytest
from botocore.exceptions import ClientError

from store import dynamodb
from test_bounces import AS_MESSAGE, report
from waiting import PATIENCE_SECONDS, eventually

FROM = ("--reminders-from", "Billing <billing@shop.example>")
OPERATOR, DRAFTER, APPROVER, AUDITOR = (f"{role}-0123456789abcdef" for role in ("operator", "drafter", "approver", "auditor"))


def add_customer(rest, name="cust_001", address="ada@customer.example"):
    details = {"customer_name": "Ada <b>Łovelace</b>", "customer_email": address}
    assert rest.put(f"/reminders/customers/{name}", details).status == 200
    invoice = {"amount": "1500.00", "currency": "EUR", "due_date": "2026-01-31"}
    assert rest.put(f"/reminders/customers/{name}/invoices/INV-001", invoice).status == 200


def add_template(rest):
    template = {
        "template_name": "First Reminder Template",
        "subject_template": "Payment Reminder: Invoice {{invoice_id}}",
        "body_template": "Dear {{customer_name}},\nplease pay {{overdue_amount}}.\n",
        "html_template": "<p>Dear {{customer_name}}</p>",
    }
    answer = rest.post("/reminders/templates/reminder_first/versions", template)
    assert answer.status == 201, answer


def draft(rest, customer="cust_001", **fields):
    asked = {"customer_id": customer, "reminder_type": "first", "created_by": "ai_system", **fields}
    if "template_id" not in fields:
        asked.update({"email_subject": "Please pay", "email_content": "Dear customer, please pay."})
    answer = rest.post("/reminders/drafts", asked)
    assert answer.status == 201, answer
    return answer.json


def approve(rest, identifier, revision=1, by="user_123"):
    return rest.post(f"/reminders/drafts/{identifier}/approve", {"revision": revision, "approved_by": by})


def await_delivery(rest, reminder, *statuses, customer="cust_001"):
    def look():
        seen = rest.fetch(f"/reminders/customers/{customer}/history/{reminder}")
        return seen if seen["delivery_status"] in statuses else None

    return eventually(look, " or ".join(statuses))


def test_from_draft_to_bounce(start, sink):
    """Draft, preview, approve, receive, bounce, see the history; with a mail server of Postfix."""
    mail_server = sink()
    server = start("--smtp", mail_server.address, *FROM)
    rest = server.rest()
    add_customer(rest)
    add_template(rest)
    assert [each["customer"]["customer_id"] for each in rest.fetch("/reminders/overdue")["data"]] == ["cust_001"]

    wanted = {"customer_id": "cust_001", "reminder_type": "first"}
    preview = rest.post("/reminders/templates/reminder_first/preview", wanted).json
    made = draft(rest, template_id="reminder_first")
    assert made["email_content"] == preview["email_content"]
    assert made["email_html"] == "<p>Dear Ada &lt;b&gt;Łovelace&lt;/b&gt;</p>"
    assert made["overdue_amount"] == "1500.00" and made["overdue_invoices"] == ["INV-001"]
    assert [each["id"] for each in rest.fetch("/reminders/drafts")["data"]] == [made["id"]]

    sent = approve(rest, made["id"])
    assert sent.status == 200, sent
    (mail,) = mail_server.await_mail()
    assert mail.recipients == ["ada@customer.example"]
    assert mail.message["Subject"] == "Payment Reminder: Invoice INV-001" == made["email_subject"]
    assert mail.text().replace("\r\n", "\n").strip() == made["email_content"].strip()
    assert mail.message["From"].addresses[0].addr_spec == "billing@shop.example"
    assert mail.id == sent.json["email_id"]
    assert mail.message["Message-ID"].strip("<>") == sent.json["message_id"].strip("<>")
    delivered = await_delivery(rest, sent.json["id"], "sent")
    assert delivered["approved_by"] == "user_123" and delivered["revision"] == 1

    refused = approve(rest, draft(rest)["id"])
    assert refused.problem["code"] == "REMINDER_RULE" and refused.problem["rule"] == "too_soon"
    assert refused.problem["allowed_from"]

    bounce = report(sent.json["email_id"], "ada@customer.example")
    assert rest.post("/bounces", bounce, AS_MESSAGE).status == 200
    bounced = await_delivery(rest, sent.json["id"], "bounced")
    assert "5.1.1" in bounced["failure"] or "unknown user" in bounced["failure"]
    customer = eventually(
        lambda: (seen := rest.fetch("/reminders/customers/cust_001"))["hard_bounces"] and seen, "a bounce"
    )
    assert customer["hard_bounces"] == 1 and customer["stopped"]
    assert approve(rest, rest.fetch("/reminders/drafts")["data"][0]["id"]).problem["code"] == "REMINDERS_STOPPED"
    assert len(mail_server.received()) == 1
    actions = [event["action"] for event in rest.fetch("/reminders/audit", subject="drafts/")["data"]]
    assert "draft.approved" in actions


def test_many_approvals_at_once_send_one_mail(start, recorder):
    server = start("--smtp", recorder.address, *FROM)
    rest = server.rest()
    add_customer(rest)
    drafts = [draft(rest)["id"] for _ in range(5)]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda each: approve(server.rest(), each), drafts * 8))
    assert sorted({answer.status for answer in answers}) == [200, 409], "each gets a decision"
    (accepted,) = [answer for answer in answers if answer.status == 200]
    await_delivery(rest, accepted.json["id"], "sent")
    assert [mail.id for mail in recorder.await_mail()] == [accepted.json["email_id"]]
    assert len(rest.fetch("/reminders/customers/cust_001/history")["data"]) == 1


def test_a_killed_server_sends_what_was_approved_once(start, recorder):
    recorder.replies["CONNECT"] = "421 4.3.2 not now"
    server = start("--smtp", recorder.address, "--retry-first", "1s", "--lease", "1s", *FROM)
    rest = server.rest()
    add_customer(rest)
    sent = approve(rest, draft(rest)["id"]).json
    server.kill()
    recorder.replies.clear()
    rest = start("--smtp", recorder.address, "--retry-first", "1s", "--lease", "1s", *FROM).rest()
    await_delivery(rest, sent["id"], "sent")
    assert [mail.id for mail in recorder.acknowledged] == [sent["email_id"]]


def test_a_final_failure_frees_the_customer(start, recorder):
    recorder.refusals["ada@customer.example"] = "550 5.7.1 no"
    rest = start("--smtp", recorder.address, *FROM).rest()
    add_customer(rest)
    sent = approve(rest, draft(rest)["id"]).json
    failed = await_delivery(rest, sent["id"], "failed", "bounced")
    assert "5.7.1" in failed["failure"]
    assert [each["id"] for each in rest.fetch("/reminders/sent", status="failed")["data"]] == [sent["id"]]
    # Another reminder may take its place, so this one is not sent after all.
    again = rest.post(f"/emails/{sent['email_id']}/requeue")
    assert (again.status, again.json["code"]) == (409, "WRONG_REMINDER_STATE"), again
    decision = rest.fetch("/reminders/check", customer_id="cust_001", reminder_type="first")["decision"]
    assert decision["allowed"], "what the customer did not get does not count"


class TestKeys:
    @pytest.fixture
    def server(self, start, directory):
        self.file = directory / "postino.toml"
        self.write_keys(OPERATOR, DRAFTER, APPROVER, AUDITOR)
        return start("--config", self.file, *FROM)

    def write_keys(self, *secrets):
        keys = ", ".join(f'"{secret.partition("-")[0]}:{secret.partition("-")[0]}:{secret}"' for secret in secrets)
        self.file.write_text(f"[http]\napi_keys = [{keys}]\n", encoding="utf-8")

    def test_a_revoked_key_approves_nothing(self, server):
        add_customer(server.rest(OPERATOR))
        made = draft(server.rest(DRAFTER))
        assert approve(server.rest(DRAFTER), made["id"]).status == 403
        self.write_keys(OPERATOR, DRAFTER, AUDITOR)
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: any("reloaded" in line for line in server.log), "the new keys")
        assert approve(server.rest(APPROVER), made["id"]).status == 401
        assert server.rest(DRAFTER).fetch(f"/reminders/drafts/{made['id']}")["status"] == "draft"

    def test_roles_see_what_is_theirs(self, server):
        add_customer(server.rest(OPERATOR))
        sent = approve(server.rest(APPROVER), draft(server.rest(DRAFTER))["id"]).json
        for secret in (DRAFTER, APPROVER, AUDITOR):
            assert server.rest(secret).get(f"/emails/{sent['email_id']}").status == 403
            assert server.rest(secret).get("/reminders/sent").status == 200
            assert server.rest(secret).put("/reminders/customers/x", {}).status == 403
        assert server.rest(APPROVER).get("/reminders/audit").status == 403
        events = server.rest(AUDITOR).fetch("/reminders/audit", subject=f"drafts/{sent['draft_id']}")["data"]
        (event,) = [event for event in events if event["action"] == "draft.approved"]
        assert event["key"] == "approver" and event["actor"] == "user_123"
        assert event["from"] == "127.0.0.1"


def test_who_drafted_it_does_not_approve_it(start):
    rest = start("--other-person-approves", *FROM).rest()
    add_customer(rest)
    made = draft(rest)
    assert approve(rest, made["id"], by="ai_system").problem["code"] == "SAME_PERSON"


def test_the_audit_can_be_read_and_not_changed(start):
    server = start(*FROM)
    add_customer(server.rest())
    draft(server.rest())
    table = dynamodb(server, "resource").Table("EmailTrackingTable-audit")
    events = table.scan()["Items"]
    assert events and "ada@" not in json.dumps(events, default=str)
    key = {"PK": events[0]["PK"], "SK": events[0]["SK"]}
    client = dynamodb(server)
    for change in (
        lambda: table.put_item(Item={**key, "actor": "nobody"}),
        lambda: table.delete_item(Key=key),
        lambda: table.update_item(Key=key, UpdateExpression="REMOVE actor"),
        lambda: client.execute_statement(
            Statement=f"""DELETE FROM "{table.name}" WHERE PK = '{key["PK"]}' AND SK = '{key["SK"]}'"""
        ),
        lambda: client.batch_write_item(
            RequestItems={table.name: [{"DeleteRequest": {"Key": {name: {"S": key[name]} for name in key}}}]}
        ),
        lambda: client.transact_write_items(
            TransactItems=[{"Delete": {"TableName": table.name, "Key": {name: {"S": key[name]} for name in key}}}]
        ),
        table.delete,
        lambda: client.update_time_to_live(
            TableName=table.name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "at"}
        ),
    ):
        with pytest.raises(ClientError) as refused:
            change()
        assert refused.value.response["Error"]["Code"] == "AccessDeniedException"
    assert table.scan()["Items"] == events


@pytest.mark.embedded_only
def test_a_former_audit_stays_closed(start):
    server = start(*FROM)
    add_customer(server.rest())
    server.stop()
    for settings in (("--reminders-table", "Other"), ("--no-reminders",)):
        server = start(*settings)
        client = dynamodb(server)
        table = dynamodb(server, "resource").Table("EmailTrackingTable-audit")
        events = table.scan()["Items"]
        assert events
        key = {"PK": events[0]["PK"], "SK": events[0]["SK"]}
        arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
        for change in (
            lambda: table.delete_item(Key=key),
            table.delete,
            lambda: client.update_table(TableName=table.name, BillingMode="PAY_PER_REQUEST"),
            lambda: client.untag_resource(ResourceArn=arn, TagKeys=["postino:read-only"]),
            lambda: client.update_time_to_live(
                TableName=table.name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "at"}
            ),
        ):
            with pytest.raises(ClientError) as refused:
                change()
            assert refused.value.response["Error"]["Code"] == "AccessDeniedException"
        server.stop()


def test_a_server_without_reminders_has_none(start):
    server = start("--no-reminders")
    assert server.rest().get("/reminders/drafts").problem["code"] == "NO_REMINDERS"
    assert "EmailTrackingTable" not in dynamodb(server).list_tables()["TableNames"]


def test_a_record_that_cannot_be_read_hides_no_others(start, binary):
    server = start(*FROM)
    rest = server.rest()
    add_customer(rest)
    table = dynamodb(server, "resource").Table("EmailTrackingTable")
    table.put_item(
        Item={
            "PK": "CUSTOMER#cust_001",
            "SK": "INVOICE#INV-000",
            "GSI1PK": "INVOICES",
            "GSI1SK": "cust_001#INV-000",
            "amount": "much",
        }
    )
    page = rest.fetch("/reminders/customers/cust_001/invoices")
    assert [each["invoice_id"] for each in page["data"]] == ["INV-001"] and page["unreadable"] == 1
    assert "unreadable" not in rest.fetch("/reminders/customers")
    ended = subprocess.run(
        [binary, "reminders", "invoices", "list", "cust_001"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        env={"POSTINO_URL": server.url, "LC_ALL": "C.UTF-8"},
    )
    assert ended.returncode == 0 and "INV-001" in ended.stdout, ended
    assert ended.stderr == "Left out, because they cannot be read: 1. The log of the server says which.\n"


def test_commands(start, binary, directory):
    server = start(*FROM)

    def postino(*arguments, status=0, input=None):
        ended = subprocess.run(
            [binary, "reminders", *arguments],
            input=input,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            env={"POSTINO_URL": server.url, "LC_ALL": "C.UTF-8"},
        )
        assert ended.returncode == status, ended
        return ended.stdout + ended.stderr

    customers = "customer_id,customer_name,customer_email\nc1,Ann,ann@customer.example\nc2,Bob,nowhere\n"
    assert "1 taken, 0 unchanged, 1 refused" in postino("import", "customers", "-", input=customers, status=3)
    assert postino("import", "customers", "-", input="\n", status=1) == "postino: the standard input is empty\n"
    assert "There is nothing to import" in postino("import", "customers", "-", input=customers.split("\n")[0] + "\n")
    (directory / "empty").write_text("")
    assert f"{directory / 'empty'} is empty" in postino("import", "invoices", str(directory / "empty"), status=1)
    assert f"{directory / 'empty'}: must" in postino("drafts", "bulk", "--file", str(directory / "empty"), status=1)
    invoice = {"customer_id": "c1", "invoice_id": "I1", "amount": "9.90", "currency": "EUR", "due_date": "2026-01-01"}
    assert "1 taken" in postino("import", "invoices", "-", input=json.dumps(invoice) + "\n")
    assert "I1" in postino("overdue") and "9.90" in postino("invoices", "list", "c1")
    (directory / "text").write_text("Dear {{customer_name}},\nplease pay.\n", encoding="utf-8")
    postino("templates", "add", "t1", "--subject-template", "Pay", "--body-template-file", str(directory / "text"))
    assert "Dear Ann" in postino("templates", "preview", "t1", "--customer-id", "c1", "--reminder-type", "first")
    made = json.loads(
        postino("drafts", "new", "--customer-id", "c1", "--reminder-type", "first", "--template-id", "t1", "--json")
    )
    assert made["id"] in postino("drafts", "list")
    postino("drafts", "revise", made["id"], "--revision", "1", "--email-subject", "Pay now", "--email-content", "Please.")
    assert "+Pay now" in postino("drafts", "diff", made["id"])
    assert "must be the current revision, which is 2" in postino("drafts", "approve", made["id"], "--revision", "1", status=1)
    assert "approved-by is required" in postino("drafts", "approve", made["id"], "--revision", "2", status=1)
    assert "Pay now" in postino("drafts", "approve", made["id"], "--revision", "2", "--approved-by", "ann")
    assert "first" in postino("customers", "history", "c1") and "too_soon" in postino(
        "check", "--customer-id", "c1", "--reminder-type", "first"
    )
    drafts = [{"customer_id": "c1", "reminder_type": "first", "email_subject": "a", "email_content": "b"}] * 2
    bulk = json.loads(postino("drafts", "bulk", "--file", "-", "--json", input=json.dumps(drafts)))
    assert bulk["summary"] == {"total": 2, "successful": 2, "failed": 0}
    drafts[1] = {**drafts[1], "customer_id": "nobody"}
    bulk = json.loads(postino("drafts", "bulk", "--file", "-", "--json", input=json.dumps(drafts), status=3))
    assert bulk["summary"]["failed"] == 1
    assert "draft.approved" in postino("audit")
    rules = postino("rules")
    assert "final" in rules and "7 days" in rules and "PT" not in rules
    assert postino("export", "customers").splitlines()[0].startswith("customer_id")
    assert "removed" in postino("customers", "erase", "c1", "--also-unpaid")
