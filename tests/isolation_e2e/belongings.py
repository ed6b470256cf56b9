"""What the tenant `north` and its customer have: real data behind every operation, with marks that are searched for in what
others are answered. Whoever adds an operation to the API adds to the tables below what it needs."""

import base64

from test_bounces import report
from waiting import eventually

MARK = "xqz7"  # in every text and name of the owner, and in no other
ADDRESS = f"{MARK}-ada@customer.example"
CUSTOMER = f"{MARK}-customer"
QUEUE = f"{MARK}-queue"
USER = f"{MARK}-anna"
# Of the reference implementation of argon2id, for "password".
HASH = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
FUTURE = "2099-01-01T00:00:00Z"

EMAIL = {
    "from": f"{MARK}-shop@shop.example",
    "to": ADDRESS,
    "subject": f"{MARK} subject",
    "body_text": f"{MARK} text",
    "tags": [f"{MARK}-tag"],
    "custom_headers": {"X-Mark": MARK},
    "callback_url": f"http://127.0.0.1:1/{MARK}",
}
REMINDER_TEXT = {"email_subject": f"{MARK} pay", "email_content": f"{MARK} please"}
DRAFT = {"customer_id": CUSTOMER, "reminder_type": "first", "created_by": f"{MARK}-ann", **REMINDER_TEXT}
TEMPLATE = {
    "template_name": f"{MARK} name",
    "template_type": "first",
    "subject_template": f"{MARK} subject",
    "body_template": f"{MARK} body",
}
TICKET = {
    "customer": {"id": CUSTOMER, "name": f"{MARK} Ada", "contact_email": ADDRESS},
    "asset": {"product_type": f"{MARK}-router", "serial": f"{MARK}-serial"},
    "symptom_text": f"{MARK}: it restarts every ten minutes.",
    "error_code": f"{MARK}-error",
    "priority": "P2",
}
FILE = base64.b64encode(f"{MARK} file\n".encode()).decode()

# The bodies of requests, by operation: those of the owner, and those of strangers who try the same. Names in braces are
# filled in from what the owner has.
BODIES = {
    "acceptEmails": {"data": [EMAIL]},
    "cancelEmail": {"reason": "mine"},
    "holdEmail": {"reason": "mine"},
    "releaseEmail": {"reason": "mine"},
    "requeueEmail": {"reason": "mine"},
    "retryEmail": None,
    "replayCallback": None,
    "suppressAddress": {"reason": f"{MARK} reason"},
    "takeBounce": {"message": "{bounce}"},
    "produceMessages": {
        "target": {"queueName": QUEUE},
        "settings": {"totalMessages": 1},
        "messages": [{"body": f"{MARK} message"}],
    },
    "consumeMessages": {
        "target": {"queueName": QUEUE},
        "settings": {"maxMessages": 5, "waitTimeout": "PT0S"},
    },
    "testConnection": {"connection": "embedded"},
    "planCapacity": {"item_bytes": 1},
    "planCapacityAsFormerly": {"reads_per_second": 1, "writes_per_second": 1, "item_size_kb": 1, "storage_gb": 1},
    "restartObservation": None,
    "createKey": {"name": f"{MARK}-key", "role": "operator"},
    "rotateKey": {},
    "beginKeySession": {},
    "signIn": {"user": USER, "password": "a wrong password"},
    "putCustomer": {"customer_name": f"{MARK} Ada", "customer_email": ADDRESS},
    "putInvoice": {"amount": "77.31", "currency": "EUR", "due_date": "2026-01-31"},
    "payInvoice": {"amount": "77.31", "currency": "EUR", "reference": f"{MARK}-bank"},
    "optOut": {"reason": "asked"},
    "noteComplaint": {"reason": "angry"},
    "optIn": {},
    "eraseCustomer": {},
    "importCustomers": f"customer_id,customer_name,customer_email\n{CUSTOMER},{MARK} Eve,eve@customer.example\n",
    "importInvoices": f"customer_id,invoice_id,amount,currency,due_date\n{CUSTOMER},{MARK}-invoice,1.50,EUR,2026-01-01\n",
    "addTemplateVersion": TEMPLATE,
    "activateTemplate": {"version": 1},
    "previewTemplate": {"customer_id": CUSTOMER, "reminder_type": "first"},
    "putTemplateOverride": TEMPLATE,
    "putBranding": {"from": f"{MARK}-brand@shop.example", "company": f"{MARK} company"},
    "draftReminder": DRAFT,
    "draftReminders": {"drafts": [DRAFT]},
    "reviseDraft": {"revision": 1, **REMINDER_TEXT},
    "approveDraft": {"revision": 1, "approved_by": "bob"},
    "approveAndSend": {"draft_id": "{draft}", "revision": 1, "approved_by": "bob"},
    "rejectDraft": {"revision": 1, "reason": "too rude", "rejected_by": "bob"},
    "createTicket": TICKET,
    "moveTicket": {"status": "PROCESSING"},
    "escalateTicket": {"engineer": f"{MARK}-engineer", "reason": f"{MARK} hard"},
    "deescalateTicket": {"reason": "easy"},
    "changeTicketPriority": {"priority": "P1"},
    "addFeedback": {"operator_id": f"{MARK}-operator", "rating": 4, "was_helpful": True, "comments": f"{MARK} well"},
    "addTicketEvent": {"event_type": "called", "details": {"with": f"{MARK} Ada"}},
    "sendTicketEmail": {"subject": f"{MARK} answer", "text": f"{MARK} thanks"},
    "receiveTicketAnswer": {"headers": "{answer_headers}", "text": "It works."},
    "addAttachment": {"name": f"{MARK}.txt", "content_base64": FILE},
    "putCachedResult": {"data": {"answer": f"{MARK} forty-two"}},
}
# Other types of bodies than JSON.
CONTENT_TYPES = {"importCustomers": "text/csv", "importInvoices": "text/csv"}

# What parameters of paths stand for, by the beginning of the path. The longest that fits counts.
PATH_PARAMETERS = {
    ("/keys", "key"): "key",
    ("/emails", "id"): "email",
    ("/dead-callbacks", "id"): "email",
    ("/mailbox", "id"): "email",
    ("/suppressions", "address"): "address",
    ("/messages/queues", "queue"): "queue",
    ("/reminders/customers", "id"): "customer",
    ("/reminders/customers", "invoice"): "invoice",
    ("/reminders/customers", "reminder"): "reminder",
    ("/reminders/customers", "template"): "template",
    ("/reminders/templates", "template"): "template",
    ("/reminders/brandings", "branding"): "branding",
    ("/reminders/drafts", "id"): "draft",
    ("/tickets", "id"): "ticket",
    ("/tickets", "attachment_id"): "attachment",
    ("/ticket-cache", "key"): "cached",
    ("/figures", "source"): "source",
    ("/figures/set-aside", "id"): "set_aside",
    ("/sessions", "session"): "session",
    ("/users", "user"): "user",
    ("/users", "session"): "session",
}
# Parameters of the query that name something of the owner, each with a value that finds it.
QUERY_PARAMETERS = {
    "to": ADDRESS,
    "from": EMAIL["from"],
    "tag": EMAIL["tags"][0],
    "subject": EMAIL["subject"],
    "customer_id": CUSTOMER,
    "connection": "embedded",
    "actor": f"{MARK}-ann",
    "key": "north",
    "engineer": f"{MARK}-engineer",
    "operator_id": f"{MARK}-operator",
    "product_type": TICKET["asset"]["product_type"],
    "error_code": TICKET["error_code"],
    "ids": "{ticket}",
    "tenant": "north",
}
# And those that name nothing of anyone, with a value; None: the parameter is left out.
OTHER_PARAMETERS = {
    "limit": "100",
    "cursor": None,  # tried by itself
    "status": None,
    "since": "2020-01-01T00:00:00Z",
    "until": FUTURE,
    "format": "json",
    "date": None,
    "version": "1",
    "reminder_type": "first",
    "action": None,
    "result": "allowed",
    "known": None,
    "order": "oldest",
    "priority": "P2",
    "scope": None,
    "unit": "hours",
}
# By operation, where parameters of these names are others than above, or must be given.
SPECIAL_QUERIES = {
    "compareRevisions": [{"from": "1", "to": "1"}],
    "checkRules": [{"customer_id": CUSTOMER, "reminder_type": "first"}],
    "getTickets": [{"ids": "{ticket}"}],
    "listTickets": [
        {},
        {"since": "2020-01-01T00:00:00Z", "until": FUTURE, "priority": "P2"},
        {"customer_id": CUSTOMER},
        {"product_type": f"{MARK}-router"},
        {"error_code": f"{MARK}-error"},
        {"status": "NEW"},
    ],
    "listFeedback": [{"operator_id": f"{MARK}-operator"}],
    "getFigureHistory": [{}, {"tenant": "north"}, {"unit": "minutes"}],
    "listTicketEvents": [{}, {"since": "2020-01-01", "until": "2099-01-01", "order": "oldest"}],
}

# Operations that read and show nothing of a tenant, with the reason. Every other one must show the owner a mark.
SHOW_NOTHING = {
    "checkHealth": "about the server",
    "describeApi": "about the server",
    "getCapacityPrices": "prices of AWS",
    "getObservedTraffic": "about all tenants: refused to each",
    "listRules": "the settings",
    "checkRules": "what the rules say, and no text",
    "countEmails": "numbers",
    "getSummary": "numbers",
    "getTicketCounts": "numbers",
    "getQueueDepth": "a number",
    "listOwnSessions": "the owner calls with an API key, which has none",
    "listStaleEmails": "none is stale",
    "listOverdue": "sums",
    "listLatePayers": "none is late",
    "getFigures": "numbers",
    "watchFigures": "numbers",
    "getFigureHistory": "numbers",
    "listFollowers": "about all tenants: refused to each",
    "listSetAside": "about all tenants: refused to each",
    "verifyAudit": "about all tenants: refused to each",
    "listKeys": "about all tenants: refused to each",
    "listBackups": "about all tenants: refused to each",
    "showBackupState": "about all tenants: refused to each",
}
# Operations about a thing of this name in the caller's own tenant: another one than the owner's.
OWN_BY_NAME = {"getQueueDepth", "getFigureHistory"}
# Operations that show callers what they themselves have asked for, also in vain: each entry says whose it is.
TELL_OF_CALLERS = {"listAudit"}
# Answers that differ from call to call, with the reason.
CHANGING = {
    "getObservedTraffic": "it counts requests",
    "listAuditEvents": "the owner's own exports are noted there",
    "listAudit": "what the owner's own calls do is noted there",
    "exportCustomer": "it has the audit in it",
    "getFigures": "it says how far changes are counted",
    "getTicketCounts": "it says how far changes are counted",
    "watchFigures": "it says how far changes are counted",
    "getFigureHistory": "the owner's last changes may be counted meanwhile",
    "listFollowers": "about all tenants",
}


def key_of(method, path):
    """The idempotency key of a request: strangers use the owner's."""
    return {"Idempotency-Key": f"key-{method}-{path}"} if method == "POST" else {}


class Belongings:
    """Makes what the owner has. `things` has the ids, `marks` all texts that no other may see."""

    def __init__(self, owner, has_tickets):
        self.owner = owner
        self.things = {"address": f"{MARK}-other@customer.example", "queue": QUEUE, "customer": CUSTOMER, "user": USER}
        self.things |= {"source": "reminders", "set_aside": "any", "key": "any"}
        self._emails()
        self._reminders()
        self._session()
        if has_tickets:
            self._tickets()
        # Ids of drafts and reminders are a second and a customer: a stranger's own may be the same.
        no_marks = {"bounce", "answer_headers", "draft", "approved", "reminder", "source", "set_aside", "key"}
        self.marks = {MARK} | {thing for name, thing in self.things.items() if name not in no_marks}

    def _make(self, method, path, body, headers=None):
        answer = self.owner.request(method, path, body, key_of(method, path) if headers is None else headers)
        assert answer.status in (200, 201, 202, 204), (method, path, answer)
        return answer.json if answer.body else None

    def _emails(self):
        email = self._make("POST", "/emails", BODIES["acceptEmails"])["results"][0]["id"]
        invalid = self.owner.accept_one({**EMAIL, "attachments": [f"{MARK}.pdf"]})
        for each in (email, invalid):
            self.owner.await_email(each, lambda it: it.get("callback", {}).get("dead"), "a dead callback")
        self._make("PUT", f"/suppressions/{self.things['address']}", BODIES["suppressAddress"])
        self._make("POST", "/messages/produce", BODIES["produceMessages"])
        self.things |= {"email": email, "invalid": invalid, "bounce": report(email, ADDRESS)}

    def _reminders(self):
        customer = f"/reminders/customers/{CUSTOMER}"
        self._make("PUT", customer, BODIES["putCustomer"])
        self._make("PUT", f"{customer}/invoices/{MARK}-invoice", BODIES["putInvoice"])
        self._make("PUT", f"/reminders/brandings/{MARK}-brand", BODIES["putBranding"])
        self._make("POST", f"/reminders/templates/{MARK}-template/versions", TEMPLATE)
        self._make("PUT", f"{customer}/templates/{MARK}-template", TEMPLATE)
        approved = self._make("POST", "/reminders/drafts", DRAFT)["id"]
        sent = self._make("POST", f"/reminders/drafts/{approved}/approve", BODIES["approveDraft"])
        draft = self._make("POST", "/reminders/drafts", {**DRAFT, "reminder_type": "second"}, headers={})["id"]
        self.things |= {
            "invoice": f"{MARK}-invoice",
            "branding": f"{MARK}-brand",
            "template": f"{MARK}-template",
            "draft": draft,
            "approved": approved,
            "reminder": sent["id"],
        }
        is_sent = lambda: self.owner.fetch(f"{customer}/history/{sent['id']}")["delivery_status"] == "sent"  # noqa: E731
        eventually(is_sent, "the reminder")

    def _tickets(self):
        ticket = self._make("POST", "/tickets", TICKET)["ticket_id"]
        path = f"/tickets/{ticket}"
        for part in ("feedback", "events", "emails", "attachments"):
            name = {"feedback": "addFeedback", "events": "addTicketEvent", "emails": "sendTicketEmail"}.get(part, "addAttachment")
            made = self._make("POST", f"{path}/{part}", BODIES[name])
            if part == "emails":
                sent = made["message_id"]
        self._make("POST", f"{path}/status", BODIES["moveTicket"])
        self._make("POST", f"{path}/escalate", BODIES["escalateTicket"])
        self._make("PUT", f"/ticket-cache/{MARK}-cached", BODIES["putCachedResult"])
        self.things |= {
            "ticket": ticket,
            "attachment": made["attachment_id"],
            "cached": f"{MARK}-cached",
            "answer_headers": f"Message-ID: <1@customer.example>\r\nFrom: {ADDRESS}\r\nIn-Reply-To: <{sent}>\r\n",
        }

    def _session(self):
        session = self._make("POST", "/sessions", {"user": USER, "password": "password"})
        self.things["session"] = session["id"]
