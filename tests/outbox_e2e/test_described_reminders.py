"""Every operation about reminders is called, and what it really answers is held against the OpenAPI document."""

import pytest

from described_rest import DescribedRest

SERVER_FLAGS = ("--reminders-from", "Billing <billing@shop.example>")
NOBODY = "nobody"
TEXT = {"email_subject": "Please pay", "email_content": "Dear Ada.", "email_html": "<p>Dear Ada.</p>"}
TEMPLATE = {
    "template_name": "First",
    "template_type": "first",
    "subject_template": "Invoice {{invoice_id}}",
    "body_template": "Dear {{customer_name}}, {{words}}",
    "html_template": "<p>{{customer_name}}</p>",
    "required": ["words"],
    "branding": "ours",
    "created_by": "ann",
}
AS_CSV = {"Content-Type": "text/csv"}


@pytest.fixture(scope="module")
def api(rest):
    return DescribedRest(rest)


@pytest.fixture(scope="module")
def customer(api):
    details = {"customer_name": "Ada", "customer_email": "ada@customer.example"}
    api.call("putCustomer", 200, details, id="cust_001")
    invoice = {"amount": "1500.00", "currency": "EUR", "due_date": "2026-01-31"}
    api.call("putInvoice", 200, invoice, id="cust_001", invoice="INV-001")
    return "cust_001"


@pytest.fixture(scope="module")
def template(api):
    branding = {"from": "Shop <shop@shop.example>", "reply_to": "help@shop.example", "company": "Shop"}
    frame = {"text_footer": "Shop", "html_header": "<b>", "html_footer": "</b>"}
    api.call("putBranding", 200, {**branding, **frame}, branding="ours")
    api.call("addTemplateVersion", 201, TEMPLATE, template="first")
    return "first"


def new_draft(api, operation="draftReminder", customer="cust_001"):
    asked = {"customer_id": customer, "reminder_type": "first", "created_by": "ai_system", **TEXT}
    return api.call(operation, 201, asked).json["id"]


def test_customers_and_invoices(api, customer):
    api.call("putCustomer", 400, {"customer_name": "Ada"}, id=customer)
    api.call("getCustomer", 200, id=customer)
    api.call("getCustomer", 404, id=NOBODY)
    assert api.call("listCustomers", 200, query={"limit": 1}).json["data"]
    api.call("getOverdue", 200, id=customer)
    api.call("listOverdue", 200)
    api.call("listLatePayers", 200)
    api.call("listInvoices", 200, id=customer)
    api.call("getInvoice", 200, id=customer, invoice="INV-001")
    api.call("getInvoice", 404, id=customer, invoice="INV-9")
    api.call("putInvoice", 200, {"amount": "5", "currency": "JPY", "due_date": "2026-01-31"}, id=customer, invoice="INV-002")
    payment = {"amount": "5", "currency": "JPY", "paid_date": "2026-02-01T00:00:00Z", "reference": "bank-7"}
    assert api.call("payInvoice", 200, payment, id=customer, invoice="INV-002").json["status"] == "paid"
    api.call("payInvoice", 400, {"amount": "x"}, id=customer, invoice="INV-001")
    api.call("optOut", 200, {"reason": "asked"}, id=customer)
    api.call("noteComplaint", 200, {"reason": "angry"}, id=customer)
    assert "stopped" not in api.call("optIn", 200, {}, id=customer).json
    api.call("optOut", 404, id=NOBODY)


def test_files(api):
    lines = "customer_id,customer_name,customer_email\nc1,Ann,ann@customer.example\nc2,Bob,none\n"
    assert api.call("importCustomers", 200, lines, headers=AS_CSV).json["refused"] == 1
    invoices = "customer_id,invoice_id,amount,currency,due_date\nc1,I1,1.50,EUR,2026-01-01\n"
    assert api.call("importInvoices", 200, invoices, headers=AS_CSV).json["taken"] == 1
    api.call("importInvoices", 400, "nothing\n", headers=AS_CSV)
    api.call("importInvoices", 415, "{}", headers={"Content-Type": "application/json"})
    api.call("exportCustomers", 200)
    api.call("exportInvoices", 200, query={"format": "json"})


def test_templates(api, customer, template):
    api.call("addTemplateVersion", 400, {**TEMPLATE, "subject_template": "{{"}, template=template)
    api.call("addTemplateVersion", 201, TEMPLATE, template=template)
    api.call("activateTemplate", 200, {"version": 2}, template=template)
    api.call("activateTemplate", 404, {"version": 7}, template=template)
    api.call("getTemplate", 200, template=template, query={"version": 1})
    api.call("getTemplate", 404, template=NOBODY)
    assert len(api.call("listTemplateVersions", 200, template=template).json["data"]) == 2
    assert api.call("listTemplates", 200).json["data"]
    api.call("previewTemplate", 200, {"variables": {"words": "please"}}, template=template)
    with_customer = {"customer_id": customer, "reminder_type": "first", "variables": {"words": "please"}}
    api.call("previewTemplate", 200, with_customer, template=template)
    api.call("previewTemplate", 400, {"variables": {"wrods": "please"}}, template=template)
    api.call("putTemplateOverride", 200, TEMPLATE, id=customer, template=template)
    assert api.call("getTemplateInUse", 200, id=customer, template=template).json["customer_id"] == customer
    api.call("removeTemplateOverride", 204, id=customer, template=template)
    api.call("removeTemplateOverride", 404, id=customer, template=template)
    api.call("getBranding", 200, branding="ours")
    api.call("getBranding", 404, branding=NOBODY)
    api.call("listBrandings", 200)


def test_drafts(api, customer, template):
    draft = new_draft(api)
    other = new_draft(api, "draftReminderByFormerPath")
    asked = {"customer_id": customer, "reminder_type": "first", "template_id": template, "variables": {"words": "please"}}
    bulk = api.call("draftReminders", 200, {"drafts": [asked, {**asked, "customer_id": NOBODY}]}).json
    assert bulk["summary"] == {"total": 2, "successful": 1, "failed": 1}
    api.call("draftReminder", 404, {**asked, "template_id": NOBODY})
    api.call("draftReminder", 400, {**asked, "reminder_type": "fourth"})
    api.call("getDraft", 200, id=draft)
    api.call("getDraft", 404, id=NOBODY)
    for operation in ("listDrafts", "listDraftsByFormerPath"):
        query = {"status": "any", "customer_id": customer, "reminder_type": "first", "limit": 2}
        page = api.call(operation, 200, query=query).json
        assert len(page["data"]) == 2 and page["cursor"]
    api.call("reviseDraft", 201, {"revision": 1, "revised_by": "bob", **TEXT, "email_subject": "Pay"}, id=draft)
    api.call("reviseDraft", 409, {"revision": 1, **TEXT}, id=draft)
    api.call("listRevisions", 200, id=draft)
    assert "+Pay" in api.call("compareRevisions", 200, id=draft, query={"from": 1, "to": 2}).json["email_subject"]
    refused = api.call("approveDraft", 409, {"revision": 1}, id=draft)
    assert refused.json["current_revision"] == 2
    sent = api.call("approveDraft", 200, {"revision": 2, "approved_by": "ann"}, id=draft).json
    api.call("approveDraft", 400, {"revision": 1}, id=other)
    assert "allowed_from" in api.call("approveDraft", 409, {"revision": 1, "approved_by": "ann"}, id=other).json
    api.call("putCustomer", 200, {"customer_name": "Bob", "customer_email": "bob@customer.example"}, id="cust_002")
    named = {"draft_id": new_draft(api, customer="cust_002"), "revision": 1, "approved_by": "ann"}
    api.call("approveAndSend", 200, named)
    api.call("approveAndSend", 409, named)
    api.call("approveAndSend", 404, {**named, "draft_id": NOBODY})
    api.call("rejectDraft", 200, {"revision": 1, "reason": "too rude", "rejected_by": "ann"}, id=other)
    api.call("rejectDraft", 409, {"revision": 1, "reason": "too rude"}, id=other)
    for operation in ("listSentReminders", "listSentRemindersByFormerPath"):
        assert api.call(operation, 200, query={"since": "2020-01-01T00:00:00Z"}).json["data"]
        assert api.call(operation, 200, query={"since": "2020-01-01", "customer_id": "cust_002"}).json["data"]
        api.call(operation, 404, query={"customer_id": NOBODY})
    api.call("listSentReminders", 200, query={"status": "failed"})
    api.call("listCustomerHistory", 200, id=customer, query={"reminder_type": "first"})
    api.call("getSentReminder", 200, id=customer, reminder=sent["id"])
    api.call("getSentReminder", 404, id=customer, reminder=NOBODY)


def test_oversight(api, customer):
    api.call("listRules", 200)
    api.call("checkRules", 200, query={"customer_id": customer, "reminder_type": "second"})
    api.call("checkRules", 404, query={"customer_id": NOBODY, "reminder_type": "first"})
    api.call("getSummary", 200)
    api.call("getSummary", 400, query={"date": "today"})
    assert api.call("listAuditEvents", 200, query={"subject": "drafts/"}).json["data"]


# These come last: one erases the customer, the other looks at what the others did.


def test_erasure(api, customer):
    assert api.call("exportCustomer", 200, id=customer).json
    api.call("exportCustomer", 404, id=NOBODY)
    api.call("eraseCustomer", 409, {}, id=customer)
    assert api.call("eraseCustomer", 200, {"also_unpaid": True}, id=customer).json["removed"]


def test_every_operation_was_called_and_has_succeeded(api):
    succeeded = {name for name, statuses in api.exercised.items() if any(status < 300 for status in statuses)}
    of_reminders = {name for name, (_, _, operation) in api.operations.items() if operation["tags"] == ["Reminders"]}
    assert succeeded == of_reminders
