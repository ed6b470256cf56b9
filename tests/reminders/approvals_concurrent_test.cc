// Many approvals at once, each from what another process would have: one e-mail.
#include <atomic>
#include <map>
#include <mutex>

#include "base/many_threads_testing.h"
#include "reminder_office.h"

namespace postino::reminders {
namespace {

using ::testing::SizeIs;

constexpr int processes = 5;

class ConcurrentApprovals : public ::testing::Test {
 protected:
  ConcurrentApprovals() {
    for (int i = 0; i < processes; ++i) offices_.push_back(std::make_unique<ReminderOffice>(store_, mail_));
  }
  ReminderOffice& office(int thread) { return *offices_[static_cast<std::size_t>(thread % processes)]; }
  void note(const std::string& outcome) {
    const std::lock_guard lock(mutex_);
    ++outcomes_[outcome];
  }

  RemindersStore store_;
  ReminderMailer* mail_ = nullptr;
  std::vector<std::unique_ptr<ReminderOffice>> offices_;
  std::mutex mutex_;
  std::map<std::string, int> outcomes_;
};

TEST_F(ConcurrentApprovals, OfOneDraftSendOneEmail) {
  const std::string id = put_draft(store_, "cust_001", "first");
  base::run_threads(50, [&](int thread) { note(outcome_of(office(thread).approve(id))); });
  EXPECT_EQ(outcomes_[""], 1);
  EXPECT_EQ(outcomes_["wrong_state"], 49) << ::testing::PrintToString(outcomes_);
  EXPECT_THAT(office(0).emails(), SizeIs(1));
}

TEST_F(ConcurrentApprovals, OfManyDraftsOfOneCustomerSendOneEmail) {
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(put_draft(store_, "cust_001", "first"));
  base::run_threads(50, [&](int thread) {
    store_.time().advance(std::chrono::seconds(1));  // so that the keys of their records differ
    note(outcome_of(office(thread).approve(ids[static_cast<std::size_t>(thread) % ids.size()])));
  });
  EXPECT_EQ(outcomes_[""], 1) << ::testing::PrintToString(outcomes_);
  EXPECT_EQ(outcomes_["busy"], 0) << ::testing::PrintToString(outcomes_);
  EXPECT_THAT(office(0).emails(), SizeIs(1));
}

TEST_F(ConcurrentApprovals, OfManyCustomersSendOneEmailEach) {
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(put_draft(store_, "cust_" + std::to_string(i), "first"));
  base::run_threads(10, [&](int thread) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      note(outcome_of(office(thread).approve(ids[(i + static_cast<std::size_t>(thread)) % ids.size()])));
  });
  EXPECT_EQ(outcomes_[""], 10) << ::testing::PrintToString(outcomes_);
  EXPECT_EQ(outcomes_["wrong_state"], 90) << ::testing::PrintToString(outcomes_);
  EXPECT_THAT(office(0).emails(), SizeIs(10));
}

class ConcurrentHandovers : public ConcurrentApprovals {
 protected:
  ConcurrentHandovers() {
    offices_.clear();
    for (int i = 0; i < processes; ++i) offices_.push_back(std::make_unique<ReminderOffice>(store_, &elsewhere_));
  }
  MemoryReminderMailer elsewhere_;
};

TEST_F(ConcurrentHandovers, BringEachEmailToTheOutboxOnce) {
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(put_draft(store_, "cust_" + std::to_string(i / 2), "first"));
  base::run_threads(10, [&](int thread) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      note(outcome_of(office(thread).approve(ids[(i + static_cast<std::size_t>(thread)) % ids.size()])));
      if (thread % 2 == 0) EXPECT_TRUE(succeeded(office(thread).handovers.run_once()));
    }
  });
  EXPECT_TRUE(succeeded(office(0).handovers.run_once()));
  EXPECT_EQ(outcomes_[""], 10) << ::testing::PrintToString(outcomes_);
  EXPECT_THAT(elsewhere_.payloads(), SizeIs(10));
}

// Customers opt out while others approve: an approver that is told that it was sent was first.
TEST_F(ConcurrentApprovals, AndOptOutsAreInOneOrder) {
  const Actor actor{.tenant = "", .name = "system", .key = {}, .from = {}};
  for (int round = 0; round < 10; ++round) {
    Customer customer;
    customer.id = "cust_" + std::to_string(round);
    customer.name = "John Doe";
    customer.email = "john@example.com";
    ASSERT_TRUE(succeeded(office(0).customers.put(customer, actor)));
    const std::string id = put_draft(store_, customer.id, "first");
    const std::size_t before = office(0).emails().size();
    std::atomic<bool> is_sent = false;
    base::run_threads(4, [&](int thread) {
      if (thread == 0) {
        EXPECT_TRUE(succeeded(office(1).customers.opt_out(customer.id, "asked", actor)));
        return;
      }
      const std::string outcome = outcome_of(office(thread).approve(id));
      EXPECT_TRUE(outcome.empty() || outcome == "stopped" || outcome == "wrong_state") << outcome;
      if (outcome.empty()) is_sent = true;
    });
    EXPECT_EQ(office(0).emails().size(), before + (is_sent ? 1 : 0));
    EXPECT_TRUE(office(0).customers.find(customer.id, "")->opted_out);
    EXPECT_EQ(outcome_of(office(0).approve(put_draft(store_, customer.id, "first"))), "stopped");
  }
}

}  // namespace
}  // namespace postino::reminders
