#include "capacity/planner.h"

#include <gmock/gmock.h>

#include "store/empty_store.h"

namespace postino::capacity {
namespace {

using testing::Contains;
using testing::HasSubstr;

// One that others use, too, by whose rights only the tables of the services may be looked at.
class SharedTables final : public store::EmptyStore {
 public:
  bool is_shared() const override { return true; }
  store::Answer<store::ListTablesResponse> list_tables(const store::ListTablesRequest&) override {
    return store::refuse(store::ErrorType::access_denied, "not authorized to perform: dynamodb:ListTables");
  }
  store::Answer<store::TableDescription> describe_table(const std::string& table) override {
    asked.push_back(table);
    if (table == "hidden") return store::refuse(store::ErrorType::access_denied, "not authorized");
    if (table == "gone") return refuse<store::TableDescription>();
    store::TableDescription description;
    description.name = table;
    return description;
  }

  std::vector<std::string> asked;
};

TEST(Planner, OnASharedStoreLooksAtTheTablesOfTheServicesAndThoseInUse) {
  const base::ManualClock clock(base::TimePoint(std::chrono::seconds(1'767'323'045)));
  SharedTables store;
  const auto watch = std::make_shared<TrafficWatch>(clock);
  for (const char* table : {"orders", "hidden", "gone"})
    watch->meter({.table = table, .index = "", .hash = {}, .item_key = {}})->count({.units = 1});
  const Planner planner(built_in_prices(), store, watch, {}, {{"emails", "outbox"}});
  const auto observation = planner.observe();
  ASSERT_TRUE(observation) << observation.error().message;
  EXPECT_THAT(store.asked, testing::UnorderedElementsAre("emails", "orders", "hidden", "gone"));
  ASSERT_EQ(observation->tables.size(), 2U);
  EXPECT_EQ(observation->tables[0].table, "emails");
  EXPECT_EQ(observation->tables[1].table, "orders");
  EXPECT_EQ(observation->deleted_units.text(), "1") << "of the one that is gone alone";
  EXPECT_THAT(observation->notes, Contains(HasSubstr("Table hidden may not be described")));
}

}  // namespace
}  // namespace postino::capacity
