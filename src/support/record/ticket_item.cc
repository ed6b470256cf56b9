#include "support/record/ticket_item.h"

#include <algorithm>
#include <utility>

#include "item/attribute_text.h"
#include "item/fields.h"
#include "item/plain_json.h"
#include "objects/large_attributes.h"

namespace postino::support {

namespace {

using item::attribute_text;

constexpr std::string_view data_name = "data", filed_name = "filed";

void set_or_erase(item::Map& map, std::string_view name, const std::string& text) {
  if (text.empty())
    map.erase(name);
  else
    map.set(std::string(name), text);
}

const item::Map* map_in(const item::Map& map, std::string_view name) {
  const item::AttributeValue* const value = map.find(name);
  return value != nullptr ? value->get_if<item::Map>() : nullptr;
}

// A text of another program stays as long as it means this time.
void set_time(item::Map& map, std::string_view name, const std::optional<base::TimePoint>& time, const Ticket& ticket) {
  if (time && read_time(attribute_text(map, name)) == time) return;
  set_or_erase(map, name, time ? write_time_like(ticket.created_text, *time) : std::string());
}

std::optional<base::TimePoint> escalated_at(const Ticket& ticket) {
  return ticket.escalation ? std::optional(ticket.escalation->at) : std::nullopt;
}

// The item and its data have the same text, so that programs may compare the two. Microseconds of the one are not lost
// in the other.
void set_times(item::Item& item, item::Map& data, const Ticket& ticket) {
  const std::pair<std::string_view, std::optional<base::TimePoint>> times[] = {
      {"updated_at", ticket.updated_at}, {"completed_at", ticket.completed_at}, {"escalated_at", escalated_at(ticket)}};
  for (const auto& [name, time] : times) {
    if (const std::string text = attribute_text(ticket.data, name);
        time && read_time(attribute_text(item, name)) != time && read_time(text) == time)
      item.set(std::string(name), text);
    set_time(item, name, time, ticket);
    set_or_erase(data, name, attribute_text(item, name));
  }
}

// The ticket of another program may have any contents.
base::Result<item::Map> read_data(const item::Item& item) {
  const item::AttributeValue* const value = item.find(data_name);
  if (value == nullptr) return item::Map();
  if (auto map = item::map_or_json(*value)) return *std::move(map);
  return base::fail(base::ErrorCode::corrupt,
                    "the record " + key_text(item) + " cannot be read: data must be a map, or one as JSON");
}

// The ticket's own attribute, or the one in its data.
std::string own_or_data(item::Fields& fields, const item::Map& data, std::string_view name) {
  std::string text = fields.text(name);
  return text.empty() ? attribute_text(data, name) : text;
}

std::optional<base::TimePoint> time_of(item::Fields& fields, const item::Map& data, std::string_view name) {
  const std::string text = own_or_data(fields, data, name);
  if (text.empty()) return std::nullopt;
  const auto time = read_time(text);
  if (!time) fields.fault(name, "a time such as 2025-11-18T10:30:00Z");
  return time;
}

std::int64_t counted(item::Fields& fields, std::string_view name) {
  const std::int64_t count = fields.count(name);
  if (count <= TicketLimits::most_counted) return count;
  fields.fault(name, "a whole number up to " + std::to_string(TicketLimits::most_counted));
  return 0;
}

void read_people(item::Fields& fields, Ticket& ticket) {
  ticket.customer.id = fields.text("customer_id");
  if (const item::Map* const customer = map_in(ticket.data, "customer")) {
    if (ticket.customer.id.empty()) ticket.customer.id = attribute_text(*customer, "id");
    ticket.customer.name = attribute_text(*customer, "name");
    ticket.customer.contact_email = attribute_text(*customer, "contact_email");
    ticket.customer.account_tier = attribute_text(*customer, "account_tier");
  }
  if (ticket.customer.id.empty()) ticket.customer.id = attribute_text(ticket.data, "customer_id");
  if (const item::Map* const asset = map_in(ticket.data, "asset"))
    ticket.asset = {attribute_text(*asset, "product_type"), attribute_text(*asset, "model"),
                    attribute_text(*asset, "serial"), attribute_text(*asset, "firmware")};
}

// A program may have made it ESCALATED without saying since when and by whom.
void read_escalation(item::Fields& fields, Ticket& ticket) {
  if (ticket.status != TicketStatus::escalated) return;
  Escalation escalation;
  escalation.at = time_of(fields, ticket.data, "escalated_at").value_or(ticket.updated_at.value_or(ticket.created_at));
  escalation.engineer = own_or_data(fields, ticket.data, "assigned_to");
  escalation.reason = own_or_data(fields, ticket.data, "escalation_reason");
  ticket.escalation = std::move(escalation);
}

std::vector<std::string> unavailable_attributes(const item::Item& item) {
  constexpr std::size_t most_names = 50;
  std::vector<std::string> names = objects::missing_attributes(item);
  if (names.empty()) names.emplace_back("*");
  names.resize(std::min(names.size(), most_names));
  return names;
}

std::optional<Filed> read_filed(const item::Item& item) {
  const item::Map* const map = map_in(item, filed_name);
  if (map == nullptr) return std::nullopt;
  return Filed{attribute_text(*map, "product"), attribute_text(*map, "error"), attribute_text(*map, "priority"),
               attribute_text(*map, "escalation")};
}

item::Map filed_map(const Filed& filed) {
  item::Map map;
  set_or_erase(map, "product", filed.product);
  set_or_erase(map, "error", filed.error);
  set_or_erase(map, "priority", filed.priority);
  set_or_erase(map, "escalation", filed.escalation);
  return map;
}

item::Map map_with(const item::Map& data, std::string_view name,
                   const std::vector<std::pair<std::string_view, const std::string*>>& texts) {
  const item::Map* const before = map_in(data, name);
  item::Map map = before != nullptr ? *before : item::Map();
  for (const auto& [part, text] : texts)
    if (!text->empty()) map.set(std::string(part), *text);
  return map;
}

// Other programs may have written names that are too long for a key: by these a ticket is not found.
std::string name_for_key(const std::string& name) {
  constexpr std::size_t most_bytes = 1'000;
  return name.size() <= most_bytes ? name : std::string();
}

std::string escalation_text(const Ticket& ticket) {
  if (!ticket.escalation) return "";
  return write_time_like(ticket.created_text, ticket.escalation->at) + "#" + ticket.escalation->engineer;
}

Filing file(const Keys& keys, std::string_view sort, const std::string& partition, const std::string& place,
            const Ticket& ticket) {
  Filing filing{std::string(sort), std::nullopt};
  if (partition.empty()) return filing;
  item::Item item = Keys::key(keys.ticket(ticket.id), sort);
  item.set("entity_type", "reference");
  item.set("ticket_id", ticket.id);
  set_or_erase(item, "customer_id", ticket.customer.id);
  item.set("GSI1PK", partition);
  item.set("GSI1SK", place + "#" + ticket.id);
  filing.item = std::move(item);
  return filing;
}

}  // namespace

item::Map ticket_data(const Ticket& ticket) {
  item::Map data = ticket.data;
  data.set("ticket_id", ticket.id);
  const TicketCustomer& customer = ticket.customer;
  if (item::Map map = map_with(data, "customer",
                               {{"id", &customer.id},
                                {"name", &customer.name},
                                {"contact_email", &customer.contact_email},
                                {"account_tier", &customer.account_tier}});
      !map.empty())
    data.set("customer", std::move(map));
  const Asset& asset = ticket.asset;
  if (item::Map map = map_with(data, "asset",
                               {{"product_type", &asset.product_type},
                                {"model", &asset.model},
                                {"serial", &asset.serial},
                                {"firmware", &asset.firmware}});
      !map.empty())
    data.set("asset", std::move(map));
  set_or_erase(data, "symptom_text", ticket.symptom_text);
  set_or_erase(data, "error_code", ticket.error_code);
  data.set("priority", ticket.priority);
  set_or_erase(data, "lang", ticket.lang);
  data.set("status", name_of(ticket.status));
  set_or_erase(data, "status_reason", ticket.status_reason);
  data.set("created_at", ticket.created_text);
  set_time(data, "updated_at", ticket.updated_at, ticket);
  set_time(data, "completed_at", ticket.completed_at, ticket);
  set_time(data, "escalated_at", escalated_at(ticket), ticket);
  set_or_erase(data, "assigned_to", ticket.escalation ? ticket.escalation->engineer : "");
  set_or_erase(data, "escalation_reason", ticket.escalation ? ticket.escalation->reason : "");
  return data;
}

std::string key_text(const item::Item& item) {
  const std::string pk = attribute_text(item, "PK"), sk = attribute_text(item, "SK");
  return (pk.empty() ? "?" : pk) + "/" + (sk.empty() ? "?" : sk);
}

Filed filed_of(const Ticket& ticket) {
  return {name_for_key(ticket.asset.product_type), name_for_key(ticket.error_code), name_for_key(ticket.priority),
          escalation_text(ticket)};
}

base::Result<StoredTicket> read_ticket(const Keys& keys, item::Item item) {
  StoredTicket stored;
  stored.item = std::move(item);
  item::Fields fields(stored.item);
  Ticket& ticket = stored.ticket;
  if (const auto whole = objects::check_whole(stored.item); !whole) {
    stored.fault = whole.error().message;
    ticket.unavailable = unavailable_attributes(stored.item);
  }
  TRY(ticket.data, read_data(stored.item));
  const auto place = parse_ticket_partition(attribute_text(stored.item, "PK"));
  // The key decides: the ticket is found by it.
  ticket.id = place ? place->ticket_id : fields.text("ticket_id");
  ticket.created_text = own_or_data(fields, ticket.data, "created_at");
  ticket.created_at = time_of(fields, ticket.data, "created_at").value_or(base::TimePoint());
  read_people(fields, ticket);
  ticket.symptom_text = own_or_data(fields, ticket.data, "symptom_text");
  ticket.error_code = own_or_data(fields, ticket.data, "error_code");
  ticket.lang = own_or_data(fields, ticket.data, "lang");
  ticket.status_reason = own_or_data(fields, ticket.data, "status_reason");
  if (const std::string priority = own_or_data(fields, ticket.data, "priority"); !priority.empty())
    ticket.priority = priority;
  ticket.updated_at = time_of(fields, ticket.data, "updated_at");
  const auto status = parse_status(own_or_data(fields, ticket.data, "status"));
  if (status) ticket.status = *status;
  // Another program may take a finished ticket up again.
  if (ticket.status == TicketStatus::ready) ticket.completed_at = time_of(fields, ticket.data, "completed_at");
  read_escalation(fields, ticket);
  stored.filed = read_filed(stored.item);
  stored.stored_version = counted(fields, "version");
  stored.events = {fields.text("event_day"), counted(fields, "event_count")};
  stored.last_message_id = fields.text("last_message_id");
  stored.references = fields.text("mail_references");
  TRY_VOID(fields.check(key_text(stored.item)));
  const std::string record = "the record " + key_text(stored.item) + " cannot be read: ";
  if (!status)
    return base::fail(base::ErrorCode::corrupt, record + "status must be NEW, PROCESSING, READY, FAILED or ESCALATED");
  if (ticket.created_text.empty()) return base::fail(base::ErrorCode::corrupt, record + "created_at is missing");
  const bool is_as_written = !stored.fault.empty() || is_complete(keys, stored);  // a part does not tell
  ticket.version = stored.stored_version + (is_as_written ? 0 : 1);
  return stored;
}

item::Item ticket_item(const Keys& keys, const StoredTicket& stored, DataForm form) {
  const Ticket& ticket = stored.ticket;
  item::Item item = stored.item;
  const std::string status(name_of(ticket.status));
  item.set("PK", keys.ticket(ticket.id));
  item.set("SK", metadata_sort);
  item.set("entity_type", "ticket");
  item.set("ticket_id", ticket.id);
  set_or_erase(item, "customer_id", ticket.customer.id);
  item.set("status", status);
  item.set("created_at", ticket.created_text);
  set_or_erase(item, "symptom_text", ticket.symptom_text);
  item.set("priority", ticket.priority);
  set_or_erase(item, "error_code", ticket.error_code);
  set_or_erase(item, "assigned_to", ticket.escalation ? ticket.escalation->engineer : "");
  set_or_erase(item, "escalation_reason", ticket.escalation ? ticket.escalation->reason : "");
  const std::string customer = name_for_key(ticket.customer.id);
  set_or_erase(item, "GSI1PK", customer.empty() ? "" : keys.customer(customer));
  set_or_erase(item, "GSI1SK", customer.empty() ? "" : customer_sort_begin(ticket.status) + ticket.created_text);
  item.set("GSI2PK", keys.shard_of(keys.status(ticket.status), ticket.id));
  item.set("GSI2SK", ticket.created_text);
  item.set("version", ticket.version);
  set_or_erase(item, "event_day", stored.events.day);
  if (!stored.events.day.empty()) item.set("event_count", stored.events.count);
  set_or_erase(item, "last_message_id", stored.last_message_id);
  set_or_erase(item, "mail_references", stored.references);
  item.set(std::string(filed_name), filed_map(filed_of(ticket)));
  const item::AttributeValue* const before = stored.item.find(data_name);
  const bool is_text = before != nullptr ? before->type() == item::Type::string : form == DataForm::json;
  item::Map data = ticket_data(ticket);
  set_times(item, data, ticket);
  if (is_text)
    item.set(std::string(data_name), item::to_plain_json(data));
  else
    item.set(std::string(data_name), std::move(data));
  return item;
}

bool is_complete(const Keys& keys, const StoredTicket& stored) {
  const Ticket& ticket = stored.ticket;
  const item::Item& item = stored.item;
  const std::string customer = name_for_key(ticket.customer.id);
  // Any shard will do: lists ask for all of them, and the next change puts it into its own.
  const std::vector<std::string> statuses = keys.shards_of(keys.status(ticket.status));
  return stored.filed == filed_of(ticket) &&
         std::ranges::find(statuses, attribute_text(item, "GSI2PK")) != statuses.end() &&
         attribute_text(item, "GSI2SK") == ticket.created_text &&
         attribute_text(item, "customer_id") == ticket.customer.id &&
         attribute_text(item, "GSI1PK") == (customer.empty() ? "" : keys.customer(customer)) &&
         attribute_text(item, "GSI1SK") ==
             (customer.empty() ? "" : customer_sort_begin(ticket.status) + ticket.created_text) &&
         attribute_text(item, "created_at") == ticket.created_text &&
         attribute_text(item, "status") == name_of(ticket.status) &&
         attribute_text(item, "priority") == ticket.priority &&
         attribute_text(ticket.data, "status") == name_of(ticket.status) &&
         attribute_text(item, "ticket_id") == ticket.id &&
         item.contains("escalated_at") == ticket.escalation.has_value() &&
         item.contains("assigned_to") == (ticket.escalation && !ticket.escalation->engineer.empty());
}

std::vector<Filing> filings(const Keys& keys, const std::optional<Filed>& before, const Ticket& ticket) {
  const Filed now = filed_of(ticket);
  std::vector<Filing> changed;
  const auto add = [&](std::string Filed::*part, std::string_view sort, const std::string& partition) {
    if (before && (*before).*part == now.*part) return;
    const std::string shard = (now.*part).empty() ? "" : keys.shard_of(partition, ticket.id);
    changed.push_back(file(keys, sort, shard, ticket.created_text, ticket));
  };
  add(&Filed::product, by_product_sort, keys.product(now.product));
  add(&Filed::error, by_error_sort, keys.error(now.error));
  add(&Filed::priority, by_priority_sort, keys.priority(now.priority));
  if (before && before->escalation == now.escalation) return changed;
  const std::string since = ticket.escalation ? write_time_like(ticket.created_text, ticket.escalation->at) : "";
  const std::string shard = ticket.escalation ? keys.shard_of(keys.escalations(), ticket.id) : "";
  Filing escalation = file(keys, escalation_sort, shard, since, ticket);
  if (escalation.item && !ticket.escalation->engineer.empty()) {
    // By another name than the ticket has it: escalated-tickets-index has each ticket once.
    escalation.item->set("engineer", ticket.escalation->engineer);
    escalation.item->set("GSI3PK", keys.escalated_to(ticket.escalation->engineer));
    escalation.item->set("GSI3SK", since);
  }
  changed.push_back(std::move(escalation));
  return changed;
}

}  // namespace postino::support
