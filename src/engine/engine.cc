#include "engine/engine.h"

#include "engine/backups/backup_operations.h"
#include "engine/backups/table_backups.h"
#include "engine/backups/table_transfers.h"
#include "engine/catalog/core.h"
#include "engine/items/answering_entry.h"
#include "engine/items/item_reader.h"
#include "engine/items/item_writer.h"
#include "engine/items/page_reader.h"
#include "engine/items/transaction_writer.h"
#include "engine/store_backup.h"
#include "engine/streams/stream_operations.h"
#include "engine/tables/resource_settings.h"
#include "engine/tables/table_operations.h"
#include "engine/tables/table_transition.h"
#include "engine/upkeep/clock_watch.h"
#include "engine/upkeep/maintenance.h"

namespace postino::engine {

struct Engine::Parts {
  explicit Parts(std::unique_ptr<Core> opened)
      : core(std::move(opened)),
        tables(*core),
        settings(*core),
        streams(*core),
        backups(*core),
        table_backups(*core),
        transfers(*core),
        reader(*core),
        pages(*core),
        writer(*core),
        transactions(*core),
        maintenance(*core) {}

  std::unique_ptr<Core> core;
  TableOperations tables;
  ResourceSettings settings;
  StreamOperations streams;
  BackupOperations backups;
  EngineBackups table_backups;
  EngineTransfers transfers;
  ItemReader reader;
  PageReader pages;
  ItemWriter writer;
  TransactionWriter transactions;
  Maintenance maintenance;  // last: its thread ends before anything it uses
};

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

base::Result<std::unique_ptr<Engine>> Engine::open(Options options, rocksdb::Env* env) {
  const bool background = options.background;
  TRY(std::unique_ptr<Core> core, open_core(std::move(options), env));
  TRY_VOID(tell_clock_of_last_time(*core));
  if (!core->options.realistic_timing) {
    // A store that had it when it was last open may have left something under way.
    if (auto completed = complete_all_transitions(*core); !completed)
      return base::fail(base::ErrorCode::io, completed.error().message);
  }
  std::unique_ptr<Engine> engine(new Engine(std::make_unique<Parts>(std::move(core))));
  if (background) engine->parts_->maintenance.start();
  return engine;
}

store::Answer<bool> Engine::run_maintenance_once() { return parts_->maintenance.run_once(); }

WriteHealth Engine::write_health() const { return parts_->core->database->health(); }

WriteCounts Engine::write_counts() const { return parts_->core->database->counts(); }
bool Engine::is_new() const { return parts_->core->database->is_new(); }

base::Result<void> Engine::make_checkpoint(const std::filesystem::path& directory) {
  return engine::make_checkpoint(*parts_->core->database, directory);
}

void Engine::guard_expiry(ExpiryGuard guard) { parts_->maintenance.guard_expiry(std::move(guard)); }

Engine::Parts& Engine::current() {
  // Should it fail, the maintenance thread tries again and reports it.
  if (parts_->core->options.realistic_timing) static_cast<void>(complete_due_transitions(*parts_->core));
  return *parts_;
}

store::Answer<store::GetItemResponse> Engine::get_item(const store::GetItemRequest& request) {
  return current().reader.get(request);
}
store::Answer<store::PageResponse> Engine::query(const store::QueryRequest& request) {
  return current().pages.query(request);
}
store::Answer<store::PageResponse> Engine::scan(const store::ScanRequest& request) {
  return current().pages.scan(request);
}
store::Answer<store::BatchGetItemResponse> Engine::batch_get_item(const store::BatchGetItemRequest& request) {
  return current().reader.get_batch(request);
}
store::Answer<store::TransactGetItemsResponse> Engine::transact_get_items(
    const store::TransactGetItemsRequest& request) {
  return current().reader.get_transaction(request);
}

// Each write in its two forms: waiting for the disk, and being told.
store::Answer<store::WriteItemResponse> Engine::put_item(const store::PutItemRequest& request) {
  return run_waiting<store::WriteItemResponse>(*parts_->core,
                                               [&](const auto& entry) { return current().writer.put(request, entry); });
}
void Engine::put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  run_later<store::WriteItemResponse>([&](const auto& entry) { return current().writer.put(request, entry); },
                                      std::move(done));
}
store::Answer<store::WriteItemResponse> Engine::update_item(const store::UpdateItemRequest& request) {
  return run_waiting<store::WriteItemResponse>(
      *parts_->core, [&](const auto& entry) { return current().writer.update(request, entry); });
}
void Engine::update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  run_later<store::WriteItemResponse>([&](const auto& entry) { return current().writer.update(request, entry); },
                                      std::move(done));
}
store::Answer<store::WriteItemResponse> Engine::delete_item(const store::DeleteItemRequest& request) {
  return run_waiting<store::WriteItemResponse>(
      *parts_->core, [&](const auto& entry) { return current().writer.remove(request, entry); });
}
void Engine::delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  run_later<store::WriteItemResponse>([&](const auto& entry) { return current().writer.remove(request, entry); },
                                      std::move(done));
}
store::Answer<store::BatchWriteItemResponse> Engine::batch_write_item(const store::BatchWriteItemRequest& request) {
  return run_waiting<store::BatchWriteItemResponse>(
      *parts_->core, [&](const auto& entry) { return current().writer.write_batch(request, entry); });
}
void Engine::batch_write_item(const store::BatchWriteItemRequest& request,
                              store::Completion<store::BatchWriteItemResponse> done) {
  run_later<store::BatchWriteItemResponse>(
      [&](const auto& entry) { return current().writer.write_batch(request, entry); }, std::move(done));
}
store::Answer<store::TransactWriteItemsResponse> Engine::transact_write_items(
    const store::TransactWriteItemsRequest& request) {
  return run_waiting<store::TransactWriteItemsResponse>(
      *parts_->core, [&](const auto& entry) { return current().transactions.write(request, entry); });
}
void Engine::transact_write_items(const store::TransactWriteItemsRequest& request,
                                  store::Completion<store::TransactWriteItemsResponse> done) {
  run_later<store::TransactWriteItemsResponse>(
      [&](const auto& entry) { return current().transactions.write(request, entry); }, std::move(done));
}

store::Answer<store::TableDescription> Engine::create_table(const store::CreateTableRequest& request) {
  return current().tables.create(request);
}
store::Answer<store::TableDescription> Engine::describe_table(const std::string& table_name) {
  return current().tables.describe(table_name);
}
store::Answer<store::TableDescription> Engine::update_table(const store::UpdateTableRequest& request) {
  return current().tables.update(request);
}
store::Answer<store::TableDescription> Engine::delete_table(const std::string& table_name) {
  return current().tables.remove(table_name);
}
store::Answer<store::ListTablesResponse> Engine::list_tables(const store::ListTablesRequest& request) {
  return current().tables.list(request);
}
store::Answer<store::TimeToLiveSpecification> Engine::update_time_to_live(
    const std::string& table_name, const store::TimeToLiveSpecification& specification) {
  return current().tables.update_time_to_live(table_name, specification);
}
store::Answer<store::TimeToLiveDescription> Engine::describe_time_to_live(const std::string& table_name) {
  return current().tables.describe_time_to_live(table_name);
}
store::Answer<store::PointInTimeRecoveryDescription> Engine::update_continuous_backups(
    const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) {
  return current().backups.update_continuous_backups(table_name, specification);
}
store::Answer<store::PointInTimeRecoveryDescription> Engine::describe_continuous_backups(
    const std::string& table_name) {
  return current().backups.describe_continuous_backups(table_name);
}
store::Answer<store::TableDescription> Engine::restore_table_to_point_in_time(
    const store::RestoreToPointInTimeRequest& request) {
  return current().backups.restore_to_point_in_time(request);
}
store::Answer<void> Engine::tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) {
  return current().tables.tag(arn, tags);
}
store::Answer<void> Engine::untag_resource(const std::string& arn, const std::vector<std::string>& keys) {
  return current().tables.untag(arn, keys);
}
store::Answer<store::ListTagsResponse> Engine::list_tags_of_resource(const std::string& arn) {
  return current().tables.list_tags(arn);
}
store::ResourceSettings* Engine::resource_settings() { return &current().settings; }
store::TableTransfers* Engine::table_transfers() { return &current().transfers; }
store::TableBackups* Engine::table_backups() { return &current().table_backups; }

store::Answer<store::ListStreamsResponse> Engine::list_streams(const store::ListStreamsRequest& request) {
  return current().streams.list(request);
}
store::Answer<store::StreamDescription> Engine::describe_stream(const store::DescribeStreamRequest& request) {
  return current().streams.describe(request);
}
store::Answer<std::string> Engine::get_shard_iterator(const store::GetShardIteratorRequest& request) {
  return current().streams.shard_iterator(request);
}
std::optional<std::string> Engine::stream_of(const std::string& shard_iterator) {
  return current().streams.stream_of(shard_iterator);
}
store::Answer<store::GetRecordsResponse> Engine::get_records(const store::GetRecordsRequest& request) {
  return current().streams.records(request);
}
store::Answer<std::unique_ptr<store::Subscription>> Engine::subscribe(const std::string& table_name,
                                                                      std::optional<store::StreamPlace> after) {
  return current().streams.subscribe(table_name, std::move(after));
}

}  // namespace postino::engine
