#include "support/record/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "access/caller_scope.h"
#include "support/record/feedback.h"
#include "support/record/ticket_email.h"
#include "support/record/ticket_event.h"

namespace postino::support {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr base::TimePoint noon =
    base::TimePoint(std::chrono::milliseconds(1'763'460'000'123));  // 2025-11-18T10:00:00.123Z

TEST(TicketKeys, SpreadPartitionsOverShards) {
  EXPECT_EQ(Keys("").shard_of("STATUS#NEW", "tkt_1"), "STATUS#NEW") << "as the former system has it";
  EXPECT_THAT(Keys("").shards_of("STATUS#NEW"), ::testing::ElementsAre("STATUS#NEW"));
  const Keys keys("acme", std::nullopt, {.count = 2, .ever = 3});
  std::set<std::string> shards;
  for (int i = 0; i < 50; ++i) {
    const std::string id = "tkt_" + std::to_string(i);
    EXPECT_EQ(keys.shard_of("S", id), keys.shard_of("S", id));
    shards.insert(keys.shard_of("S", id));
  }
  EXPECT_THAT(shards, ::testing::ElementsAre("S#0", "S#1"));
  EXPECT_THAT(keys.shards_of("S"), ::testing::ElementsAre("S", "S#0", "S#1", "S#2"));
}

TEST(TicketKeys, AreThoseOfTheFormerSystem) {
  const Keys keys("");
  EXPECT_EQ(keys.ticket("tkt_123"), "TICKET#tkt_123");
  EXPECT_EQ(keys.customer("cust_456"), "CUSTOMER#cust_456");
  EXPECT_EQ(keys.status(TicketStatus::processing), "STATUS#PROCESSING");
  EXPECT_EQ(keys.operated_by("op_1"), "OPERATOR#op_1");
  EXPECT_EQ(keys.idempotency("k"), "IDEMPOTENCY#k");
  EXPECT_EQ(keys.cache("k"), "CACHE#k");
  EXPECT_EQ(customer_sort_begin(TicketStatus::fresh), "STATUS#NEW#");
  EXPECT_EQ(write_time(noon), "2025-11-18T10:00:00.123Z");
}

TEST(TicketKeys, OfATenantBeginWithIt) {
  const Keys keys("acme");
  for (const std::string& key :
       {keys.ticket("1"), keys.mail("1"), keys.idempotency("1"), keys.cache("1"), keys.customer("1"),
        keys.status(TicketStatus::ready), keys.product("1"), keys.error("1"), keys.priority("P1"),
        keys.feedback_of("1"), keys.operated_by("1"), keys.escalations(), keys.escalated_to("1")})
    EXPECT_TRUE(key.starts_with("TENANT#acme#")) << key;
}

// Otherwise a name could be chosen so that its keys are those of another tenant.
TEST(TicketKeys, OfTwoTenantsNeverMeet) {
  EXPECT_NE(Keys("a#TICKET#x").ticket("1"), Keys("a").ticket("x#TICKET#1"));
  EXPECT_NE(Keys("a%23b").ticket("1"), Keys("a#b").ticket("1"));
  for (const std::string tenant : {"", "acme", "a#b", "a%23b", "100%"}) {
    const auto place = parse_ticket_partition(Keys(tenant).ticket("tkt_1#0"));
    ASSERT_TRUE(place);
    EXPECT_EQ(place->tenant, tenant);
    EXPECT_EQ(place->ticket_id, "tkt_1#0");
  }
  for (const std::string pk : {"", "TICKET#", "TENANT#a", "TENANT##TICKET#1", "CUSTOMER#1", "TENANT#a#CUSTOMER#1"})
    EXPECT_FALSE(parse_ticket_partition(pk)) << pk;
}

TEST(TicketKeys, OfBoundCallersAreTheirOwn) {
  EXPECT_NE(Keys("", "a").idempotency("k"), Keys("").idempotency("k"));
  EXPECT_NE(Keys("", "a").idempotency("b#k"), Keys("", "a#b").idempotency("k"));
  EXPECT_NE(Keys("", "a").cache("k"), Keys("", "b").cache("k"));
  EXPECT_EQ(Keys("", "a").ticket("1"), Keys("").ticket("1"));
}

TEST(TicketTimes, AreReadInAllForms) {
  for (const std::string text : {"2025-11-18T10:00:00.123Z", "2025-11-18T10:00:00.123456", "2025-11-18T10:00:00.123",
                                 "2025-11-18T11:00:00.123+01:00"})
    EXPECT_EQ(read_time(text), noon) << text;
  EXPECT_EQ(read_time("2025-11-18"), noon - std::chrono::milliseconds(36'000'123));
  for (const std::string text : {"", "now", "2025-13-01", "2025-11-18T25:00:00"}) EXPECT_FALSE(read_time(text)) << text;
}

TEST(TicketTimes, AreToldInUtc) {
  EXPECT_EQ(time_in_utc("2025-11-18T10:00:00.123456Z"), "2025-11-18T10:00:00.123456Z");
  EXPECT_EQ(time_in_utc("2025-11-18T10:00:00.123456"), "2025-11-18T10:00:00.123456Z");
  EXPECT_EQ(time_in_utc("2025-11-18T11:00:00.123+01:00"), "2025-11-18T10:00:00.123Z");
  EXPECT_EQ(time_in_utc("2025-11-18"), "2025-11-18T00:00:00.000Z");
  EXPECT_EQ(time_in_utc("now"), "now");
}

// Programs that subtract two times cannot mix those with a zone and those without.
TEST(TicketTimes, AreWrittenInTheFormOfTheOther) {
  EXPECT_EQ(write_time_like("2025-11-18T10:00:00Z", noon), "2025-11-18T10:00:00.123Z");
  EXPECT_EQ(write_time_like("2025-11-18T10:00:00+01:00", noon), "2025-11-18T10:00:00.123Z");
  EXPECT_EQ(write_time_like("2025-11-18T10:00:00.000001", noon), "2025-11-18T10:00:00.123000");
  EXPECT_EQ(write_time_like("2025-11-18T10:00:00", noon), "2025-11-18T10:00:00.123000");
  EXPECT_EQ(read_time(write_time_like("2025-11-18T10:00:00", noon)), noon);
}

TEST(TicketTimes, OfASecondStandTogether) {
  std::vector<std::string> keys = {"2025-11-18T10:00:01", "2025-11-18T10:00:00Z",       "2025-11-18T10:00:00.999Z",
                                   "2025-11-18T10:00:00", "2025-11-18T10:00:00.123456", "2025-11-18T09:59:59.999999",
                                   "2025-11-18T09:59:59Z"};
  std::ranges::sort(keys);
  std::vector<std::string> seconds;
  for (const std::string& key : keys) seconds.push_back(key.substr(0, 19));
  EXPECT_TRUE(std::ranges::is_sorted(seconds));
  for (const std::string& key : keys)
    EXPECT_EQ(key.starts_with(first_key_of_second(noon)), key.starts_with("2025-11-18T10:00:00")) << key;
}

TEST(TicketKeys, AreThoseOfTheCaller) {
  {
    const access::CallerScope scope("north", "");
    EXPECT_NO_THROW(Keys("north"));
    EXPECT_NO_THROW(Keys("north", "cust_1"));
    EXPECT_THROW(Keys("south"), access::ScopeFault);
    EXPECT_THROW(Keys(""), access::ScopeFault);
  }
  const access::CallerScope scope("north", "cust_1");
  EXPECT_NO_THROW(Keys("north", "cust_1"));
  EXPECT_THROW(Keys("north", "cust_2"), access::ScopeFault);
  EXPECT_THROW(Keys("north"), access::ScopeFault) << "the customer was forgotten";
}

TEST(EventNumbers, SortAsTheyCount) {
  EXPECT_EQ(event_number(1), "001");
  EXPECT_EQ(event_number(999), "999");
  EXPECT_EQ(event_number(1'000), "A1000");
  EXPECT_EQ(event_number(9'999), "A9999");
  EXPECT_EQ(event_number(10'000), "B10000");
  EXPECT_EQ(event_number(1'234'567), "D1234567");
  std::string last;
  for (std::int64_t number = 1; number < 120'000; number += number < 1'100 ? 1 : 97) {
    const std::string text = event_number(number);
    EXPECT_LT(last, text) << number;
    EXPECT_EQ(parse_event_number(text), number);
    last = text;
  }
  EXPECT_EQ(parse_event_number("1000"), 1'000) << "as other programs write it";
  for (const std::string text : {"", "status_change", "A", "12x", "-1", "99999999999999999999"})
    EXPECT_FALSE(parse_event_number(text)) << text;
}

TEST(EventPlaces, GoOnWithinADayAndBeginAnewWithTheNext) {
  const std::string today = "2025-11-18";
  const auto place = [&](const EventCount& count, const std::optional<EventPlace>& taken = std::nullopt) {
    const EventPlace next = next_event_place(count, noon, taken);
    return event_sort(next.date, next.number);
  };
  EXPECT_EQ(place({}), "EVENT#2025-11-18#001");
  EXPECT_EQ(place({today, 7}), "EVENT#2025-11-18#008");
  EXPECT_EQ(place({"2025-11-17", 7}), "EVENT#2025-11-18#001");
  EXPECT_EQ(place({today, 999}), "EVENT#2025-11-18#A1000");
  // The clock of another server is a little ahead, or was far ahead once.
  EXPECT_EQ(place({"2025-11-19", 3}), "EVENT#2025-11-19#004");
  EXPECT_EQ(place({"2026-11-19", 3}), "EVENT#2025-11-18#001");
  // Another program took numbers.
  EXPECT_EQ(place({today, 7}, EventPlace{today, 9}), "EVENT#2025-11-18#010");
  EXPECT_EQ(place({today, 7}, EventPlace{"2025-11-17", 9}), "EVENT#2025-11-18#008");
}

TEST(FeedbackTimes, OfTheSameMomentAreDifferent) {
  EXPECT_EQ(next_feedback_time(noon, ""), "2025-11-18T10:00:00.123Z");
  EXPECT_EQ(next_feedback_time(noon, "2025-11-18T10:00:00.123Z"), "2025-11-18T10:00:00.123001Z");
  EXPECT_EQ(next_feedback_time(noon, "2025-11-18T10:00:00.123001Z"), "2025-11-18T10:00:00.123002Z");
  EXPECT_EQ(next_feedback_time(noon, "2025-11-18T10:00:00.123456"), "2025-11-18T10:00:00.123457Z");
  EXPECT_EQ(next_feedback_time(noon, "2025-11-18T10:00:00.123999Z"), std::nullopt);
  EXPECT_EQ(read_time(*next_feedback_time(noon, "2025-11-18T10:00:00.123Z")), noon);
}

TEST(MessageIds, AreFoundInHeaders) {
  EXPECT_THAT(message_ids_in("<a@b> <c@d>\t<a@b>", 9), ElementsAre("a@b", "c@d"));
  EXPECT_THAT(message_ids_in("<a@b> <c@d> <e@f>", 2), ElementsAre("a@b", "c@d"));
  EXPECT_THAT(message_ids_in("see < a@b > and <> and <" + std::string(1'000, 'x') + ">", 9), ElementsAre("a@b"));
  EXPECT_THAT(message_ids_in("a@b", 9), IsEmpty());
  EXPECT_THAT(message_ids_in("<a@b", 9), IsEmpty());
}

}  // namespace
}  // namespace postino::support
