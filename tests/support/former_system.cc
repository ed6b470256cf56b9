#include "former_system.h"

#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "item/plain_json.h"

namespace postino::support {

namespace {

using item::attribute_text;

const item::Map& map_of(const item::Map& map, std::string_view name) { return map.find(name)->as<item::Map>(); }

// item['data'] of each: a KeyError there fails the test here.
std::vector<item::Map> data_of_all(const std::vector<item::Item>& items) {
  std::vector<item::Map> all;
  for (const item::Item& item : items) {
    EXPECT_TRUE(item.contains("data")) << attribute_text(item, "SK");
    if (item.contains("data")) all.push_back(item.find("data")->as<item::Map>());
  }
  return all;
}

}  // namespace

std::string FormerSystem::now_text() const {
  return base::format_timestamp(store_.clock().now()).substr(0, 23) + "456";
}

item::Map FormerSystem::ticket(const std::string& id, const std::string& status, const std::string& created_at,
                               const std::string& customer) {
  return {{"ticket_id", id},
          {"customer", item::Map{{"id", customer}, {"contact_email", "bob@example.org"}, {"vip", true}}},
          {"asset", item::Map{{"product_type", "switch"}}},
          {"status", status},
          {"created_at", created_at},
          {"symptom_text", "Nothing works any more."},
          {"priority", "P2"},
          {"own_field", item::List{1, "two"}}};
}

void FormerSystem::put_ticket(const item::Map& ticket) {
  const std::string customer = attribute_text(map_of(ticket, "customer"), "id");
  const std::string status = attribute_text(ticket, "status");
  const std::string created_at = attribute_text(ticket, "created_at");
  store_.put({{"PK", "TICKET#" + attribute_text(ticket, "ticket_id")},
              {"SK", "METADATA"},
              {"entity_type", "ticket"},
              {"ticket_id", attribute_text(ticket, "ticket_id")},
              {"customer_id", customer},
              {"status", status},
              {"created_at", created_at},
              {"symptom_text", attribute_text(ticket, "symptom_text")},
              {"priority", attribute_text(ticket, "priority")},
              {"GSI1PK", "CUSTOMER#" + customer},
              {"GSI1SK", "STATUS#" + status + "#" + created_at},
              {"GSI2PK", "STATUS#" + status},
              {"GSI2SK", created_at},
              {"data", ticket}});
}

std::optional<item::Map> FormerSystem::get_ticket(const std::string& id) {
  const auto item = store_.get("TICKET#" + id, "METADATA");
  if (!item || !item->contains("data")) return std::nullopt;
  return item->find("data")->as<item::Map>();
}

std::vector<item::Item> FormerSystem::query(const std::string& index, const std::string& condition, item::Map values) {
  store::QueryRequest request;
  request.table_name = table_name;
  if (!index.empty()) request.index_name = index;
  request.key_condition.emplace(condition);
  request.placeholders.values = std::move(values);
  request.forward = false;
  const auto page = store_.engine().query(request);
  EXPECT_TRUE(page) << page.error().message;
  return page ? page->items : std::vector<item::Item>();
}

std::vector<item::Map> FormerSystem::query_tickets_by_customer(const std::string& customer, const std::string& status) {
  return data_of_all(query("GSI1-customer-index", "GSI1PK = :pk AND begins_with(GSI1SK, :begin)",
                           {{":pk", "CUSTOMER#" + customer},
                            {":begin", status.empty() ? std::string("STATUS#") : "STATUS#" + status + "#"}}));
}

std::vector<item::Map> FormerSystem::query_tickets_by_status(const std::string& status) {
  return data_of_all(query("GSI2-status-index", "GSI2PK = :pk", {{":pk", "STATUS#" + status}}));
}

void FormerSystem::put_feedback(const std::string& ticket_id, const item::Map& feedback) {
  const std::string at = attribute_text(feedback, "submitted_at");
  store_.put({{"PK", "TICKET#" + ticket_id},
              {"SK", "FEEDBACK#" + at},
              {"entity_type", "feedback"},
              {"ticket_id", ticket_id},
              {"operator_id", attribute_text(feedback, "operator_id")},
              {"submitted_at", at},
              {"rating", *feedback.find("rating")},
              {"GSI3PK", "OPERATOR#" + attribute_text(feedback, "operator_id")},
              {"GSI3SK", at},
              {"data", feedback}});
}

std::vector<item::Map> FormerSystem::get_feedback_of_ticket(const std::string& id) {
  std::vector<item::Item> found;
  for (const item::Item& item : query("", "PK = :pk", {{":pk", "TICKET#" + id}}))
    if (attribute_text(item, "SK").starts_with("FEEDBACK#")) found.push_back(item);
  return data_of_all(found);
}

std::vector<item::Map> FormerSystem::query_feedback_by_operator(const std::string& operator_id) {
  return data_of_all(query("GSI3-operator-index", "GSI3PK = :pk", {{":pk", "OPERATOR#" + operator_id}}));
}

void FormerSystem::add_event(const std::string& ticket_id, const std::string& type, const item::Map& details) {
  const std::string date = now_text().substr(0, 10);
  const auto sequence = query("", "PK = :pk AND begins_with(SK, :begin)",
                              {{":pk", "TICKET#" + ticket_id}, {":begin", "EVENT#" + date + "#"}})
                            .size() +
                        1;
  std::string digits = std::to_string(sequence);
  if (digits.size() < 3) digits.insert(0, 3 - digits.size(), '0');
  store_.put({{"PK", "TICKET#" + ticket_id},
              {"SK", "EVENT#" + date + "#" + digits},
              {"entity_type", "event"},
              {"timestamp", now_text()},
              {"event_type", type},
              {"details", details}});
}

std::vector<item::Item> FormerSystem::query_events_by_date_range(const std::string& ticket_id, const std::string& from,
                                                                 const std::string& to) {
  return query("", "PK = :pk AND SK BETWEEN :from AND :to",
               {{":pk", "TICKET#" + ticket_id}, {":from", "EVENT#" + from + "#000"}, {":to", "EVENT#" + to + "#999"}});
}

bool FormerSystem::create_ticket_transactional(const item::Map& ticket, const std::string& key) {
  const std::string id = attribute_text(ticket, "ticket_id");
  const auto put = [](item::Item item) {
    store::TransactPut action;
    action.table_name = table_name;
    action.item = std::move(item);
    return action;
  };
  store::TransactWriteItemsRequest request;
  store::TransactPut record = put({{"PK", "IDEMPOTENCY#" + key},
                                   {"SK", "METADATA"},
                                   {"ticket_id", id},
                                   {"created_at", now_text()},
                                   {"ttl", base::epoch_seconds(store_.clock().now() + std::chrono::hours(24))}});
  record.condition = "attribute_not_exists(PK)";
  request.actions.emplace_back(std::move(record));
  request.actions.emplace_back(put({{"PK", "TICKET#" + id},
                                    {"SK", "METADATA"},
                                    {"entity_type", "ticket"},
                                    {"ticket_id", id},
                                    {"status", attribute_text(ticket, "status")},
                                    {"created_at", now_text()},
                                    {"data", item::to_plain_json(ticket)}}));
  request.actions.emplace_back(put({{"PK", "TICKET#" + id},
                                    {"SK", "EVENT#" + now_text() + "#001"},
                                    {"event_type", "ticket_created"},
                                    {"timestamp", now_text()}}));
  return store_.engine().transact_write_items(request).has_value();
}

void FormerSystem::update_ticket_status_with_event(const std::string& ticket_id, const std::string& new_status,
                                                   const std::string& old_status) {
  store::TransactUpdate update;
  update.table_name = table_name;
  update.key = Keys::key("TICKET#" + ticket_id, "METADATA");
  update.update = "SET #status = :new_status, updated_at = :now";
  update.placeholders.names = expr::Names{{"#status", "status"}};
  update.placeholders.values = item::Map{{":new_status", new_status}, {":now", now_text()}};
  store::TransactPut event;
  event.table_name = table_name;
  event.item = {{"PK", "TICKET#" + ticket_id},    {"SK", "EVENT#" + now_text() + "#status_change"},
                {"event_type", "status_changed"}, {"old_status", old_status},
                {"new_status", new_status},       {"timestamp", now_text()}};
  store::TransactWriteItemsRequest request;
  request.actions.emplace_back(std::move(update));
  request.actions.emplace_back(std::move(event));
  const auto answer = store_.engine().transact_write_items(request);
  EXPECT_TRUE(answer) << answer.error().message;
}

void FormerSystem::escalate_ticket(const std::string& ticket_id, const std::string& reason,
                                   const std::string& assigned_to) {
  store::UpdateItemRequest update;
  update.table_name = table_name;
  update.key = Keys::key("TICKET#" + ticket_id, "METADATA");
  update.update = "SET #status = :escalated, escalated_at = :now, escalation_reason = :reason, assigned_to = :assigned";
  update.placeholders.names = expr::Names{{"#status", "status"}};
  update.placeholders.values =
      item::Map{{":escalated", "ESCALATED"}, {":now", now_text()}, {":reason", reason}, {":assigned", assigned_to}};
  const auto answer = store_.engine().update_item(update);
  EXPECT_TRUE(answer) << answer.error().message;
}

}  // namespace postino::support
