// All services together, with the thread that hands reminders over and looks what has become of them.
#include "base/many_threads_testing.h"
#include "memory_reminder_mailer.h"
#include "reminders/reminders.h"
#include "reminders_store.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;

const Actor drafter{.tenant = "", .name = "ai_system", .key = {}, .from = {}};
const Actor approver{.tenant = "", .name = "user_123", .key = {}, .from = {}};

class ConcurrentServices : public ::testing::Test {
 protected:
  ConcurrentServices() { EXPECT_TRUE(reminders_.prepare()); }

  std::string draft_of(const std::string& id) {
    Customer customer;
    customer.id = id;
    customer.name = "John Doe";
    customer.email = "john@example.com";
    EXPECT_TRUE(succeeded(reminders_.customers().put(customer, drafter)));
    NewDraft draft;
    draft.customer_id = id;
    draft.reminder_type = "first";
    draft.text = DraftText{"Payment reminder", "Dear John,", ""};
    const auto made = reminders_.drafts().make(draft, drafter);
    EXPECT_TRUE(succeeded(made));
    return made ? made->draft.id : "";
  }
  bool eventually_has(const SentReminder& sent, DeliveryStatus delivery) {
    return base::eventually([&] {
      const auto found = reminders_.history().find(sent.customer_id, sent.id, "");
      return found && found->delivery == delivery;
    });
  }

  RemindersStore store_;
  MemoryReminderMailer mail_;
  // It looks by itself so rarely that only being woken helps.
  Reminders reminders_{store_.engine(),
                       mail_,
                       {.tables = {},
                        .rules = Rules::usual(),
                        .approval = {.other_person = true, .from = "billing@example.com"},
                        .poll = std::chrono::hours(1)},
                       store_.clock(),
                       store_.random(),
                       store_.retry()};
};

TEST_F(ConcurrentServices, BringAReminderFromItsDraftToTheCustomer) {
  const std::string id = draft_of("cust_001");
  reminders_.start();
  EXPECT_FALSE(reminders_.approvals().approve(id, 1, drafter)) << "by another person";
  const auto sent = reminders_.approvals().approve(id, 1, approver);
  ASSERT_TRUE(succeeded(sent));
  reminders_.wake();
  ASSERT_TRUE(base::eventually([&] { return mail_.payloads().size() == 1; }));
  mail_.change(sent->email_id, [](outbox::Email& email) { email.state = outbox::State::sent; });
  reminders_.note_email(sent->email_id);
  EXPECT_TRUE(eventually_has(*sent, DeliveryStatus::sent));
  reminders_.stop();
  reminders_.stop();
  EXPECT_EQ(reminders_.rules().all(), Rules::usual().all());
}

TEST_F(ConcurrentServices, AreUsedByManyWhileTheyWork) {
  reminders_.start();
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(draft_of("cust_" + std::to_string(i)));
  base::run_threads(8, [&](int thread) {
    const auto sent = reminders_.approvals().approve(ids[static_cast<std::size_t>(thread)], 1, approver);
    ASSERT_TRUE(succeeded(sent));
    reminders_.wake();
    ASSERT_TRUE(base::eventually([&] { return mail_.find(sent->email_id, "")->has_value(); }));
    const bool fails = thread % 2 == 0;
    mail_.change(sent->email_id,
                 [&](outbox::Email& email) { email.state = fails ? outbox::State::failed : outbox::State::sent; });
    reminders_.note_email(sent->email_id);
    EXPECT_TRUE(eventually_has(*sent, fails ? DeliveryStatus::failed : DeliveryStatus::sent));
  });
  EXPECT_EQ(mail_.payloads().size(), 8U);
}

}  // namespace
}  // namespace postino::reminders
