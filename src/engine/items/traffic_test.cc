#include "engine/items/traffic.h"

#include <map>

#include "engine/engine_testing.h"

namespace postino::engine {
namespace {

using store::TrafficKind;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// Notes everything, by "table" or "table/index".
class NotingObserver final : public store::TrafficObserver {
 public:
  struct Note {
    std::string place;
    TrafficKind kind;
    double units;
    std::string partition;  // empty: none
    std::size_t size;
  };

  std::shared_ptr<store::TrafficMeter> meter(store::TrafficSource source) override {
    ++meters;
    return std::make_shared<NotingMeter>(*this,
                                         source.index.empty() ? source.table : source.table + "/" + source.index);
  }
  void count_stream_read() override { ++stream_reads; }

  std::map<std::string, double> units(bool reads) const {
    std::map<std::string, double> sums;
    for (const Note& note : notes)
      if ((note.kind == TrafficKind::read || note.kind == TrafficKind::scan) == reads) sums[note.place] += note.units;
    return sums;
  }

  std::vector<Note> notes;
  int stream_reads = 0;
  int meters = 0;

 private:
  class NotingMeter final : public store::TrafficMeter {
   public:
    NotingMeter(NotingObserver& owner, std::string place) : owner_(owner), place_(std::move(place)) {}
    void count(const store::Traffic& traffic) override {
      owner_.notes.push_back({place_, traffic.kind, traffic.units,
                              traffic.partition ? std::string(traffic.partition->bytes) : "", traffic.written_size});
    }

   private:
    NotingObserver& owner_;
    const std::string place_;
  };
};

class TrafficTest : public EngineTest {
 protected:
  TrafficTest() {
    options_.traffic = observer_;
    reopen();
    store::CreateTableRequest request = table("things", "pk:S", "sk:N");
    add_global_index(request, "by-color", "color:S");
    add_global_index(request, "keys", "color:S", "", store::ProjectionType::keys_only);
    add_local_index(request, "by-due", "due:S", store::ProjectionType::keys_only);
    request.stream = store::StreamSpecification{true, store::StreamViewType::new_image};
    create(request);
  }

  std::vector<NotingObserver::Note> take() { return std::exchange(observer_->notes, {}); }

  // What was noted is what the answer says.
  void expect_same(const store::ConsumedCapacity& consumed, bool reads) {
    std::map<std::string, double> expected;
    if (consumed.table > 0) expected[consumed.table_name] = consumed.table;
    for (const auto* const indexes : {&consumed.global_indexes, &consumed.local_indexes})
      for (const auto& [name, units] : *indexes) expected[consumed.table_name + "/" + name] = units;
    EXPECT_EQ(observer_->units(reads), expected);
    EXPECT_TRUE(observer_->units(!reads).empty());
    take();
  }

  store::PutItemRequest put_request(std::string_view item) {
    store::PutItemRequest request{.table_name = "things", .item = json(item)};
    request.report.consumed_capacity = store::ReturnConsumedCapacity::indexes;
    return request;
  }
  store::Answer<store::PageResponse> query(const std::string& condition, std::string_view values,
                                           std::optional<std::string> index = std::nullopt,
                                           store::Select select = store::Select::all_projected_attributes) {
    store::QueryRequest request;
    request.table_name = "things";
    request.key_condition = condition;
    request.placeholders = placeholders("", values);
    request.index_name = std::move(index);
    if (request.index_name) request.select = select;
    request.return_consumed_capacity = store::ReturnConsumedCapacity::indexes;
    return store().query(request);
  }

  std::shared_ptr<NotingObserver> observer_ = std::make_shared<NotingObserver>();
};

const std::string red = R"({"pk":{"S":"p"},"sk":{"N":"1"},"color":{"S":"red"},"due":{"S":"d"}})";
const std::string blue = R"({"pk":{"S":"p"},"sk":{"N":"1"},"color":{"S":"blue"},"due":{"S":"d"}})";

TEST_F(TrafficTest, WritesAreWhatTheyConsume) {
  expect_same(*store().put_item(put_request(red))->consumed_capacity, false);
  expect_same(*store().put_item(put_request(blue))->consumed_capacity, false);
  expect_same(*store().put_item(put_request(blue))->consumed_capacity, false);
  store::DeleteItemRequest remove{.table_name = "things", .key = json(R"({"pk":{"S":"p"},"sk":{"N":"1"}})")};
  remove.report.consumed_capacity = store::ReturnConsumedCapacity::indexes;
  expect_same(*store().delete_item(remove)->consumed_capacity, false);
  store::BatchWriteItemRequest batch;
  batch.tables = {{"things", {store::BatchPut{json(red)}}}};
  batch.report.consumed_capacity = store::ReturnConsumedCapacity::indexes;
  expect_same(store().batch_write_item(batch)->consumed_capacity.at(0), false);
  store::TransactWriteItemsRequest transaction;
  transaction.client_request_token = "token";
  transaction.actions = {store::TransactPut{.table_name = "things", .item = json(blue)},
                         store::TransactConditionCheck{.table_name = "things",
                                                       .key = json(R"({"pk":{"S":"q"},"sk":{"N":"1"}})"),
                                                       .condition = "attribute_not_exists(pk)"}};
  transaction.report.consumed_capacity = store::ReturnConsumedCapacity::indexes;
  expect_same(store().transact_write_items(transaction)->consumed_capacity.at(0), false);
  expect_same(store().transact_write_items(transaction)->consumed_capacity.at(0), true);  // a repetition reads
}

TEST_F(TrafficTest, ReadsAreWhatTheyConsume) {
  put("things", red);
  take();
  const item::Key key = json(R"({"pk":{"S":"p"},"sk":{"N":"1"}})");
  constexpr auto indexes = store::ReturnConsumedCapacity::indexes;
  for (const bool consistent : {false, true})
    expect_same(*store()
                     .get_item({.table_name = "things",
                                .key = key,
                                .consistent_read = consistent,
                                .return_consumed_capacity = indexes})
                     ->consumed_capacity,
                true);
  store::BatchGetItemRequest batch{.tables = {{.table_name = "things", .keys = {key}}},
                                   .return_consumed_capacity = indexes};
  expect_same(store().batch_get_item(batch)->consumed_capacity.at(0), true);
  store::TransactGetItemsRequest transaction{.gets = {{.table_name = "things", .key = key}},
                                             .return_consumed_capacity = indexes};
  expect_same(store().transact_get_items(transaction)->consumed_capacity.at(0), true);
  expect_same(*query("pk = :p", R"({":p":{"S":"p"}})")->consumed_capacity, true);
  expect_same(*query("color = :c", R"({":c":{"S":"red"}})", "by-color")->consumed_capacity, true);
  const std::string by_date = R"({":p":{"S":"p"},":d":{"S":"d"}})";
  expect_same(*query("pk = :p AND due = :d", by_date, "by-due")->consumed_capacity, true);
  expect_same(*query("pk = :p AND due = :d", by_date, "by-due", store::Select::all_attributes)->consumed_capacity,
              true);
}

TEST_F(TrafficTest, PartitionsAreThoseOfTheKeys) {
  put("things", red);
  put("things", blue);
  std::vector<std::pair<std::string, std::string>> written;
  for (const NotingObserver::Note& note : take()) written.emplace_back(note.place, note.partition);
  const std::string red_key("red\0\1", 5), blue_key("blue\0\1", 6), local_key("p\0\1", 3);
  EXPECT_THAT(written,
              UnorderedElementsAre(Pair("things", "p"), Pair("things/by-color", red_key), Pair("things/keys", red_key),
                                   Pair("things/by-due", local_key), Pair("things", "p"),
                                   Pair("things/by-color", red_key), Pair("things/by-color", blue_key),
                                   Pair("things/keys", red_key), Pair("things/keys", blue_key)));
  ASSERT_EQ(outcome(query("pk = :p", R"({":p":{"S":"p"}})")), "ok");
  ASSERT_EQ(outcome(query("color = :c", R"({":c":{"S":"green"}})", "by-color")), "ok");
  ASSERT_EQ(outcome(store().scan([] {
              store::ScanRequest request;
              request.table_name = "things";
              return request;
            }())),
            "ok");
  const auto read = take();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].partition, "p");
  EXPECT_EQ(read[1].partition, std::string("green\0\1", 7));
  EXPECT_EQ(read[2].partition, "");
  EXPECT_EQ(read[2].kind, TrafficKind::scan);
}

TEST_F(TrafficTest, ConditionsThatFailCount) {
  put("things", red);
  take();
  store::PutItemRequest request = put_request(blue);
  request.condition = "attribute_not_exists(pk)";
  EXPECT_FALSE(store().put_item(request));
  const auto notes = take();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, TrafficKind::failed_write);
  EXPECT_EQ(notes[0].units, 1);
  // What is refused for another reason costs nothing.
  request.item.erase("sk");
  EXPECT_FALSE(store().put_item(request));
  EXPECT_TRUE(take().empty());
}

TEST_F(TrafficTest, SizesAreThoseOfTheItems) {
  item::Item large = json(R"({"pk":{"S":"p"},"sk":{"N":"1"}})");
  large.set("text", std::string(380'000, 'x'));
  ASSERT_EQ(outcome(store().put_item({.table_name = "things", .item = large})), "ok");
  const auto notes = take();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].size, 380'011U);
  EXPECT_EQ(notes[0].units, 372);
}

TEST_F(TrafficTest, ExpiryCostsNothing) {
  ASSERT_EQ(outcome(store().update_time_to_live("things", {"until", true})), "ok");
  while (*engine().run_maintenance_once()) {
  }
  const std::string second = std::to_string(base::epoch_seconds(clock().now()) + 1);
  put("things", R"({"pk":{"S":"p"},"sk":{"N":"1"},"color":{"S":"red"},"until":{"N":")" + second + R"("}})");
  take();
  clock().advance(std::chrono::hours(1));
  while (*engine().run_maintenance_once()) {
  }
  EXPECT_TRUE(take().empty());
  EXPECT_EQ(get("things", R"({"pk":{"S":"p"},"sk":{"N":"1"}})"), "");
}

// On DynamoDB the entries of a new index are written, and paid for, like others.
TEST_F(TrafficTest, FillingAnIndexCounts) {
  put("things", R"({"pk":{"S":"p"},"sk":{"N":"1"},"shape":{"S":"round"}})");
  put("things", R"({"pk":{"S":"p"},"sk":{"N":"2"},"shape":{"S":")" + std::string(1'500, 'x') + R"("}})");
  put("things", R"({"pk":{"S":"p"},"sk":{"N":"3"}})");  // is not in it
  take();
  store::UpdateTableRequest update{.table_name = "things"};
  update.attribute_definitions = {{"shape", item::Type::string}};
  store::GlobalIndexDefinition by_shape{.name = "by-shape", .key_schema = {{"shape", store::KeyRole::hash}}};
  by_shape.projection.type = store::ProjectionType::keys_only;
  update.global_index_updates.emplace_back(store::CreateGlobalIndex{std::move(by_shape)});
  ASSERT_EQ(outcome(store().update_table(update)), "ok");
  while (*engine().run_maintenance_once()) {
  }
  const auto notes = take();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].place, "things/by-shape");
  EXPECT_EQ(notes[0].kind, TrafficKind::backfill);
  EXPECT_EQ(notes[0].units, 3);
  put("things", R"({"pk":{"S":"p"},"sk":{"N":"4"},"shape":{"S":"flat"}})");
  EXPECT_EQ(observer_->units(false)["things/by-shape"], 1) << "from then on they are writes";
}

TEST_F(TrafficTest, MetersStayWhenTheTableChanges) {
  put("things", red);
  const int before = observer_->meters;
  store::UpdateTableRequest update{.table_name = "things"};
  update.deletion_protection = true;
  ASSERT_EQ(outcome(store().update_table(update)), "ok");
  put("things", blue);
  EXPECT_EQ(observer_->meters, before);
  reopen();
  put("things", red);
  EXPECT_GT(observer_->meters, before);
}

TEST_F(TrafficTest, StreamReadsCount) {
  put("things", red);
  const auto description = store().describe_table("things");
  const auto stream = store().describe_stream({.stream_arn = *description->latest_stream_arn});
  const auto iterator = store().get_shard_iterator(
      {.stream_arn = *description->latest_stream_arn, .shard_id = stream->shards.front().id});
  ASSERT_EQ(outcome(store().get_records({.shard_iterator = *iterator})), "ok");
  EXPECT_EQ(observer_->stream_reads, 1);
}

}  // namespace
}  // namespace postino::engine
