// Customers and invoices on a store of a test's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "item/attribute_text.h"
#include "reminders/customers.h"
#include "reminders/record/customer_item.h"
#include "reminders_store.h"

namespace postino::reminders {

inline const Actor test_actor = {.tenant = "", .name = "ann", .key = "shop", .from = "192.0.2.1"};

inline Customer test_customer(const std::string& id = "cust_001") {
  Customer customer;
  customer.id = id;
  customer.name = "Ada Lovelace";
  customer.email = "ada@example.org";
  return customer;
}

inline Invoice test_invoice(const std::string& id, const std::string& due, const std::string& amount = "100.00",
                            const std::string& customer = "cust_001") {
  Invoice invoice;
  invoice.customer_id = customer;
  invoice.id = id;
  invoice.amount = Money::parse(amount, "EUR").value();
  invoice.due_date = due;
  return invoice;
}

inline Payment test_payment(const std::string& amount = "", const std::string& reference = "") {
  Payment payment;
  payment.amount = amount;
  payment.reference = reference;
  return payment;
}

template <class T>
std::optional<RefusalKind> refusal_kind(const OrRefusal<T>& answer) {
  return answer ? std::nullopt : std::optional(answer.error().kind);
}

class CustomersEnvironment : public RemindersStore {
 public:
  explicit CustomersEnvironment(ReminderTables tables = {}) : RemindersStore(std::move(tables)) {}

  Customers& customers() { return customers_; }

  std::int64_t guard_version(const std::string& customer = "cust_001") {
    const auto guard = records().guard(Keys(""), customer);
    EXPECT_TRUE(succeeded(guard));
    return guard ? guard->version : -1;
  }
  // "actions" of the audit, in their order.
  std::vector<std::string> audited() {
    std::vector<std::pair<std::string, std::string>> events;
    for (const item::Item& item : scan(records().tables().audit()))
      if (item.contains("action"))
        events.emplace_back(item::attribute_text(item, "SK"), item::attribute_text(item, "action"));
    std::ranges::sort(events);
    std::vector<std::string> actions;
    for (auto& [at, action] : events) actions.push_back(std::move(action));
    return actions;
  }
  // Does any item of this table have this text in it?
  bool has_anywhere(const std::string& table, const std::string& text);
  std::string draft_status(const std::string& customer, const std::string& id) {
    const auto item = get("CUSTOMER#" + customer, "DRAFT#" + id);
    return item ? item::attribute_text(*item, "status") : "none";
  }

 private:
  Customers customers_{records()};
};

}  // namespace postino::reminders
