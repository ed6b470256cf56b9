// A ticket as an item, and the items by which it is found. Pure code.
//
// `data` holds the ticket as a map or as JSON text: the former system writes and reads both. New tickets have the form
// that is configured, others keep theirs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "support/record/keys.h"
#include "support/record/ticket.h"

namespace postino::support {

enum class DataForm { map, json };

// By what a ticket is found, apart from the keys of its own item. Kept in its item, so that a change knows what to
// write beside it.
struct Filed {
  std::string product;
  std::string error;
  std::string priority;
  std::string escalation;  // "{escalated_at}#{engineer}"

  friend bool operator==(const Filed&, const Filed&) = default;
};

// How many events a ticket has had on its last day with any.
struct EventCount {
  std::string day;
  std::int64_t count = 0;

  friend bool operator==(const EventCount&, const EventCount&) = default;
};

struct StoredTicket {
  Ticket ticket;
  item::Item item;                  // as it was read; empty for a new one
  std::optional<Filed> filed;       // absent where another program wrote the item
  std::int64_t stored_version = 0;  // that of the ticket is one more if another program has changed it since
  EventCount events = {};
  std::string last_message_id = {};  // of the last e-mail to or from the customer
  std::string references = {};       // those before it, the oldest first, with spaces between them
  std::string fault = {};            // why attributes are unavailable; such a ticket can be shown, but not be changed
};

// corrupt when the item cannot be a ticket.
base::Result<StoredTicket> read_ticket(const Keys& keys, item::Item item);

// The item for it. What it does not know of `stored.item` stays as it is.
item::Item ticket_item(const Keys& keys, const StoredTicket& stored, DataForm form);

// The ticket as its `data` has it, with what other programs have added.
item::Map ticket_data(const Ticket& ticket);

// Has it everything that our own tickets have? Otherwise another program wrote it, or changed it.
bool is_complete(const Keys& keys, const StoredTicket& stored);

// The other items by which a ticket is found.
Filed filed_of(const Ticket& ticket);
struct Filing {
  std::string sort;
  std::optional<item::Item> item;  // absent: to be removed
};
// What makes the one of the other; everything is written again when it is not known what was there.
std::vector<Filing> filings(const Keys& keys, const std::optional<Filed>& before, const Ticket& ticket);

// The key of an item, for people: "TICKET#tkt_1/METADATA".
std::string key_text(const item::Item& item);

}  // namespace postino::support
