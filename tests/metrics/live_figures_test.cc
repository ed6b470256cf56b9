// Figures for those who watch.
#include "metrics/live_figures.h"

#include "access/caller_scope.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LiveFiguresTest : public ::testing::Test {
 protected:
  LiveFiguresTest() { process_.count_all(); }

  void put(const std::string& id, const std::string& tenant = "") {
    desk_.put(ticket_item(id, "NEW", desk_.now(), tenant));
    process_.count_all();
  }

  SupportDesk desk_;
  CountingProcess process_{desk_};
  Dashboard dashboard_ = desk_.dashboard();
  LiveFigures live_{dashboard_, {.most_watchers = 4, .most_watchers_of_tenant = 2, .most_watchers_of_caller = 1}};
};

TEST_F(LiveFiguresTest, BeginWithThePresent) {
  put("a");
  const auto stream = live_.watch("");
  live_.tell();
  const auto piece = stream->next();
  EXPECT_FALSE(piece.is_last);
  EXPECT_THAT(piece.bytes, AllOf(StartsWith("event: figures\nid: "), HasSubstr("\ndata: {"), HasSubstr(R"("NEW":1)"),
                                 EndsWith("}\n\n")));
  EXPECT_EQ(stream->next().bytes, "") << "once";
  EXPECT_THAT(stream->pulse(), StartsWith(":"));
}

TEST_F(LiveFiguresTest, OneWhoReadsSlowlyGetsTheLatest) {
  const auto stream = live_.watch("");
  int wakes = 0;
  stream->begin([&] { ++wakes; });
  for (int i = 0; i < 5; ++i) {
    put(std::to_string(i));
    live_.changed({""});
    live_.tell();
  }
  EXPECT_EQ(wakes, 5);
  EXPECT_THAT(stream->next().bytes, HasSubstr(R"("NEW":5)"));
  EXPECT_EQ(stream->next().bytes, "");
}

TEST_F(LiveFiguresTest, EachSeesItsTenantAlone) {
  const auto company = live_.watch(""), acme = live_.watch("acme");
  live_.tell();
  (void)company->next();
  (void)acme->next();
  put("a", "acme");
  live_.changed({"acme", "*"});
  live_.tell();
  EXPECT_EQ(company->next().bytes, "") << "nothing of it has changed";
  EXPECT_THAT(acme->next().bytes, HasSubstr(R"("NEW":1)"));
}

TEST_F(LiveFiguresTest, EverybodyIsTheCompanyAndAllTenants) {
  put("a");
  put("b", "acme");
  put("c", "zeta");
  const auto all = live_.watch(std::string(everybody)), tenants = live_.watch(std::string(all_tenants));
  live_.tell();
  EXPECT_THAT(all->next().bytes, HasSubstr(R"("NEW":3)"));
  EXPECT_THAT(tenants->next().bytes, HasSubstr(R"("NEW":2)"));
  put("d", "acme");
  live_.changed({"acme", "*"});
  live_.tell();
  EXPECT_THAT(all->next().bytes, HasSubstr(R"("NEW":4)"));
}

// A client that comes back says what it had last.
TEST_F(LiveFiguresTest, WhatAClientHasIsNotSentAgain) {
  put("a");
  const auto first = live_.watch("");
  live_.tell();
  const std::string event = first->next().bytes;
  const std::size_t begin = event.find("\nid: ") + 5;
  const std::string id = event.substr(begin, event.find('\n', begin) - begin);
  const auto again = live_.watch("", id), other = live_.watch("acme", id);
  live_.tell();
  EXPECT_EQ(again->next().bytes, "") << "it has this";
  EXPECT_THAT(other->next().bytes, HasSubstr(R"("NEW":0)")) << "the id is of other figures";
  put("b");
  live_.changed({""});
  live_.tell();
  EXPECT_THAT(again->next().bytes, HasSubstr(R"("NEW":2)"));
}

TEST_F(LiveFiguresTest, ThereAreLimits) {
  std::vector<std::shared_ptr<http::BodyStream>> streams;
  for (const char* tenant : {"a", "a", "b", "b"}) streams.push_back(live_.watch(tenant));
  EXPECT_EQ(live_.watchers(), 4U);
  EXPECT_EQ(live_.watch("c"), nullptr) << "too many in all";
  streams.pop_back();
  EXPECT_EQ(live_.watchers(), 3U);
  EXPECT_EQ(live_.watch("a"), nullptr) << "too many of one tenant";
  EXPECT_NE(live_.watch("b"), nullptr);
}

TEST_F(LiveFiguresTest, OneCallerDoesNotKeepOutTheOthers) {
  auto first = live_.watch("a", "", "key one");
  EXPECT_EQ(live_.watch("a", "", "key one"), nullptr);
  EXPECT_EQ(live_.watch("b", "", "key one"), nullptr) << "of another tenant, either";
  EXPECT_NE(live_.watch("a", "", "key two"), nullptr);
  first.reset();
  EXPECT_NE(live_.watch("a", "", "key one"), nullptr);
}

TEST_F(LiveFiguresTest, ACallOfOneTenantWatchesNoOther) {
  const access::CallerScope scope("acme", "");
  EXPECT_NE(live_.watch("acme"), nullptr);
  EXPECT_THROW((void)live_.watch("zeta"), access::ScopeFault);
  EXPECT_THROW((void)live_.watch(std::string(everybody)), access::ScopeFault);
}

TEST_F(LiveFiguresTest, TheEndEndsThem) {
  const auto stream = live_.watch("");
  bool is_woken = false;
  stream->begin([&] { is_woken = true; });
  live_.stop();
  EXPECT_TRUE(is_woken);
  EXPECT_TRUE(stream->next().is_last);
  EXPECT_EQ(live_.watch(""), nullptr);
}

}  // namespace
}  // namespace postino::metrics
