// Drafts and all that they need, on a store of a test's own.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "memory_reminder_mailer.h"
#include "reminders/drafts.h"
#include "reminders_store.h"

namespace postino::reminders {

// With a refusal of this kind; otherwise it tells what happened instead.
template <class T>
::testing::AssertionResult is_refused(const OrRefusal<T>& answer, RefusalKind kind) {
  if (answer) return ::testing::AssertionFailure() << "it was not refused";
  if (answer.error().kind == kind) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "it was refused otherwise: " << answer.error().message;
}

// The fields that an invalid request names.
template <class T>
std::vector<std::string> faulty_fields(const OrRefusal<T>& answer) {
  std::vector<std::string> fields;
  if (answer) return {"it was not refused"};
  for (const FieldFault& fault : answer.error().faults) fields.push_back(fault.field);
  return fields;
}

class Drafting : public ::testing::Test {
 protected:
  explicit Drafting(ReminderTables tables = {}) : store_(std::move(tables)) {}

  // With one invoice that was due 14 days ago.
  void add_customer(const std::string& id, const std::string& name = "Ada Lovelace", const std::string& tenant = "") {
    Customer customer;
    customer.id = id;
    customer.name = name;
    customer.email = "ada@example.com";
    ASSERT_TRUE(succeeded(customers_.put(customer, actor(tenant))));
    add_invoice(id, "INV-001", "1500.00", "USD", "2025-12-19", tenant);
  }
  void add_invoice(const std::string& customer, const std::string& id, const std::string& amount,
                   const std::string& currency, const std::string& due_date, const std::string& tenant = "") {
    Invoice invoice;
    invoice.customer_id = customer;
    invoice.id = id;
    invoice.amount = Money::parse(amount, currency).value();
    invoice.due_date = due_date;
    ASSERT_TRUE(succeeded(customers_.put_invoice(invoice, actor(tenant))));
  }
  static TemplateVersion template_text(const std::string& body = "Dear {{customer_name}}, pay {{overdue_amount}}.") {
    TemplateVersion version;
    version.template_id = "reminder_first";
    version.name = "First Reminder Template";
    version.type = "first_reminder";
    version.subject = "Payment Reminder: Invoice {{invoice_id}}";
    version.body = body;
    return version;
  }
  void add_template(const std::string& body = "Dear {{customer_name}}, pay {{overdue_amount}}.",
                    const std::string& tenant = "") {
    ASSERT_TRUE(succeeded(templates_.add_version(template_text(body), actor(tenant))));
  }
  static Actor actor(const std::string& tenant = "", const std::string& name = "user_123") {
    return {.tenant = tenant, .name = name, .key = "key_of_" + name, .from = "192.0.2.1"};
  }
  static NewDraft from_template(const std::string& customer) {
    NewDraft draft;
    draft.customer_id = customer;
    draft.reminder_type = "first";
    draft.template_id = "reminder_first";
    return draft;
  }
  static NewDraft with_text(const std::string& customer, const std::string& type = "first") {
    NewDraft draft;
    draft.customer_id = customer;
    draft.reminder_type = type;
    draft.text = DraftText{"Please pay", "Dear customer,\nplease pay.\n", ""};
    return draft;
  }
  // The test fails when it cannot be made.
  std::string made(const NewDraft& draft, const std::string& tenant = "") {
    const auto shown = drafts_.make(draft, actor(tenant));
    EXPECT_TRUE(succeeded(shown));
    return shown ? shown->draft.id : "";
  }
  Draft stored(const std::string& id, const std::string& tenant = "") {
    const auto shown = drafts_.find(id, tenant);
    EXPECT_TRUE(succeeded(shown));
    return shown ? shown->draft : Draft();
  }
  std::size_t draft_count(const std::string& customer) {
    const auto keys = store_.sort_keys("CUSTOMER#" + customer);
    return static_cast<std::size_t>(
        std::ranges::count_if(keys, [](const std::string& key) { return key.starts_with(draft_begin); }));
  }

  RemindersStore store_;
  MemoryReminderMailer mail_;
  Customers customers_{store_.records()};
  Templates templates_{store_.records()};
  Drafts drafts_{store_.records(), customers_, templates_, mail_};
};

// All pages, and that each but the last has a cursor.
template <class T, class Read>
std::vector<T> all_pages(const Read& read, int limit) {
  std::vector<T> all;
  PageRequest page{.cursor = "", .limit = limit};
  for (int pages = 0; pages < 1'000; ++pages) {
    const OrRefusal<Page<T>> answer = read(page);
    EXPECT_TRUE(succeeded(answer));
    if (!answer) return all;
    EXPECT_LE(answer->entries.size(), static_cast<std::size_t>(limit));
    all.insert(all.end(), answer->entries.begin(), answer->entries.end());
    page.cursor = answer->cursor;
    if (page.cursor.empty()) return all;
  }
  ADD_FAILURE() << "the pages do not end";
  return all;
}

}  // namespace postino::reminders
