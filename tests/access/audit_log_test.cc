// The writer of the audit: who is told what when, and what many callers at once get.
#include "access/audit_log.h"

#include <gmock/gmock.h>

#include <future>
#include <set>

#include "access/audit_reader.h"
#include "base/many_threads_testing.h"
#include "engine/embedded_store_testing.h"
#include "item/attribute_text.h"
#include "store/forwarding_store.h"

namespace postino::access {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A store whose disk is full, as long as it is told so.
class FullStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::transact_write_items;
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    ++transactions;
    if (is_full) return store::refuse(store::ErrorType::validation, "the disk is full");
    return ForwardingStore::transact_write_items(request);
  }
  std::atomic<bool> is_full = false;
  std::atomic<int> transactions = 0;
};

class AuditLogTest : public testing::Test {
 protected:
  AuditLogTest() { EXPECT_TRUE(prepare_audit(embedded_.engine(), {})); }

  std::vector<AuditEntry> entries() {
    AuditReader reader(embedded_.engine(), "postino-audit", *clock_, embedded_.retry());
    auto page = reader.list({.limit = 1'000});
    EXPECT_TRUE(page) << page.error().message;
    return page ? page->entries : std::vector<AuditEntry>();
  }
  std::vector<std::string> actions() {
    std::vector<std::string> all;
    for (const AuditEntry& entry : entries()) all.push_back(entry.event.action);
    return all;
  }
  static AuditEvent event(const std::string& action, std::string_view result = AuditEvent::allowed) {
    return {.actor = "anna", .kind = AuditEvent::user, .action = action, .result = result};
  }

  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore embedded_{clock_};
  FullStore store_{embedded_.engine()};
};

TEST_F(AuditLogTest, WhatWasRecordedIsOnDisk) {
  AuditLog log(store_, {}, *clock_, embedded_.random());
  ASSERT_TRUE(log.record(event("a")));
  EXPECT_THAT(actions(), ElementsAre("a", "audit.opened"));
  log.note(event("b"));
  log.stop();
  EXPECT_THAT(actions(), ElementsAre("b", "a", "audit.opened"));
  EXPECT_FALSE(log.record(event("c"))) << "it has ended";
}

TEST_F(AuditLogTest, CallersAreToldThatItCannotBeWritten) {
  AuditLog log(store_, {}, *clock_, embedded_.random());
  store_.is_full = true;
  const auto refused = log.record(event("a"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the disk is full"));
  EXPECT_THAT(log.problem().value_or(""), HasSubstr("the disk is full"));
  store_.is_full = false;
  ASSERT_TRUE(log.record(event("b"))) << "behind the one that was refused";
  EXPECT_THAT(actions(), ElementsAre("b", "a", "audit.opened"));
  EXPECT_FALSE(log.problem());
}

// Strangers cannot fill the disk, and what they hide behind their refusals is told.
TEST_F(AuditLogTest, OfManyRefusalsOnlySomeAreWritten) {
  AuditLog log(store_, {}, *clock_, embedded_.random(), {.in_a_second = 2, .burst = 3});
  for (int i = 0; i < 10; ++i) log.note(event("refused", AuditEvent::refused));
  ASSERT_TRUE(log.record(event("a")));
  clock_->advance(std::chrono::seconds(1));
  for (int i = 0; i < 10; ++i) log.note(event("later", AuditEvent::refused));
  log.stop();
  const std::vector<std::string> all = actions();
  EXPECT_EQ(std::ranges::count(all, "refused"), 3);
  EXPECT_EQ(std::ranges::count(all, "later"), 2);
  EXPECT_THAT(all, Contains("a"));
  int left_out = 0;
  for (const AuditEntry& entry : entries())
    if (entry.event.action == audit_left_out) left_out += std::stoi(entry.event.detail);
  EXPECT_EQ(left_out, 15);
}

TEST_F(AuditLogTest, ConcurrentCallersShareCommits) {
  constexpr int threads = 8;
  const int events = base::volume(50);
  {
    AuditLog log(store_, {}, *clock_, embedded_.random());
    base::run_threads(threads, [&](int thread) {
      for (int i = 0; i < events; ++i) {
        const std::string action = std::to_string(thread) + "-" + std::to_string(i);
        if (i % 4 == 0)
          log.note(event(action));
        else
          EXPECT_TRUE(log.record(event(action)));
      }
    });
  }
  std::set<std::string> actions;
  std::vector<item::Item> items = embedded_.scan("postino-audit");
  for (const item::Item& item : items)
    if (item::attribute_text(item, "actor") == "anna") actions.insert(item::attribute_text(item, "action"));
  EXPECT_THAT(actions, SizeIs(static_cast<std::size_t>(threads * events)));
  EXPECT_LT(store_.transactions, threads * events);
  AuditReader reader(embedded_.engine(), "postino-audit", *clock_, embedded_.retry());
  const auto verdict = reader.verify({});
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_TRUE(verdict->is_intact());
}

}  // namespace
}  // namespace postino::access
