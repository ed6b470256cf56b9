// Exports and imports as callers know them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "exchange/packing.h"
#include "exchange/record_splitter.h"
#include "store/table_operations.h"

namespace postino::exchange {

enum class TransferStatus { in_progress, completed, failed };
enum class ExportView { new_image, new_and_old_images };

// What went wrong with a transfer: a word for programs and a sentence for people.
struct Failure {
  std::string code;
  std::string message;
};

struct ExportRequest {
  std::string table_arn;
  std::optional<base::TimePoint> time;
  std::string token;  // of the caller; empty: it has none
  std::string bucket;
  std::string bucket_owner;
  std::string prefix;
  std::string encryption;  // AES256 or KMS, and the key for that
  std::string encryption_key;
  DataFormat format = DataFormat::dynamodb_json;  // or ion
  bool is_incremental = false;
  std::optional<base::TimePoint> from;  // of an incremental export: from then on,
  std::optional<base::TimePoint> to;    // and before then
  ExportView view = ExportView::new_and_old_images;
};
struct ExportDescription {
  std::string arn;
  ExportRequest request;  // with the time and the token that it got
  store::PastTable table;
  TransferStatus status = TransferStatus::in_progress;
  base::TimePoint started;
  std::optional<base::TimePoint> ended;
  std::string manifest;  // the name of the object
  std::optional<Failure> failure;
  std::int64_t item_count = 0;
  std::int64_t bytes = 0;
};

struct ImportRequest {
  std::string token;
  std::string bucket;
  std::string bucket_owner;
  std::string prefix;
  DataFormat format = DataFormat::dynamodb_json;
  char delimiter = ',';                            // of CSV
  std::optional<std::vector<std::string>> header;  // likewise
  Packing packing = Packing::none;
  store::CreateTableRequest table;
  std::string table_text;  // the caller's definition of the table, as JSON: to describe it again
};
struct ImportDescription {
  std::string arn;
  ImportRequest request;  // but for `table`, of which the keys' types are kept
  std::string table_name;
  std::string table_arn;
  std::string table_id;
  TransferStatus status = TransferStatus::in_progress;
  base::TimePoint started;
  std::optional<base::TimePoint> ended;
  std::optional<Failure> failure;
  std::int64_t error_count = 0;
  std::int64_t processed_bytes = 0;
  std::int64_t processed_items = 0;
  std::int64_t imported_items = 0;
};

struct ListTransfersRequest {
  std::optional<std::string> table_arn;
  int most = 25;
  std::string after;  // an ARN; empty: from the beginning
};
template <class Description>
struct TransferList {
  std::vector<Description> transfers;
  std::optional<std::string> next;
};

}  // namespace postino::exchange
