"""Tickets, as tests open them."""


def new_ticket(customer="cust_1", **more):
    return {
        "customer": {"id": customer, "name": "Ada Lovelace", "contact_email": "ada@example.org", "account_tier": "GOLD"},
        "asset": {"product_type": "router", "model": "RX-200", "serial": "SN-1", "firmware": "1.2.3"},
        "symptom_text": "It restarts every ten minutes.",
        "error_code": "E42",
        "priority": "P2",
        "lang": "en",
        **more,
    }


def open_ticket(rest, customer="cust_1", headers=(), **more):
    """The id of a new ticket."""
    answer = rest.post("/tickets", new_ticket(customer, **more), headers)
    assert answer.status == 202, answer
    return answer.json["ticket_id"]


def move(rest, ticket, status, **more):
    answer = rest.post(f"/tickets/{ticket}/status", {"status": status, **more})
    assert answer.status == 200, answer
    return answer.json
