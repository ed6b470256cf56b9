#include "reminders_store.h"

#include "base/check.h"

namespace postino::reminders {

RemindersStore::RemindersStore(const std::shared_ptr<base::ManualClock>& time, ReminderTables tables, Rules rules)
    : EmbeddedStore(time), time_(time), tables_(std::move(tables)), records_(make_records(tables_, std::move(rules))) {
  const auto prepared = records_->prepare();
  CHECK(prepared.has_value());
}

std::unique_ptr<ReminderStore> RemindersStore::make_records(ReminderTables tables, Rules rules) {
  return std::make_unique<ReminderStore>(engine(), std::move(tables), std::move(rules), *time_, random(), retry());
}

void RemindersStore::put(item::Item item) {
  store::PutItemRequest request;
  request.table_name = tables_.tracking;
  request.item = std::move(item);
  const auto answer = engine().put_item(request);
  EXPECT_TRUE(answer) << answer.error().message;
}

void RemindersStore::remove(const std::string& pk, const std::string& sk) {
  store::DeleteItemRequest request;
  request.table_name = tables_.tracking;
  request.key = Keys::key(pk, sk);
  const auto answer = engine().delete_item(request);
  EXPECT_TRUE(answer) << answer.error().message;
}

std::optional<item::Item> RemindersStore::get(const std::string& pk, const std::string& sk) {
  const auto found = records_->get(pk, sk);
  EXPECT_TRUE(succeeded(found));
  return found ? *found : std::nullopt;
}

std::vector<std::string> RemindersStore::sort_keys(const std::string& pk) {
  std::vector<std::string> keys;
  for (const item::Item& item : scan(tables_.tracking))
    if (*item.find("PK") == item::AttributeValue(pk)) keys.push_back(item.find("SK")->as<std::string>());
  return keys;
}

item::Item seed_sent(const std::string& customer, base::TimePoint at, const std::string& type) {
  return {{"PK", "CUSTOMER#" + customer},
          {"SK", "SENT#" + key_time(at) + "_" + type},
          {"GSI1PK", "STATUS#sent"},
          {"GSI1SK", seed_time(at)},
          {"customer_id", customer},
          {"reminder_type", type},
          {"email_subject", "Payment Reminder from Innovate AI"},
          {"email_content", "Dear John..."},
          {"status", "sent"},
          {"sent_date", seed_time(at)},
          {"approved_by", "user_123"},
          {"ses_message_id", "0000014a-f4d4-4f41-9d83-8c0a6df0c5a1-000000"},
          {"delivery_status", "delivered"}};
}

item::Item seed_draft(const std::string& customer, base::TimePoint at, const std::string& type) {
  return {{"PK", "CUSTOMER#" + customer},
          {"SK", "DRAFT#" + key_time(at) + "_" + customer},
          {"GSI1PK", "STATUS#draft"},
          {"GSI1SK", seed_time(at)},
          {"customer_id", customer},
          {"customer_name", "John Doe"},
          {"customer_email", "john@example.com"},
          {"reminder_type", type},
          {"email_subject", "Payment Reminder from Innovate AI"},
          {"email_content", "Dear John..."},
          {"status", "draft"},
          {"created_date", seed_time(at)},
          {"created_by", "ai_system"},
          {"overdue_amount", item::Number::parse("1500.00").value()},
          {"overdue_invoices", item::List{"INV-001", "INV-002"}}};
}

}  // namespace postino::reminders
