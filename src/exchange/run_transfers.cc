#include "base/log.h"
#include "exchange/exchange.h"
#include "exchange/export_files.h"
#include "exchange/import_files.h"
#include "exchange/transfer_text.h"
#include "item/size.h"

namespace postino::exchange {

namespace {

constexpr std::size_t items_per_commit = 500;
constexpr std::size_t bytes_per_commit = 1 << 20;
constexpr int most_told_refusals = 20;  // of one import, in the log
constexpr std::chrono::seconds pause_of_insisting{2};

std::string failure_code(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::not_found:
      return "S3NoSuchBucket";
    case base::ErrorCode::corrupt:
    case base::ErrorCode::malformed:
    case base::ErrorCode::invalid:
      return "ItemValidationError";
    case base::ErrorCode::io:
    case base::ErrorCode::exhausted:
      return "S3AccessError";
    case base::ErrorCode::conflict:
      break;
  }
  return "InternalServerError";
}

// Of the store: the table, or what is known of its past, is gone.
base::Error of_store(const store::Error& error) { return {base::ErrorCode::conflict, error.message}; }

base::Result<void> interrupted() { return base::fail(base::ErrorCode::conflict, "the server is being stopped"); }

std::string record_id(const std::string& kind, const std::string& arn) {
  return kind + "/" + arn.substr(arn.rfind('/') + 1);
}

}  // namespace

template <class Write>
void Exchange::insist(const std::string& what, const Write& write) {
  while (true) {
    const store::Answer<void> written = write();
    if (written) return;
    base::log_warning("exchange", what + " could not be written down, and will be again",
                      {{"reason", written.error().message}});
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, pause_of_insisting, [&] { return stopping_.load(); })) return;
  }
}

void Exchange::run_export(ExportDescription description) {
  const auto outcome = write_export(description);
  if (stopping_) return;
  description.status = outcome ? TransferStatus::completed : TransferStatus::failed;
  if (!outcome) {
    description.ended = clock_.now();
    description.failure = Failure{failure_code(outcome.error()), outcome.error().message};
    base::log_warning("exchange", "an export failed",
                      {{"export", description.arn}, {"reason", outcome.error().message}});
  }
  insist("the end of an export", [&] {
    return store_.put_record({record_id("export", description.arn), text_of(description)});
  });
  const std::lock_guard lock(mutex_);
  exports_[description.arn.substr(description.arn.rfind('/') + 1)] = std::move(description);
}

base::Result<void> Exchange::write_export(ExportDescription& description) {
  TRY(const std::unique_ptr<Bucket> bucket, buckets_.open(description.request.bucket));
  ExportFiles files(*bucket, description);
  description.item_count = 0;
  description.bytes = 0;
  TRY_VOID(files.begin());
  TRY_VOID(description.request.is_incremental ? write_changes(description, files) : write_items(description, files));
  description.ended = clock_.now();
  description.manifest = files.manifest();
  return files.finish(description);
}

base::Result<void> Exchange::write_items(ExportDescription& description, ExportFiles& files) {
  auto reader = store_.read_items(description.table);
  if (!reader) return base::propagate(of_store(reader.error()));
  for (bool is_last = false; !is_last;) {
    if (stopping_) return interrupted();
    const auto portion = (*reader)->next();
    if (!portion) return base::propagate(of_store(portion.error()));
    for (const item::Item& item : portion->items) TRY_VOID(files.add(item));
    description.item_count += static_cast<std::int64_t>(portion->items.size());
    description.bytes += portion->bytes;
    is_last = portion->is_last;
  }
  return {};
}

base::Result<void> Exchange::write_changes(ExportDescription& description, ExportFiles& files) {
  auto reader = store_.read_changes(description.table, *description.request.from);
  if (!reader) return base::propagate(of_store(reader.error()));
  for (bool is_last = false; !is_last;) {
    if (stopping_) return interrupted();
    const auto portion = (*reader)->next();
    if (!portion) return base::propagate(of_store(portion.error()));
    for (const store::ItemChange& change : portion->changes) {
      TRY_VOID(files.add(change));
      for (const auto& image : {change.before, change.after})
        if (image) description.bytes += static_cast<std::int64_t>(item::size_of(*image));
    }
    description.item_count += static_cast<std::int64_t>(portion->changes.size());
    is_last = portion->is_last;
  }
  return {};
}

void Exchange::run_import(ImportDescription description) {
  const auto outcome = read_import_data(description);
  if (stopping_) return;
  description.ended = clock_.now();
  description.status = TransferStatus::completed;
  if (!outcome) description.failure = Failure{failure_code(outcome.error()), outcome.error().message};
  if (outcome && description.error_count > 0)
    description.failure = Failure{"ItemValidationError",
                                  "Some of the items failed validation checks. Please check the log of the server for "
                                  "more details."};
  if (description.failure) {
    description.status = TransferStatus::failed;
    base::log_warning("exchange", "an import failed",
                      {{"import", description.arn}, {"reason", description.failure->message}});
  }
  insist("the end of an import", [&] {
    const bool has_begun = description.processed_items > 0 || !description.failure;
    return store_.end_import(description.table_name, has_begun,
                             {record_id("import", description.arn), text_of(description)});
  });
  const std::lock_guard lock(mutex_);
  imports_[description.arn.substr(description.arn.rfind('/') + 1)] = std::move(description);
}

base::Result<void> Exchange::read_import_data(ImportDescription& description) {
  description.error_count = description.processed_bytes = 0;
  description.processed_items = description.imported_items = 0;
  TRY(const std::unique_ptr<Bucket> bucket, buckets_.open(description.request.bucket));
  TRY(const std::vector<ObjectName> objects, data_objects(*bucket, description.request.prefix));
  if (objects.empty()) return base::fail(base::ErrorCode::io, "There are no objects with data below the prefix");
  for (const ObjectName& object : objects) {
    std::vector<item::Item> items;
    std::size_t bytes = 0;
    base::Result<void> trouble;
    const auto goes_on = [&] {
      if (stopping_) trouble = interrupted();
      return trouble.has_value();
    };
    const auto take = [&](base::Result<item::Item> item) {
      if (!goes_on()) return false;
      ++description.processed_items;
      if (!item) {
        if (++description.error_count <= most_told_refusals)
          base::log_warning("exchange", "an item was not imported",
                            {{"import", description.arn}, {"object", object.name}, {"reason", item.error().message}});
        return true;
      }
      bytes += item::size_of(*item);
      items.push_back(*std::move(item));
      if (items.size() < items_per_commit && bytes < bytes_per_commit) return true;
      trouble = put_items(description, items);
      bytes = 0;
      return trouble.has_value();
    };
    auto read = read_object(*bucket, object, description.request, goes_on, take);
    TRY_VOID(std::move(trouble));
    TRY_VOID(put_items(description, items));
    if (!read) {
      read.error().message = object.name + ": " + read.error().message;
      if (read.error().code == base::ErrorCode::not_found) read.error().code = base::ErrorCode::io;
      return read;
    }
    description.processed_bytes += static_cast<std::int64_t>(object.size);
  }
  return {};
}

// An outage of the store is no fault of the items: it is waited for.
base::Result<void> Exchange::put_items(ImportDescription& description, std::vector<item::Item>& items) {
  if (items.empty()) return {};
  while (true) {
    const auto put = store_.import_items(description.table_name, items);
    if (put) {
      items.clear();
      description.imported_items += static_cast<std::int64_t>(put->count);
      for (const std::string& refusal : put->refusals)
        if (++description.error_count <= most_told_refusals)
          base::log_warning("exchange", "an item was not imported", {{"import", description.arn}, {"reason", refusal}});
      return {};
    }
    if (put.error().type == store::ErrorType::resource_not_found) return base::propagate(of_store(put.error()));
    base::log_warning("exchange", "items could not be written, and will be again",
                      {{"import", description.arn}, {"reason", put.error().message}});
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, pause_of_insisting, [&] { return stopping_.load(); })) return interrupted();
  }
}

}  // namespace postino::exchange
