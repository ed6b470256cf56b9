#include "engine/catalog/catalog_record.h"

#include "engine/catalog/core_testing.h"
#include "item/binary_codec.h"

namespace postino::engine {
namespace {

const base::TimePoint later = test_start + std::chrono::hours(1);

store::ThroughputDescription full_throughput() { return {{7, 8}, 3, test_start, later}; }

Index full_index() {
  Index index;
  index.id = 4;
  index.global = true;
  index.name = "by-status";
  index.hash = {{"status", item::Type::string}, {"day", item::Type::number}};
  index.range = {{"id", item::Type::binary}};
  index.projection = store::ProjectionType::include;
  index.non_key_attributes = {"subject", "title"};
  index.backfill = Backfill{std::string("\0\1", 2)};
  index.throughput = full_throughput();
  index.on_demand = store::OnDemandThroughput{9, {}};
  index.warm = {12'001, 4'001};
  return index;
}

Transition full_transition() {
  Transition transition;
  transition.status = store::TableStatus::updating;
  transition.started = test_start;
  transition.due = later;
  transition.remaining.table_name = "mail";
  transition.remaining.billing_mode = store::BillingMode::provisioned;
  transition.remaining.throughput = {21, 22};
  transition.remaining.on_demand = store::OnDemandThroughput{23, {}};
  transition.remaining.table_class = store::TableClass::standard;
  transition.remaining.global_index_updates = {
      store::UpdateGlobalIndex{"by-status", store::Throughput{24, 25}, store::OnDemandThroughput{{}, 26},
                               store::Throughput{27, 28}},
      store::DeleteGlobalIndex{"by-day"}};
  transition.allocating_index = "by-title";
  transition.stream = store::StreamStatus::disabling;
  return transition;
}

// Every optional field is there.
Table full_table() {
  Table table;
  table.id = 3;
  table.name = "mail";
  table.uuid = "01234567-89ab-4def-8123-456789abcdef";
  table.created = test_start;
  table.attribute_definitions = {{"day", item::Type::number}, {"pk", item::Type::string}};
  table.hash = {"pk", item::Type::string};
  table.range = KeyPart{"sk", item::Type::binary};
  table.indexes = {full_index()};
  table.billing_mode = store::BillingMode::pay_per_request;
  table.last_switch_to_pay_per_request = later;
  table.throughput = full_throughput();
  table.on_demand = store::OnDemandThroughput{{}, 11};
  table.warm = {12'002, 4'002};
  table.table_class = store::TableClass::standard_infrequent_access;
  table.table_class_changed = later;
  table.encryption = store::EncryptionSpecification{true, "KMS", "arn:aws:kms:us-east-1:000000000000:key/k"};
  table.deletion_protection = true;
  table.deletion_protection_changed = later;
  table.time_to_live = TimeToLive{"expires", Backfill{"cursor"}};
  table.last_time_to_live_change = TimeToLiveChange{later, "expired"};
  table.recovery = PointInTimeRecovery{later, 14, later};
  table.restore = Restore{"arn:source", 7, later, "01767323045000-0a1b2c3d", later + base::Milliseconds(1)};
  table.is_imported = true;
  table.is_recorded = true;
  table.stream = EnabledStream{5, store::StreamViewType::new_and_old_images};
  table.latest_stream_label = "2026-01-02T03:04:05.678";
  table.tags = {{"team", "mail"}, {"empty", ""}};
  table.transition = full_transition();
  return table;
}

void expect_same(const store::ThroughputDescription& read, const store::ThroughputDescription& written) {
  EXPECT_EQ(read.provisioned, written.provisioned);
  EXPECT_EQ(read.decreases_today, written.decreases_today);
  EXPECT_EQ(read.last_increase, written.last_increase);
  EXPECT_EQ(read.last_decrease, written.last_decrease);
}

void expect_same(const std::vector<KeyPart>& read, const std::vector<KeyPart>& written) {
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].name, written[i].name);
    EXPECT_EQ(read[i].type, written[i].type);
  }
}

TEST(CatalogRecord, TableRoundTrip) {
  const Table written = full_table();
  const auto read = decode_table(encode_table(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, written.id);
  EXPECT_EQ(read->name, written.name);
  EXPECT_EQ(read->uuid, written.uuid);
  EXPECT_EQ(read->created, written.created);
  EXPECT_EQ(read->attribute_definitions, written.attribute_definitions);
  expect_same({read->hash, read->range.value()}, {written.hash, written.range.value()});
  EXPECT_EQ(read->billing_mode, written.billing_mode);
  EXPECT_EQ(read->last_switch_to_pay_per_request, written.last_switch_to_pay_per_request);
  expect_same(read->throughput, written.throughput);
  EXPECT_EQ(read->on_demand, written.on_demand);
  EXPECT_EQ(read->warm, written.warm);
  EXPECT_EQ(read->table_class, written.table_class);
  EXPECT_EQ(read->table_class_changed, written.table_class_changed);
  EXPECT_EQ(read->encryption.value().key_id, written.encryption->key_id);
  EXPECT_EQ(read->encryption->type, written.encryption->type);
  EXPECT_TRUE(read->encryption->enabled);
  EXPECT_TRUE(read->deletion_protection);
  EXPECT_EQ(read->time_to_live.value().attribute, "expires");
  EXPECT_EQ(read->time_to_live->backfill.value().cursor, "cursor");
  EXPECT_EQ(read->recovery.value().enabled_at, later);
  EXPECT_EQ(read->recovery->period_days, 14);
  EXPECT_EQ(read->recovery->trimmed_until, later);
  EXPECT_EQ(read->restore.value().source_arn, "arn:source");
  EXPECT_EQ(read->restore->source, 7U);
  EXPECT_EQ(read->restore->time, later);
  EXPECT_EQ(read->restore->backup, "01767323045000-0a1b2c3d");
  EXPECT_EQ(read->restore->end(), later + base::Milliseconds(1));
  EXPECT_TRUE(read->is_imported);
  EXPECT_TRUE(read->is_recorded);
  EXPECT_EQ(read->stream.value().id, 5U);
  EXPECT_EQ(read->stream->view, store::StreamViewType::new_and_old_images);
  EXPECT_EQ(read->latest_stream_label, written.latest_stream_label);
  EXPECT_EQ(read->tags, written.tags);
  EXPECT_EQ(read->deletion_protection_changed, later);
  EXPECT_EQ(read->last_time_to_live_change.value().time, later);
  EXPECT_EQ(read->last_time_to_live_change->attribute, "expired");
  EXPECT_TRUE(read->statistics);
  EXPECT_TRUE(read->meter);
}

TEST(CatalogRecord, TransitionRoundTrip) {
  const auto table = decode_table(encode_table(full_table()));
  ASSERT_TRUE(table);
  const Transition& read = table->transition.value();
  EXPECT_EQ(read.status, store::TableStatus::updating);
  EXPECT_EQ(read.started, test_start);
  EXPECT_EQ(read.due, later);
  EXPECT_EQ(read.allocating_index, "by-title");
  EXPECT_EQ(read.stream, store::StreamStatus::disabling);
  const store::UpdateTableRequest& remaining = read.remaining;
  EXPECT_EQ(remaining.table_name, "mail");
  EXPECT_EQ(remaining.billing_mode, store::BillingMode::provisioned);
  EXPECT_EQ(remaining.throughput, (store::Throughput{21, 22}));
  EXPECT_EQ(remaining.on_demand, (store::OnDemandThroughput{23, {}}));
  EXPECT_EQ(remaining.table_class, store::TableClass::standard);
  ASSERT_EQ(remaining.global_index_updates.size(), 2U);
  const auto& update = std::get<store::UpdateGlobalIndex>(remaining.global_index_updates[0]);
  EXPECT_EQ(update.name, "by-status");
  EXPECT_EQ(update.throughput, (store::Throughput{24, 25}));
  EXPECT_EQ(update.on_demand, (store::OnDemandThroughput{{}, 26}));
  EXPECT_EQ(update.warm, (store::Throughput{27, 28}));
  EXPECT_EQ(std::get<store::DeleteGlobalIndex>(remaining.global_index_updates[1]).name, "by-day");
}

TEST(CatalogRecord, BackupRoundTrip) {
  Backup written;
  written.id = "01767323045000-0a1b2c3d";
  written.name = "nightly";
  written.type = store::BackupType::system;
  written.created = test_start;
  written.expires = later;
  written.deleted = later;
  written.table = full_table();
  const auto read = decode_backup(encode_backup(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, written.id);
  EXPECT_EQ(read->name, "nightly");
  EXPECT_EQ(read->type, store::BackupType::system);
  EXPECT_EQ(read->created, test_start);
  EXPECT_EQ(read->expires, later);
  EXPECT_EQ(read->deleted, later);
  EXPECT_EQ(read->table.id, 3U);
  EXPECT_TRUE(read->is_being_made());
  EXPECT_FALSE(decode_backup(encode_table(written.table)));
}

// A table as earlier versions wrote it is restored to the end of a second.
TEST(CatalogRecord, ARestoreWithoutAnEndIsToTheEndOfItsSecond) {
  Table written = full_table();
  written.restore = Restore{"arn:source", 7, test_start};
  const auto read = decode_table(encode_table(written));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->restore->backup);
  EXPECT_EQ(read->restore->end(), test_start + std::chrono::seconds(1));
}

TEST(CatalogRecord, IndexRoundTrip) {
  const Index written = full_index();
  const auto table = decode_table(encode_table(full_table()));
  ASSERT_TRUE(table);
  ASSERT_EQ(table->indexes.size(), 1U);
  const Index& read = table->indexes.front();
  EXPECT_EQ(read.id, written.id);
  EXPECT_TRUE(read.global);
  EXPECT_EQ(read.name, written.name);
  expect_same(read.hash, written.hash);
  expect_same(read.range, written.range);
  EXPECT_EQ(read.projection, written.projection);
  EXPECT_EQ(read.non_key_attributes, written.non_key_attributes);
  EXPECT_EQ(read.kept, (std::vector<std::string>{"day", "id", "pk", "sk", "status", "subject", "title"}));
  EXPECT_EQ(read.backfill.value().cursor, written.backfill->cursor);
  expect_same(read.throughput, written.throughput);
  EXPECT_EQ(read.on_demand, written.on_demand);
  EXPECT_EQ(read.warm, written.warm);
  EXPECT_TRUE(read.statistics);
  EXPECT_TRUE(read.meter);
}

TEST(CatalogRecord, WhatWasAbsentStaysAbsent) {
  Table written;
  written.id = 1;
  written.name = "abc";
  written.hash = {"pk", item::Type::number};
  written.indexes.emplace_back().id = 2;
  written.time_to_live = TimeToLive{"expires", std::nullopt};
  const auto read = decode_table(encode_table(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->hash.type, item::Type::number);
  EXPECT_FALSE(read->range);
  EXPECT_FALSE(read->last_switch_to_pay_per_request);
  EXPECT_FALSE(read->throughput.last_increase);
  EXPECT_FALSE(read->throughput.last_decrease);
  EXPECT_FALSE(read->on_demand);
  EXPECT_FALSE(read->table_class);
  EXPECT_FALSE(read->table_class_changed);
  EXPECT_FALSE(read->encryption);
  EXPECT_FALSE(read->deletion_protection);
  EXPECT_FALSE(read->time_to_live->backfill);
  EXPECT_FALSE(read->recovery);
  EXPECT_FALSE(read->restore);
  EXPECT_FALSE(read->stream);
  EXPECT_FALSE(read->latest_stream_label);
  EXPECT_FALSE(read->deletion_protection_changed);
  EXPECT_FALSE(read->last_time_to_live_change);
  EXPECT_FALSE(read->transition);
  EXPECT_TRUE(read->tags.empty());
  EXPECT_TRUE(read->indexes.front().ready());
  EXPECT_FALSE(read->indexes.front().on_demand);
}

// It had point-in-time recovery as a setting, and no records.
TEST(CatalogRecord, RecoveryOfAnEarlierVersionHasNotBegun) {
  const item::Map table = {
      {"id", 1},
      {"name", "abc"},
      {"hash", item::Map{{"name", "pk"}, {"type", 0}}},
      {"recovery", item::Map{{"enabled_at", std::int64_t{1'767'326'645'678}}, {"period_days", 7}}}};
  std::string bytes = "\x01";
  item::encode(bytes, table);
  const auto read = decode_table(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->recovery.value().enabled_at, base::TimePoint());
  EXPECT_EQ(read->recovery->period_days, 7);
}

TEST(CatalogRecord, StreamRoundTrip) {
  Stream written;
  written.id = 5;
  written.table_name = "mail";
  written.label = "2026-01-02T03:04:05.678";
  written.view = store::StreamViewType::old_image;
  written.created = test_start;
  written.key_schema = {{"pk", store::KeyRole::hash}, {"sk", store::KeyRole::range}};
  written.enabled = false;
  written.shards = {{0, test_start, 100, 200, later, {}}, {1, later, 200, {}, {}, test_start}};
  const auto read = decode_stream(encode_stream(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, written.id);
  EXPECT_EQ(read->table_name, written.table_name);
  EXPECT_EQ(read->label, written.label);
  EXPECT_EQ(read->view, written.view);
  EXPECT_EQ(read->created, written.created);
  EXPECT_EQ(read->key_schema, written.key_schema);
  EXPECT_FALSE(read->enabled);
  ASSERT_EQ(read->shards.size(), 2U);
  EXPECT_EQ(read->shards[0].end, 200U);
  EXPECT_EQ(read->shards[0].closed, later);
  EXPECT_EQ(read->shards[1].number, 1U);
  EXPECT_EQ(read->shards[1].created, later);
  EXPECT_EQ(read->shards[1].first, 200U);
  EXPECT_FALSE(read->shards[1].end);
  EXPECT_FALSE(read->shards[1].closed);
  EXPECT_FALSE(read->shards[0].parent_created);
  EXPECT_EQ(read->shards[1].parent_created, test_start);
}

TEST(CatalogRecord, DamageIsNoticed) {
  EXPECT_EQ(decode_table("").error().code, base::ErrorCode::corrupt);
  EXPECT_EQ(decode_table("\x7F").error().code, base::ErrorCode::corrupt);
  EXPECT_EQ(decode_stream("\x7F").error().code, base::ErrorCode::corrupt);
  std::string bytes = encode_table(full_table());
  bytes.resize(bytes.size() / 2);
  EXPECT_FALSE(decode_table(bytes));
}

// The stored form may not change unnoticed: what older versions wrote must stay readable. A record is a format byte and
// a map; the bytes of maps are pinned where they are written.
TEST(CatalogRecord, StoredFormOfATable) {
  const item::Map units = {{"read", 7}, {"write", 8}};
  const item::Map throughput = {{"provisioned", units},
                                {"decreases_today", 3},
                                {"last_increase", std::int64_t{1'767'323'045'678}},
                                {"last_decrease", std::int64_t{1'767'326'645'678}}};
  const item::Map index = {
      {"id", 4},
      {"global", true},
      {"name", "by-status"},
      {"hash", item::List{item::Map{{"name", "status"}, {"type", 0}}, item::Map{{"name", "day"}, {"type", 1}}}},
      {"range", item::List{item::Map{{"name", "id"}, {"type", 2}}}},
      {"projection", 2},
      {"non_key_attributes", item::List{"subject", "title"}},
      {"throughput", throughput},
      {"warm", item::Map{{"read", 12'001}, {"write", 4'001}}},
      {"on_demand", item::Map{{"read", 9}}},
      {"backfill_cursor", item::Binary{std::string("\0\1", 2)}},
  };
  const item::Map remaining = {
      {"billing_mode", 0},
      {"throughput", item::Map{{"read", 21}, {"write", 22}}},
      {"on_demand", item::Map{{"read", 23}}},
      {"table_class", 0},
      {"indexes", item::List{item::Map{{"name", "by-status"},
                                       {"throughput", item::Map{{"read", 24}, {"write", 25}}},
                                       {"on_demand", item::Map{{"write", 26}}},
                                       {"warm", item::Map{{"read", 27}, {"write", 28}}}},
                             item::Map{{"name", "by-day"}, {"delete", true}}}},
  };
  const item::Map transition = {
      {"status", 1},
      {"started", std::int64_t{1'767'323'045'678}},
      {"due", std::int64_t{1'767'326'645'678}},
      {"remaining", remaining},
      {"allocating_index", "by-title"},
      {"stream", 2},
  };
  const item::Map table = {
      {"id", 3},
      {"name", "mail"},
      {"uuid", "01234567-89ab-4def-8123-456789abcdef"},
      {"created", std::int64_t{1'767'323'045'678}},
      {"attribute_definitions",
       item::List{item::Map{{"name", "day"}, {"type", 1}}, item::Map{{"name", "pk"}, {"type", 0}}}},
      {"hash", item::Map{{"name", "pk"}, {"type", 0}}},
      {"range", item::Map{{"name", "sk"}, {"type", 2}}},
      {"indexes", item::List{index}},
      {"billing_mode", 1},
      {"last_switch_to_pay_per_request", std::int64_t{1'767'326'645'678}},
      {"throughput", throughput},
      {"on_demand", item::Map{{"write", 11}}},
      {"warm", item::Map{{"read", 12'002}, {"write", 4'002}}},
      {"table_class", 1},
      {"table_class_changed", std::int64_t{1'767'326'645'678}},
      {"encryption",
       item::Map{{"enabled", true}, {"type", "KMS"}, {"key_id", "arn:aws:kms:us-east-1:000000000000:key/k"}}},
      {"deletion_protection", true},
      {"deletion_protection_changed", std::int64_t{1'767'326'645'678}},
      {"last_time_to_live_change", item::Map{{"time", std::int64_t{1'767'326'645'678}}, {"attribute", "expired"}}},
      {"transition", transition},
      {"time_to_live", item::Map{{"attribute", "expires"}, {"backfill_cursor", item::Binary{"cursor"}}}},
      {"recovery", item::Map{{"records_from", std::int64_t{1'767'326'645'678}},
                             {"period_days", 14},
                             {"trimmed_until", std::int64_t{1'767'326'645'678}}}},
      {"is_imported", true},
      {"is_recorded", true},
      {"restore", item::Map{{"source_arn", "arn:source"},
                            {"source", 7},
                            {"time", std::int64_t{1'767'326'645'678}},
                            {"backup", "01767323045000-0a1b2c3d"},
                            {"changes_after", std::int64_t{1'767'326'645'679}}}},
      {"stream", item::Map{{"id", 5}, {"view", 3}}},
      {"latest_stream_label", "2026-01-02T03:04:05.678"},
      {"tags", item::List{item::Map{{"key", "team"}, {"value", "mail"}}, item::Map{{"key", "empty"}, {"value", ""}}}},
  };
  std::string expected = "\x01";
  item::encode(expected, table);
  EXPECT_EQ(encode_table(full_table()), expected);
}

}  // namespace
}  // namespace postino::engine
