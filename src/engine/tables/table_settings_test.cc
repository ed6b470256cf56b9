#include "engine/catalog/core_testing.h"
#include "engine/storage/keys.h"
#include "engine/tables/table_operations.h"

namespace postino::engine {
namespace {

using store::ErrorType;
using store::TimeToLiveStatus;

class TableSettingsTest : public CoreTest {
 protected:
  TableSettingsTest() { EXPECT_TRUE(tables().create(simple_table("abc"))); }
  TableOperations tables() { return TableOperations(core()); }
  store::Answer<store::TimeToLiveSpecification> set(const std::string& attribute, bool enabled) {
    return tables().update_time_to_live("abc", {attribute, enabled});
  }
};

TEST_F(TableSettingsTest, TimeToLiveIsOffAtFirst) {
  const store::TimeToLiveDescription description = tables().describe_time_to_live("abc").value();
  EXPECT_EQ(description.status, TimeToLiveStatus::disabled);
  EXPECT_FALSE(description.attribute_name);
  EXPECT_EQ(set("expires", false).error().message, "TimeToLive is already disabled");
}

TEST_F(TableSettingsTest, TimeToLiveIsEchoedAndDescribed) {
  const store::TimeToLiveSpecification answer = set("expires", true).value();
  EXPECT_EQ(answer.attribute_name, "expires");
  EXPECT_TRUE(answer.enabled);
  EXPECT_FALSE(core().catalog->find("abc")->time_to_live->backfill);
  reopen();
  const store::TimeToLiveDescription description = tables().describe_time_to_live("abc").value();
  EXPECT_EQ(description.status, TimeToLiveStatus::enabled);
  EXPECT_EQ(description.attribute_name, "expires");
  EXPECT_EQ(set("expires", true).error().message, "TimeToLive is already enabled");
  const std::string other = "TimeToLive is active on a different AttributeName: current AttributeName is expires";
  EXPECT_EQ(set("other", true).error().message, other);
  EXPECT_EQ(set("other", false).error().message, other);
}

TEST_F(TableSettingsTest, ItemsThatAreThereGetTheirExpiryInTheBackground) {
  put_plain_item("abc", "one");
  int woken = 0;
  core().wake_maintenance = [&] { ++woken; };
  ASSERT_TRUE(set("expires", true));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(core().catalog->find("abc")->time_to_live->backfill.value().cursor, "");
  EXPECT_EQ(tables().describe_time_to_live("abc")->status, TimeToLiveStatus::enabled);
}

TEST_F(TableSettingsTest, DisablingForgetsAllExpiries) {
  ASSERT_TRUE(set("expires", true));
  const std::string key = expiry_key(core().catalog->find("abc")->id, 12, id_prefix(1) + "item");
  const auto entry = std::make_shared<CommitEntry>();
  entry->put(Family::expiry, key, "");
  core().queue->enqueue(entry);
  ASSERT_TRUE(core().queue->wait(entry));
  ASSERT_TRUE(set("expires", false));
  EXPECT_FALSE(core().database->get(Family::expiry, key).value());
  EXPECT_EQ(tables().describe_time_to_live("abc")->status, TimeToLiveStatus::disabled);
}

TEST_F(TableSettingsTest, TimeToLiveNeedsATableAndAName) {
  EXPECT_EQ(tables().update_time_to_live("nope", {"expires", true}).error().message,
            "Requested resource not found: Table: nope not found");
  EXPECT_EQ(tables().describe_time_to_live("nope").error().type, ErrorType::resource_not_found);
  EXPECT_EQ(set("", true).error().message,
            "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy "
            "constraint: Member must have length greater than or equal to 1");
  EXPECT_FALSE(set(std::string(256, 'x'), true));
}

}  // namespace
}  // namespace postino::engine
