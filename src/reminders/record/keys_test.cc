#include "reminders/record/keys.h"

#include <gmock/gmock.h>

#include "access/caller_scope.h"

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;

// 2025-09-21T14:30:22.250Z
constexpr base::TimePoint moment(base::Milliseconds(1'758'465'022'250));

TEST(KeyTime, IsThatOfTheSeed) {
  EXPECT_EQ(key_time(moment), "20250921_143022");
  EXPECT_EQ(seed_time(moment), "2025-09-21T14:30:22Z");
  EXPECT_EQ(parse_key_time("20250921_143022"), moment - base::Milliseconds(250));
  for (const char* const text : {"", "20250921", "20250921_14302", "20250921-143022", "20251321_143022",
                                 "20250921_253022", "2025092a_143022", "20250921_1430221"})
    EXPECT_EQ(parse_key_time(text), std::nullopt) << text;
}

TEST(SeedTime, IsReadInAllFormsThatProgramsWrite) {
  const base::TimePoint second = moment - base::Milliseconds(250);
  EXPECT_EQ(parse_seed_time("2025-09-21T14:30:22Z"), second);
  EXPECT_EQ(parse_seed_time("2025-09-21T14:30:22"), second) << "isoformat() of a naive datetime";
  EXPECT_EQ(parse_seed_time("2025-09-21T14:30:22.250999"), moment);
  EXPECT_EQ(parse_seed_time("2025-09-21T14:30:22.250+00:00"), moment);
  EXPECT_EQ(parse_seed_time("2025-09-21T16:30:22+02:00"), second);
  EXPECT_EQ(parse_seed_time("2025-09-21 14:30:22"), second);
  EXPECT_EQ(key_time(parse_seed_time("2025-09-21").value()), "20250921_000000");
  for (const char* const text : {"", "yesterday", "2025-09-31", "14:30:22", "2025-09-21T14:30", "20250921_143022"})
    EXPECT_EQ(parse_seed_time(text), std::nullopt) << text;
}

TEST(DraftId, HasTimeAndCustomer) {
  const auto parts = parse_draft_id("20250921_143022_cust_001");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->time, "20250921_143022");
  EXPECT_EQ(parts->customer_id, "cust_001");
  for (const char* const id :
       {"", "cust_001", "20250921_143022", "20250921_143022_", "20250921_143022-cust_001", "20250921_996022_cust_001"})
    EXPECT_FALSE(parse_draft_id(id)) << id;
  EXPECT_EQ(revision_sort("20250921_143022_cust_001", 12), "REVISION#20250921_143022_cust_001#000012");
}

TEST(Keys, AreThoseOfTheSeed) {
  const Keys keys("");
  EXPECT_EQ(keys.customer("cust_001"), "CUSTOMER#cust_001");
  EXPECT_EQ(keys.of_template("reminder_first"), "TEMPLATE#reminder_first");
  EXPECT_EQ(keys.status("draft", "anything"), "STATUS#draft");
  EXPECT_THAT(keys.all_of_status("sent"), ElementsAre("STATUS#sent"));
}

TEST(Keys, OfATenantBeginWithItsName) {
  const Keys keys("acme");
  EXPECT_EQ(keys.customer("cust_001"), "TENANT#acme#CUSTOMER#cust_001");
  EXPECT_EQ(keys.of_template("a"), "TENANT#acme#TEMPLATE#a");
  EXPECT_EQ(keys.branding("a"), "TENANT#acme#BRANDING#a");
  EXPECT_EQ(keys.summary("2026-11-15"), "TENANT#acme#SUMMARY#2026-11-15");
  EXPECT_EQ(keys.audit("2026-11-15"), "TENANT#acme#AUDIT#2026-11-15");
  EXPECT_EQ(keys.status("sent", "x"), "TENANT#acme#STATUS#sent");
  EXPECT_EQ(keys.listing("CUSTOMERS"), "TENANT#acme#CUSTOMERS");
  EXPECT_EQ(Keys::email("1"), "EMAIL#1") << "work is found for all tenants together";
}

TEST(Keys, SpreadStatusesOverShards) {
  const Keys keys("", 3);
  EXPECT_THAT(keys.all_of_status("sent"),
              ElementsAre("STATUS#sent", "STATUS#sent#0", "STATUS#sent#1", "STATUS#sent#2"));
  int counts[3] = {};
  for (int i = 0; i < 300; ++i) {
    const std::string partition = keys.status("sent", std::to_string(i));
    EXPECT_EQ(partition, keys.status("sent", std::to_string(i)));
    ++counts[partition.back() - '0'];
  }
  for (const int count : counts) EXPECT_GT(count, 50);
}

TEST(Keys, AreThoseOfTheCallersTenant) {
  const access::CallerScope scope("north", "");
  EXPECT_NO_THROW(Keys("north"));
  EXPECT_THROW(Keys("south"), access::ScopeFault);
  EXPECT_THROW(Keys(""), access::ScopeFault);
}

}  // namespace
}  // namespace postino::reminders
