#include "outbox/transport/sandbox_mailbox.h"

#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "store/list_cursor.h"

namespace postino::outbox {

namespace {

constexpr const char* shelf = "sandbox";

// Where the entry stands in the list, and where its message is found by id.
item::Key entry_key(const std::string& position) { return {{"Mailbox", shelf}, {"Received", position}}; }
item::Key lookup_key(const std::string& id) { return {{"Mailbox", "message/" + id}, {"Received", "-"}}; }

MailboxEntry entry_of(const item::Item& item) {
  MailboxEntry entry;
  entry.id = item::attribute_text(item, "Id");
  entry.sender = item::attribute_text(item, "From");
  entry.subject = item::attribute_text(item, "Subject");
  if (const auto received = base::parse_timestamp(item::attribute_text(item, "ReceivedAt"))) entry.received = *received;
  if (const auto* list = item.find("To"); list != nullptr && list->type() == item::Type::list)
    for (const item::AttributeValue& address : list->as<item::List>())
      if (const auto* text = address.get_if<std::string>()) entry.recipients.push_back(*text);
  if (const auto* size = item.find("Size"); size != nullptr && size->type() == item::Type::number)
    entry.size = size->as<item::Number>().to_int64().value_or(0);
  return entry;
}

store::TransactPut put_of(const std::string& table, item::Item item) {
  store::TransactPut put;
  put.table_name = table;
  put.item = std::move(item);
  return put;
}

}  // namespace

base::Result<void> SandboxMailbox::put(const MailboxEntry& entry, const std::string& message_path,
                                       base::TimePoint keep_until) {
  item::Item item = entry_key(base::format_timestamp(entry.accepted) + "#" + entry.id);
  item.set("Id", entry.id);
  item.set("ReceivedAt", base::format_timestamp(entry.received));
  item.set("From", entry.sender);
  item.set("Subject", entry.subject);
  item.set("Size", entry.size);
  item::List recipients;
  for (const std::string& address : entry.recipients) recipients.emplace_back(address);
  item.set("To", std::move(recipients));
  item.set("TTL", base::epoch_seconds(keep_until));
  item::Item lookup = lookup_key(entry.id);
  lookup.set("EmlFilePath", message_path);
  lookup.set("TTL", base::epoch_seconds(keep_until));
  store::TransactWriteItemsRequest request;
  request.actions.emplace_back(put_of(table_, std::move(item)));
  request.actions.emplace_back(put_of(table_, std::move(lookup)));
  const auto answer = retry_([&] { return store_.transact_write_items(request); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return {};
}

base::Result<MailboxPage> SandboxMailbox::list(const std::string& cursor, int limit) {
  store::QueryRequest query;
  query.table_name = table_;
  query.key_condition = "Mailbox = :shelf";
  query.placeholders.values = item::Map{{":shelf", shelf}};
  query.forward = false;
  query.limit = limit;
  if (!cursor.empty()) {
    TRY(const std::string position, store::read_cursor("mailbox", cursor));
    query.exclusive_start_key = entry_key(position);
  }
  const auto page = retry_([&] { return store_.query(query); });
  if (!page) return base::propagate(store::as_error(page.error()));
  MailboxPage result;
  for (const item::Item& item : page->items) result.entries.push_back(entry_of(item));
  if (page->last_evaluated_key)
    result.cursor = store::make_cursor("mailbox", item::attribute_text(*page->last_evaluated_key, "Received"));
  return result;
}

base::Result<std::optional<std::string>> SandboxMailbox::message(const std::string& id, const Spool::Admit& admit) {
  store::GetItemRequest get;
  get.table_name = table_;
  get.key = lookup_key(id);
  get.consistent_read = true;
  const auto answer = retry_([&] { return store_.get_item(get); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  if (!answer->item) return std::nullopt;
  TRY(std::string message,
      read_contents(spool_, SpoolKind::message, id, item::attribute_text(*answer->item, "EmlFilePath"), admit));
  return std::optional(std::move(message));
}

base::Result<std::int64_t> SandboxMailbox::remove(const std::vector<item::Item>& entries) {
  for (const item::Item& entry : entries) {
    store::TransactWriteItemsRequest request;
    for (item::Key key :
         {entry_key(item::attribute_text(entry, "Received")), lookup_key(item::attribute_text(entry, "Id"))}) {
      store::TransactDelete removal;
      removal.table_name = table_;
      removal.key = std::move(key);
      request.actions.emplace_back(std::move(removal));
    }
    const auto answer = retry_([&] { return store_.transact_write_items(request); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  return static_cast<std::int64_t>(entries.size());
}

base::Result<std::int64_t> SandboxMailbox::clear() {
  store::QueryRequest query;
  query.table_name = table_;
  query.key_condition = "Mailbox = :shelf";
  query.placeholders.values = item::Map{{":shelf", shelf}};
  query.limit = 100;
  std::int64_t removed = 0;
  do {
    const auto page = retry_([&] { return store_.query(query); });
    if (!page) return base::propagate(store::as_error(page.error()));
    TRY(const std::int64_t count, remove(page->items));
    removed += count;
    query.exclusive_start_key = page->last_evaluated_key;
  } while (query.exclusive_start_key);
  return removed;
}

}  // namespace postino::outbox
