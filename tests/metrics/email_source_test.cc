// E-mails as the outbox writes them.
#include "metrics/figures/email_figures.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_tables.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;

class EmailCountingTest : public ::testing::Test {
 protected:
  EmailCountingTest() { CHECK(outbox::prepare_tables(desk_.engine(), {})); }

  static FollowerOptions following_emails() {
    FollowerOptions options = following_at_once("one");
    options.keeper.follower = "emails";
    options.table = outbox::StoreTables().emails;
    return options;
  }

  void put(const std::string& id, outbox::State state, bool is_settled = false, const std::string& tenant = "") {
    outbox::Email email;
    email.id = id;
    email.tenant = tenant;
    email.state = state;
    email.created_at = email.updated_at = desk_.now();
    email.due_at = desk_.now();
    if (is_settled) email.settled_at = desk_.now();
    store::PutItemRequest request;
    request.table_name = source_.table;
    request.item = outbox::meta_item(email, desk_.now() + 24h, outbox::least_shards);
    const auto written = desk_.engine().put_item(request);
    ASSERT_TRUE(written) << written.error().message;
  }
  void count_all() {
    for (int i = 0; i < 100; ++i)
      if (follower_.run_once() == Follower::Round::waiting) return;
    ADD_FAILURE() << "there is no end of it";
  }

  SupportDesk desk_;
  const Source source_ = email_source(outbox::StoreTables().emails, 24h);
  Counter counter_{desk_.engine(), source_, desk_.clock(), desk_.retry()};
  Follower follower_{desk_.engine(), following_emails(), counter_, desk_.clock(), desk_.random(), desk_.retry()};
};

TEST_F(EmailCountingTest, CountsByStateAndTenant) {
  put("a", outbox::State::accepted);
  count_all();
  EXPECT_EQ(desk_.count("emails_by_state#ACCEPTED"), 1) << "it was there before the stream";
  put("b", outbox::State::accepted, false, "acme");
  put("a", outbox::State::sent, true);
  count_all();
  EXPECT_EQ(desk_.count("emails_by_state#ACCEPTED"), 0);
  EXPECT_EQ(desk_.count("emails_by_state#SENT"), 1);
  EXPECT_EQ(desk_.count("emails_by_state#ACCEPTED", "acme"), 1);
  Dashboard dashboard(desk_.engine(), metrics_table, {source_}, desk_.retry());
  const auto hours = dashboard.history("", "emails", Unit::hours, desk_.now() - 1h, desk_.now() + 1h);
  ASSERT_TRUE(hours);
  ASSERT_EQ(hours->size(), 1U);
  EXPECT_EQ(hours->front().events.at("emails_accepted").count, 1);
  EXPECT_EQ(hours->front().events.at("emails_settled#SENT").count, 1);
  EXPECT_EQ(stored_figures(desk_.engine(), "emails"), true_figures(desk_.engine(), source_, desk_.now()));
}

TEST_F(EmailCountingTest, WhatHasExpiredIsNotThereAnyMoreButHappened) {
  put("a", outbox::State::sent, true);
  count_all();
  desk_.pass(23h);
  count_all();
  desk_.pass(2h);
  count_all();
  EXPECT_EQ(desk_.count("emails_by_state#SENT"), 0);
  Dashboard dashboard(desk_.engine(), metrics_table, {source_}, desk_.retry());
  const auto hours = dashboard.history("", "emails", Unit::hours, desk_.now() - 48h, desk_.now());
  ASSERT_TRUE(hours);
  ASSERT_EQ(hours->size(), 1U);
  EXPECT_EQ(hours->front().events.at("emails_settled#SENT").count, 1);
}

}  // namespace
}  // namespace postino::metrics
