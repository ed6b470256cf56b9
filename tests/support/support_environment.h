// The support desk with an outbox, on a store of a test's own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "memory_mailer.h"
#include "outbox/mailer.h"
#include "outbox/outbox.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_suppressions.h"
#include "support/support_desk.h"

namespace postino::support {

inline constexpr base::TimePoint test_start = engine::embedded_start;  // 2026-01-02T03:04:05Z
inline const std::string table_name = "prod-tickets-unified";

inline Actor operator_of(const std::string& tenant = "") { return {.scope = {.tenant = tenant}, .name = "op_1"}; }
inline Actor customer_actor(const std::string& customer, const std::string& tenant = "") {
  return {.scope = {.tenant = tenant, .customer_id = customer}, .name = "portal"};
}

inline NewTicket new_ticket(const std::string& customer = "cust_456") {
  NewTicket ticket;
  ticket.customer = {customer, "Ada Lovelace", "ada@example.org", "ENTERPRISE"};
  ticket.asset = {"router", "RX-200", "SN-1", "1.2.3"};
  ticket.symptom_text = "The router restarts every ten minutes.";
  ticket.error_code = "E42";
  ticket.lang = "en";
  return ticket;
}

inline Letter test_letter(const std::string& subject = "Your ticket {ticket_id}") {
  Letter letter;
  letter.subject = subject;
  letter.text = "We look at it. It is {status}.";
  return letter;
}

class SupportStore : public engine::EmbeddedStore {
 public:
  SupportStore() : SupportStore(std::make_shared<base::ManualClock>(test_start)) {}

  base::ManualClock& time() { return *time_; }

  // The store's own work, until there is none.
  void maintain();
  // So much time, with that work in between: a store doubts a clock that is a day ahead all at once.
  void pass_time(std::chrono::hours time);

  // As another program writes and reads. The test fails when it cannot.
  void put(item::Item item);
  std::optional<item::Item> get(const std::string& pk, const std::string& sk);
  std::vector<item::Item> partition(const std::string& pk);
  std::vector<std::string> sort_keys(const std::string& pk);

 private:
  explicit SupportStore(const std::shared_ptr<base::ManualClock>& time) : EmbeddedStore(time), time_(time) {}

  const std::shared_ptr<base::ManualClock> time_;
};

// The services as one process has them. Several can stand on one store.
struct SupportOffice {
  // `other_mail` in the place of an outbox in the same store.
  explicit SupportOffice(SupportStore& on, store::Store& through, outbox::Mailer* other_mail = nullptr,
                         SupportTables tables = {});
  explicit SupportOffice(SupportStore& on, outbox::Mailer* other_mail = nullptr, SupportTables tables = {})
      : SupportOffice(on, on.engine(), other_mail, std::move(tables)) {}

  // E-mails in the outbox, whatever their state.
  std::vector<outbox::Email> emails();
  // Until nothing is left to be looked at. How many items were written.
  int adopt();
  // A ticket, made a second later than the one before: its id.
  std::string make(const NewTicket& ticket = new_ticket(), const Actor& actor = operator_of());
  Ticket move(const std::string& id, TicketStatus to, const Actor& actor = operator_of());

  SupportStore& base_store;
  outbox::StoreLedger ledger;
  outbox::StoreSuppressions suppressions;
  outbox::WorkSignal signal;
  outbox::Outbox outbox;
  outbox::OutboxMailer<> own_mail;
  SupportDesk desk;
  Tickets& tickets;
  TicketLists& lists;
  FeedbackRecords& feedback;
  Events& events;
  Correspondence& correspondence;
};

// Expects success, and tells the refusal otherwise.
template <class T>
::testing::AssertionResult succeeded(const OrRefusal<T>& answer) {
  if (answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << answer.error().message;
}

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

inline std::vector<std::string> ids_of(const std::vector<Ticket>& tickets) {
  std::vector<std::string> ids;
  for (const Ticket& ticket : tickets) ids.push_back(ticket.id);
  return ids;
}

// All entries, in pages of this size. `read` takes a PageRequest.
template <class T, class Read>
std::vector<T> all_pages(const Read& read, int limit) {
  std::vector<T> all;
  PageRequest request{"", limit};
  do {
    auto page = read(request);
    EXPECT_TRUE(succeeded(page));
    if (!page) break;
    EXPECT_LE(page->entries.size(), static_cast<std::size_t>(limit));
    for (T& entry : page->entries) all.push_back(std::move(entry));
    request.cursor = page->cursor;
  } while (!request.cursor.empty());
  return all;
}

}  // namespace postino::support
