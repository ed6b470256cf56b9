#include "capacity/observation.h"

#include <gmock/gmock.h>

#include "item/ordered_key.h"

namespace postino::capacity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::TimePoint observation_start = base::TimePoint(std::chrono::seconds(1'767'323'045));

TrafficWatch::Source source_of(const std::string& table, const std::string& index = "") {
  TrafficWatch::Source source;
  source.source = {.table = table, .index = index, .global = !index.empty()};
  source.source.hash = {{"pk", item::Type::string}};
  source.since = observation_start;
  return source;
}

HeavyHitters::Key key_of(const std::string& bytes, std::uint64_t units, std::uint64_t in_a_second) {
  return {.bytes = bytes, .amount = 2 * units, .most_in_a_second = 2 * in_a_second};
}

store::TableDescription described(const std::string& name, const std::vector<std::string>& indexes = {}) {
  store::TableDescription description;
  description.name = name;
  for (const std::string& index : indexes) {
    description.global_indexes.emplace_back();
    description.global_indexes.back().name = index;
  }
  return description;
}

// An hour of it.
TrafficWatch::Sighting sighting_of(std::vector<TrafficWatch::Source> sources) {
  TrafficWatch::Sighting sighting;
  sighting.since = observation_start;
  sighting.until = observation_start + std::chrono::hours(1);
  sighting.elapsed = std::chrono::hours(1);
  sighting.sources = std::move(sources);
  return sighting;
}

std::vector<std::string> advice_about(const Observation& observation, AdviceKind kind) {
  std::vector<std::string> texts;
  for (const Advice& advice : observation.advice)
    if (advice.kind == kind) texts.push_back(advice.text);
  return texts;
}

TEST(Observation, CostsAMonthLikeTheTimeThatWasWatched) {
  TrafficWatch::Source table = source_of("t");
  table.counts.read_halves = 2 * 1'000'000;
  table.counts.write_halves = 2 * 500'000;
  table.counts.busiest_minute_read_halves = 2 * 60 * 700;
  table.counts.busiest_minute_write_halves = 2 * 60 * 70;
  store::TableDescription description = described("t");
  description.item_count = 1'048'576;
  description.size_bytes = 1'048'576LL * 924;  // a gigabyte with the overhead
  TrafficWatch::Sighting sighting = sighting_of({table});
  sighting.stream_reads = 10'000;
  const Observation observation = observe(sighting, {description}, built_in_prices());
  ASSERT_THAT(observation.tables, SizeIs(1));
  const ObservedTable& observed = observation.tables[0];
  EXPECT_EQ(observed.parts[0].read_units_per_month.text(), "730000000");
  EXPECT_EQ(observed.parts[0].write_units_per_month.text(), "365000000");
  EXPECT_EQ(observed.parts[0].provisioned_read_units, 1'000);
  EXPECT_EQ(observed.parts[0].provisioned_write_units, 100);
  EXPECT_EQ(observed.on_demand.reads.text(2), "91.25");
  EXPECT_EQ(observed.on_demand.writes.text(2), "228.13");
  EXPECT_EQ(observed.provisioned.reads.text(2), "94.90");
  EXPECT_EQ(observed.provisioned.writes.text(2), "47.45");
  EXPECT_EQ(observed.on_demand.storage.text(2), "0.25");
  EXPECT_EQ(observed.recommendation, Mode::provisioned);
  EXPECT_EQ(observed.saving.text(2), "177.03");
  EXPECT_EQ(observation.on_demand.stream_reads.text(2), "1.46");
  EXPECT_EQ(observation.on_demand.total().text(2), "321.09");
  EXPECT_EQ(observation.best.text(2), "144.06");
}

TEST(Observation, EachTableMayHaveWhatIsCheaperForIt) {
  TrafficWatch::Source steady = source_of("steady");
  steady.counts.write_halves = 2 * 3'600 * 70;
  steady.counts.busiest_minute_write_halves = 2 * 60 * 70;
  TrafficWatch::Source seldom = source_of("seldom");
  seldom.counts.write_halves = 2 * 100;
  seldom.counts.busiest_minute_write_halves = 2 * 100;
  const Observation observation =
      observe(sighting_of({seldom, steady}), {described("seldom"), described("steady")}, built_in_prices());
  EXPECT_EQ(observation.tables[0].recommendation, Mode::on_demand);
  EXPECT_EQ(observation.tables[1].recommendation, Mode::provisioned);
  EXPECT_LT(observation.best, observation.on_demand.total());
  EXPECT_LT(observation.best, observation.provisioned.total());
}

TEST(Observation, HotPartitionsAreToldWithWhatToDo) {
  TrafficWatch::Source table = source_of("t");
  table.counts.write_halves = 2 * 10'000;
  table.counts.written_keys = {key_of("hot", 5'000, 2'500), key_of("edge", 3'000, 1'000), key_of("cold", 10, 1)};
  table.counts.read_halves = 2 * 10'000;
  table.counts.read_keys = {key_of("read", 4'000, 3'001), key_of("even", 4'000, 3'000)};
  const Observation observation = observe(sighting_of({table}), {described("t")}, built_in_prices());
  ASSERT_THAT(observation.hot_partitions, SizeIs(2));
  EXPECT_EQ(observation.hot_partitions[0].key, R"({"pk":{"S":"read"}})");
  EXPECT_EQ(observation.hot_partitions[1].key, R"({"pk":{"S":"hot"}})");
  EXPECT_EQ(observation.hot_partitions[1].share_percent.text(), "50");
  EXPECT_THAT(
      advice_about(observation, AdviceKind::hot_partition),
      ElementsAre(HasSubstr("3001 read units within a second. DynamoDB gives a partition 3000"),
                  "One key of table t took 2500 write units within a second. DynamoDB gives a partition 1000, "
                  "and throttles what is beyond. Spread its items over 3 keys or more: add a number from 0 to 2 "
                  "to the key when writing, and read all of them."));
  // Not yet beyond, but with a large share.
  EXPECT_THAT(advice_about(observation, AdviceKind::hot_key),
              ElementsAre(HasSubstr("takes 40 % of its read units"), HasSubstr("takes 30 % of its write units")));
}

// A key in advice would be in every answer that quotes it; it is in hot_keys alone.
TEST(Observation, AdviceHasNoKeys) {
  TrafficWatch::Source table = source_of("t");
  table.counts.write_halves = 2 * 10'000;
  table.counts.written_keys = {key_of("ada@example.org", 9'000, 2'500)};
  table.counts.large_items = {{R"({"pk":{"S":"ada@example.org"}})", 400'000}};
  const Observation observation = observe(sighting_of({table}), {described("t")}, built_in_prices());
  EXPECT_THAT(observation.advice, SizeIs(2));
  for (const Advice& advice : observation.advice) EXPECT_THAT(advice.text, testing::Not(HasSubstr("ada")));
}

TEST(Observation, ShowsTheKeysWithTheMost) {
  TrafficWatch::Source table = source_of("t");
  table.counts.read_halves = 2 * 100;
  for (int i = 0; i < 20; ++i) table.counts.read_keys.push_back(key_of(std::to_string(i), 5, 1));
  table.counts.read_keys[0].most_excess = 4;
  const Observation observation = observe(sighting_of({table}), {described("t")}, built_in_prices());
  ASSERT_THAT(observation.hot_keys, SizeIs(5));
  EXPECT_EQ(observation.hot_keys[0].units.text(), "5");
  EXPECT_EQ(observation.hot_keys[0].most_excess.text(), "2");
  EXPECT_EQ(observation.hot_keys[0].share_percent.text(), "3");
}

TEST(Observation, KeysAreShownAsTheyWere) {
  const auto shown = [](std::vector<store::KeyAttribute> hash, const std::string& index, const std::string& bytes,
                        bool is_cut = false) {
    TrafficWatch::Source source = source_of("t", index);
    source.source.hash = std::move(hash);
    source.counts.read_keys = {key_of(bytes, 1, 1)};
    source.counts.read_keys[0].is_cut = is_cut;
    source.counts.read_halves = 2;
    const store::TableDescription table =
        described("t", index.empty() ? std::vector<std::string>() : std::vector{index});
    return observe(sighting_of({source}), {table}, built_in_prices()).hot_keys.at(0).key;
  };
  std::string number, parts;
  item::append_ordered_last(number, item::Number::parse("-12.5").value());
  item::append_ordered(parts, std::string("a\0b", 3));
  item::append_ordered(parts, item::Number::parse("7").value());
  EXPECT_EQ(shown({{"n", item::Type::number}}, "", number), R"({"n":{"N":"-12.5"}})");
  EXPECT_EQ(shown({{"b", item::Type::binary}}, "", "xy"), R"({"b":{"B":"eHk="}})");
  EXPECT_EQ(shown({{"s", item::Type::string}}, "", "x"), R"({"s":{"S":"x"}})");
  EXPECT_EQ(shown({{"s", item::Type::string}, {"n", item::Type::number}}, "i", parts),
            R"({"n":{"N":"7"},"s":{"S":"a\u0000b"}})");
  EXPECT_EQ(shown({{"s", item::Type::string}}, "", "begins so\n", true), "begins so ");
}

// Where many keys get a little each, those that happen to be counted say nothing.
TEST(Observation, KeysWithoutARealShareAreNotShown) {
  TrafficWatch::Source table = source_of("t");
  table.counts.write_halves = 2 * 10'000;
  table.counts.written_keys = {key_of("real", 100, 1), key_of("chance", 700, 1), key_of("little", 94, 1)};
  table.counts.written_keys[1].most_excess = 2 * 690;
  const Observation observation = observe(sighting_of({table}), {described("t")}, built_in_prices());
  ASSERT_THAT(observation.hot_keys, SizeIs(1));
  EXPECT_EQ(observation.hot_keys[0].key, R"({"pk":{"S":"real"}})");
  EXPECT_EQ(observation.hot_keys[0].share_percent.text(), "1");
}

TEST(Observation, UnreadIndexesAreTold) {
  TrafficWatch::Source read = source_of("t", "read");
  read.counts.reads = 1;
  read.counts.write_halves = 2 * 1'000'000;
  TrafficWatch::Source unread = source_of("t", "unread");
  unread.counts.write_halves = 2 * 1'000'000;
  TrafficWatch::Source made_later = unread;
  made_later.source.index = "made later";
  made_later.since = observation_start + std::chrono::minutes(30);
  TrafficWatch::Source gone = unread;
  gone.source.index = "gone";
  store::TableDescription table = described("t", {"made later", "read", "unread", "untouched", "empty"});
  table.global_indexes[3].size_bytes = 10 * gigabyte;
  const Observation observation = observe(sighting_of({gone, made_later, read, unread}), {table}, built_in_prices());
  ASSERT_THAT(observation.unread_indexes, SizeIs(3)) << "one that costs nothing is not worth a word";
  EXPECT_EQ(observation.unread_indexes[0].index, "made later");
  EXPECT_EQ(observation.unread_indexes[1].index, "unread");
  EXPECT_EQ(observation.unread_indexes[1].cost.text(2), "456.25");
  EXPECT_EQ(observation.unread_indexes[2].index, "untouched");
  EXPECT_THAT(advice_about(observation, AdviceKind::unread_index),
              ElementsAre(HasSubstr("Nothing has read index made later of table t since 2026-01-02T03:34:05.000Z."),
                          HasSubstr("Nothing has read index unread of table t since 2026-01-02T03:04:05.000Z. It would "
                                    "take 730000000 write units a month, and cost 456.25"),
                          HasSubstr("index untouched of table t since 2026-01-02T03:04:05.000Z. It would take 0 write "
                                    "units a month, and cost 2.50")));
}

TEST(Observation, IndexesOfServicesAreNotToBeRemoved) {
  TrafficWatch::Source index = source_of("email-outbox", "ListIndex");
  index.counts.write_halves = 2 * 1'000'000;
  const Observation observation =
      observe(sighting_of({index}), {described("email-outbox", {"ListIndex"})}, built_in_prices(), {"email-outbox"});
  EXPECT_THAT(observation.unread_indexes, IsEmpty());
  EXPECT_THAT(advice_about(observation, AdviceKind::unread_index), IsEmpty());
}

TEST(Observation, LargeItemsScansAndClassesAreTold) {
  TrafficWatch::Source table = source_of("t");
  table.counts.large_items = {{R"({"pk":{"S":"x"}})", 409'600}};
  table.counts.read_halves = 2 * 300;
  table.counts.scan_halves = 2 * 200;
  store::TableDescription description = described("t");
  description.size_bytes = 100 * gigabyte;
  const Observation observation = observe(sighting_of({table}), {description}, built_in_prices());
  EXPECT_THAT(advice_about(observation, AdviceKind::large_item),
              ElementsAre(HasSubstr("was written with 400 KB; DynamoDB takes 400 KB at most")));
  EXPECT_THAT(advice_about(observation, AdviceKind::scans), ElementsAre(HasSubstr("66.7 % of the read units")));
  EXPECT_THAT(advice_about(observation, AdviceKind::table_class), ElementsAre(HasSubstr("15.00 less a month")));
}

// They will take no more, so they are in no month; what they took is told all the same.
TEST(Observation, WhatIsGoneHasNoCosts) {
  TrafficWatch::Source table = source_of("gone");
  table.counts.write_halves = 2 * 1'000'000;
  table.counts.busiest_minute_write_halves = 2 * 1'000'000;
  table.counts.written_keys = {key_of("hot", 1'000'000, 5'000)};
  table.counts.large_items = {{R"({"pk":{"S":"x"}})", 409'600}};
  TrafficWatch::Source index = source_of("there", "gone");
  index.counts.read_halves = 2 * 500;
  index.counts.read_keys = {key_of("hot", 500, 5'000)};
  const Observation observation = observe(sighting_of({table, index}), {described("there")}, built_in_prices());
  ASSERT_THAT(observation.tables, SizeIs(1));
  EXPECT_EQ(observation.tables[0].table, "there");
  EXPECT_THAT(observation.tables[0].parts, SizeIs(1));
  EXPECT_TRUE(observation.on_demand.total().is_zero());
  EXPECT_EQ(observation.provisioned.total(), observation.tables[0].provisioned.total());
  EXPECT_EQ(observation.deleted_units.text(), "1000500");
  EXPECT_THAT(observation.notes, testing::Contains(HasSubstr("deleted meanwhile took 1000500 units")));
  EXPECT_THAT(observation.hot_keys, IsEmpty());
  EXPECT_THAT(observation.large_items, IsEmpty());
  EXPECT_THAT(observation.advice, IsEmpty());
  EXPECT_THAT(to_json(observation, built_in_prices()), HasSubstr(R"("deleted_units":"1000500")"));
}

TEST(Observation, FillingAnIndexIsToldOnce) {
  TrafficWatch::Source index = source_of("t", "i");
  index.counts.backfill_halves = 2 * 2'000'000;
  const Observation observation = observe(sighting_of({index}), {described("t", {"i"})}, built_in_prices());
  EXPECT_EQ(observation.tables.at(0).parts.at(1).backfill_units.text(), "2000000");
  EXPECT_TRUE(observation.on_demand.total().is_zero());
  EXPECT_EQ(observation.backfill_cost.text(2), "1.25");
  EXPECT_THAT(observation.notes, testing::Contains(HasSubstr("took 2000000 write units, which cost 1.25 on demand")));
  EXPECT_THAT(to_json(observation, built_in_prices()), HasSubstr(R"("backfill_cost":"1.25")"));
}

TEST(Observation, WhatCannotBeWatchedIsAFigure) {
  TrafficWatch::Sighting sighting = sighting_of({});
  sighting.others.read_halves = 3;
  sighting.others.write_halves = 4;
  const Observation observation = observe(sighting, {}, built_in_prices());
  EXPECT_THAT(to_json(observation, built_in_prices()), HasSubstr(R"("other_units":"3.5")"));
  EXPECT_THAT(observation.notes, testing::Contains(HasSubstr("3.5 units are not in any table's figures")));
}

TEST(Observation, OfNothingIsNothing) {
  TrafficWatch::Sighting sighting = sighting_of({});
  sighting.elapsed = base::Milliseconds(0);
  const Observation observation = observe(sighting, {}, built_in_prices());
  EXPECT_TRUE(observation.on_demand.total().is_zero());
  EXPECT_THAT(observation.advice, IsEmpty());
  EXPECT_THAT(observation.notes, testing::Contains(HasSubstr("Watched for 0 s")));
  json::Document document;
  json::FieldErrors errors;
  EXPECT_TRUE(document.parse(to_json(observation, built_in_prices()), errors));
}

// In an hour 1,000 write units: 730,000 in a month, at 0.625 dollars for a million.
TEST(Observation, TellsServicesAndTheirOperations) {
  TrafficWatch::Sighting sighting = sighting_of({});
  sighting.operations = {{.operation = "PutItem", .table = "emails", .write_halves = 2 * 600},
                         {.operation = "PutItem", .table = "spool", .write_halves = 2 * 400},
                         {.operation = "Query", .table = "orders", .read_halves = 1}};
  const Observation observation =
      observe(sighting, {}, built_in_prices(), {}, {{"emails", "outbox"}, {"spool", "outbox"}});
  ASSERT_THAT(observation.services, SizeIs(2));
  EXPECT_EQ(observation.services[0].service, "other");
  EXPECT_EQ(observation.services[0].operation, "Query");
  EXPECT_EQ(observation.services[0].read_units.text(), "0.5");
  EXPECT_EQ(observation.services[1].service, "outbox");
  EXPECT_EQ(observation.services[1].write_units.text(), "1000");
  EXPECT_EQ(observation.services[1].cost.text(2), "0.46");
  EXPECT_THAT(
      to_json(observation, built_in_prices()),
      HasSubstr(R"({"service":"outbox","operation":"PutItem","read_units":"0","write_units":"1000","cost":"0.46"})"));
}

}  // namespace
}  // namespace postino::capacity
