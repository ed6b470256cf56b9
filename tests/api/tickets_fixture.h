// The REST API with the support desk, over the real services on the embedded store.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "objects/memory_objects_testing.h"
#include "outbox/mailer.h"
#include "rest_fixture.h"
#include "support/support_desk.h"

namespace postino::api {

class RestTickets : public Rest {
 protected:
  explicit RestTickets(const support::LetterRules& letters = {.from = "Support <support@example.com>"})
      : desk_(store(), room_, options_with(letters), clock(), random_, retry_) {
    const auto prepared = desk_.prepare([] { return true; });
    EXPECT_TRUE(prepared) << prepared.error().message;
    start_tickets();
  }
  ~RestTickets() override {
    EXPECT_EQ(api_->statistics().undocumented(), 0U) << "a status that the route does not promise";
    start({});
  }

  support::SupportOptions options_with(const support::LetterRules& letters) {
    support::SupportOptions options;
    options.letters = letters;
    options.objects = &objects_;
    return options;
  }
  void start_tickets(std::initializer_list<std::string_view> keys = {}, access::Sessions* sessions = nullptr) {
    ApiOptions options;
    options.sessions = sessions;
    for (const std::string_view key : keys) options.keys.push_back(parse_api_key(key).value());
    options.tickets = &desk_;
    start(std::move(options));
  }

  static std::string ticket_body(const std::string& customer = "cust_1", const std::string& more = "") {
    return R"({"customer":{"id":")" + customer +
           R"(","name":"Ada","contact_email":"ada@example.org"},"asset":{"product_type":"router"},)"
           R"("symptom_text":"It restarts every ten minutes.","error_code":"E42")" +
           more + "}";
  }
  // The id of a new ticket.
  std::string open(const std::string& customer = "cust_1", const std::string& more = "", const Headers& headers = {}) {
    const Received created = call("POST", "/tickets", ticket_body(customer, more), headers);
    EXPECT_EQ(created.status(), 202) << created.response.body;
    return created.status() == 202 ? created.text("/ticket_id") : "";
  }
  Received move(const std::string& id, const std::string& body, const Headers& headers = {}) {
    return call("POST", "/tickets/" + id + "/status", body, headers);
  }
  std::vector<std::string> ids(const Received& page) {
    std::vector<std::string> found;
    EXPECT_EQ(page.status(), 200) << page.response.body;
    for (std::size_t i = 0; page.status() == 200 && i < page.size("/data"); ++i)
      found.push_back(page.text("/data/" + std::to_string(i) + "/ticket_id"));
    return found;
  }
  std::vector<std::string> listed(const std::string& query, const Headers& headers = {}) {
    return ids(get("/tickets" + query, headers));
  }

  objects::MemoryObjects objects_{clock()};
  outbox::OutboxMailer<> room_{*outbox_, store(), ""};
  support::SupportDesk desk_;
};

inline Headers with_secret(const std::string& secret) { return {{"Authorization", "Bearer " + secret}}; }

}  // namespace postino::api
