"""The moves an e-mail may make, as the outbox's document has them, and a check of what one has made."""

NEXT = {
    None: {"ACCEPTED"},
    "ACCEPTED": {"INTAKING", "HELD", "CANCELLED"},
    "INTAKING": {"READY", "INVALID", "ACCEPTED", "HELD"},
    "READY": {"PROCESSING", "HELD", "CANCELLED"},
    "PROCESSING": {"SENT", "FAILED", "READY", "HELD"},
    "SENT": {"CALLING-SENT-CALLBACK"},
    "FAILED": {"CALLING-FAILED-CALLBACK", "READY"},
    "INVALID": {"CALLING-INVALID-CALLBACK", "ACCEPTED"},
    "CALLING-SENT-CALLBACK": {"SENT-ACKNOWLEDGED", "SENT"},
    "CALLING-FAILED-CALLBACK": {"FAILED-ACKNOWLEDGED", "FAILED"},
    "CALLING-INVALID-CALLBACK": {"INVALID-ACKNOWLEDGED", "INVALID"},
    "SENT-ACKNOWLEDGED": set(),
    "FAILED-ACKNOWLEDGED": {"READY"},
    "INVALID-ACKNOWLEDGED": {"ACCEPTED"},
    "HELD": {"ACCEPTED", "READY", "CANCELLED"},
    "CANCELLED": set(),
}


def check_history(email):
    """Every line follows from the one before, in time as well, and the last one is where the e-mail is."""
    before = None
    lines = [line for line in email["history"] if line["status"] != "BOUNCED"]
    for line in lines:
        assert line["status"] in NEXT[before], f"{before} -> {line['status']} of {email}"
        before = line["status"]
    assert before == email["status"], email
    times = [line["at"] for line in email["history"]]
    assert times == sorted(times), email
    assert email["version"] == len(lines), email


def all_emails(rest):
    return [rest.email(email["id"]) for page in rest.pages("/emails", limit=100) for email in page]


def count_unknown(email):
    """How often it was rescued from an attempt that may have succeeded."""
    return sum(line["status"] == "READY" and "outcome unknown" in line["reason"] for line in email["history"])
