// The REST API with reminders, over the real services on the embedded store.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "reminders/outbox_reminder_mailer.h"
#include "reminders/reminders.h"
#include "rest_fixture.h"

namespace postino::api {

class RestReminders : public Rest {
 protected:
  explicit RestReminders(bool other_person = false, const std::string& from = "Billing <billing@example.com>")
      : reminders_(store(), room_, options_with(other_person, from), clock(), random_, retry_) {
    const auto prepared = reminders_.prepare();
    EXPECT_TRUE(prepared) << prepared.error().message;
    start_reminders();
  }
  ~RestReminders() override {
    EXPECT_EQ(api_->statistics().undocumented(), 0U) << "a status that the route does not promise";
    start({});
  }

  static reminders::ReminderOptions options_with(bool other_person, const std::string& from) {
    reminders::ReminderOptions options;
    options.approval.from = from;
    options.approval.other_person = other_person;
    return options;
  }
  void start_reminders(std::initializer_list<std::string_view> keys = {}, int threads = 2) {
    ApiOptions options;
    for (const std::string_view key : keys) options.keys.push_back(parse_api_key(key).value());
    options.threads = threads;
    options.reminders = &reminders_;
    start(std::move(options));
  }

  void make_customer(const std::string& id = "cust_001", const Headers& headers = {}) {
    const Received customer = call("PUT", "/reminders/customers/" + id,
                                   R"({"customer_name":"Ada","customer_email":"ada@example.org"})", headers);
    ASSERT_EQ(customer.status(), 200) << customer.response.body;
    const Received invoice = call("PUT", "/reminders/customers/" + id + "/invoices/INV-1",
                                  R"({"amount":"1500.00","currency":"EUR","due_date":"2025-12-01"})", headers);
    ASSERT_EQ(invoice.status(), 200) << invoice.response.body;
  }
  static std::string draft_of(const std::string& customer, const std::string& type = "first") {
    return R"({"customer_id":")" + customer + R"(","reminder_type":")" + type +
           R"(","email_subject":"Please pay","email_content":"Dear Ada, please pay.","created_by":"ai_system"})";
  }
  std::string make_draft(const std::string& customer = "cust_001", const Headers& headers = {}) {
    const Received draft = call("POST", "/reminders/drafts", draft_of(customer), headers);
    EXPECT_EQ(draft.status(), 201) << draft.response.body;
    return draft.status() == 201 ? draft.text("/id") : "";
  }
  Received approve(const std::string& draft, int revision = 1, const Headers& headers = {}) {
    return call("POST", "/reminders/drafts/" + draft + "/approve",
                R"({"revision":)" + std::to_string(revision) + R"(,"approved_by":"ann"})", headers);
  }
  static Headers with_key(const std::string& secret) { return {{"X-API-Key", secret}}; }

  reminders::OutboxReminderMailer room_{*outbox_, store()};
  reminders::Reminders reminders_;
};

}  // namespace postino::api
