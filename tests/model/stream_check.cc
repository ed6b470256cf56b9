#include "stream_check.h"

#include <algorithm>

#include "item/size.h"
#include "request_text.h"

namespace postino::model {

namespace {

store::Answer<void> read_shard(store::Store& store, const std::string& arn, const std::string& shard,
                               std::vector<store::StreamRecord>& records) {
  store::GetShardIteratorRequest request;
  request.stream_arn = arn;
  request.shard_id = shard;
  TRY(std::string iterator, store.get_shard_iterator(request));
  while (true) {
    TRY(store::GetRecordsResponse page, store.get_records({iterator, 50}));
    for (store::StreamRecord& record : page.records) records.push_back(std::move(record));
    // An open shard goes on for ever; an empty page is its end for now.
    if (!page.next_shard_iterator || page.records.empty()) return {};
    iterator = *page.next_shard_iterator;
  }
}

bool shows_old(store::StreamViewType view) {
  return view == store::StreamViewType::old_image || view == store::StreamViewType::new_and_old_images;
}
bool shows_new(store::StreamViewType view) {
  return view == store::StreamViewType::new_image || view == store::StreamViewType::new_and_old_images;
}

store::StreamRecord as_shown(const ModelTable& table, store::StreamViewType view, const ModelRecord& change) {
  store::StreamRecord record;
  record.type = !change.before  ? store::ChangeType::insert
                : !change.after ? store::ChangeType::remove
                                : store::ChangeType::modify;
  record.time = change.time;
  record.keys = table.key_of(change.after ? *change.after : *change.before);
  if (shows_old(view)) record.old_image = change.before;
  if (shows_new(view)) record.new_image = change.after;
  std::size_t size = item::size_of(record.keys);
  if (record.old_image) size += item::size_of(*record.old_image);
  if (record.new_image) size += item::size_of(*record.new_image);
  record.size_bytes = static_cast<std::int64_t>(size);
  record.by_time_to_live = change.by_time_to_live;
  record.view_type = view;
  return record;
}

bool same(const store::StreamRecord& a, const store::StreamRecord& b) {
  return a.type == b.type && a.time == b.time && a.keys == b.keys && a.old_image == b.old_image &&
         a.new_image == b.new_image && a.size_bytes == b.size_bytes && a.by_time_to_live == b.by_time_to_live &&
         a.view_type == b.view_type;
}

using RecordsOfKeys = std::map<KeyOfItem, std::vector<store::StreamRecord>, KeyLess>;

std::string text_of_history(const std::vector<store::StreamRecord>& records) {
  std::string text;
  for (const store::StreamRecord& record : records)
    text += "\n    " + text_of(record) + " at " + std::to_string(base::epoch_milliseconds(record.time)) + " size " +
            std::to_string(record.size_bytes);
  return text.empty() ? " nothing" : text;
}

// What is read from a position of a shard; the first of it is enough.
store::Answer<std::vector<store::StreamRecord>> read_from(store::Store& store,
                                                          const store::GetShardIteratorRequest& request) {
  TRY(const std::string iterator, store.get_shard_iterator(request));
  TRY(store::GetRecordsResponse page, store.get_records({iterator, 2}));
  return std::move(page.records);
}

// The shard's last record has nothing after it.
std::optional<store::SequenceNumber> number_at(const std::vector<store::StreamRecord>& records, std::size_t place) {
  return place < records.size() ? std::optional(records[place].sequence_number) : std::nullopt;
}

}  // namespace

store::Answer<std::vector<store::StreamRecord>> read_stream(store::Store& store, const std::string& stream_arn) {
  std::vector<store::StreamRecord> records;
  store::DescribeStreamRequest request;
  request.stream_arn = stream_arn;
  TRY(const store::StreamDescription description, store.describe_stream(request));
  for (const store::Shard& shard : description.shards) TRY_VOID(read_shard(store, stream_arn, shard.id, records));
  return records;
}

std::string fault_of_positions(store::Store& store, const std::string& stream_arn, int number) {
  store::DescribeStreamRequest request;
  request.stream_arn = stream_arn;
  const auto description = store.describe_stream(request);
  if (!description) return text_of(description.error());
  const auto& shards = description->shards;
  const store::Shard& shard = shards[static_cast<std::size_t>(number) % shards.size()];
  std::vector<store::StreamRecord> records;
  if (auto read = read_shard(store, stream_arn, shard.id, records); !read) return text_of(read.error());

  store::GetShardIteratorRequest start;
  start.stream_arn = stream_arn;
  start.shard_id = shard.id;
  start.type = store::IteratorType::latest;
  const auto latest = read_from(store, start);
  if (!latest || !latest->empty()) return "there is something after the latest record";
  if (records.empty()) return {};

  const std::size_t place = static_cast<std::size_t>(number) / shards.size() % records.size();
  start.sequence_number = records[place].sequence_number.text();
  for (const auto type : {store::IteratorType::at_sequence_number, store::IteratorType::after_sequence_number}) {
    start.type = type;
    const auto read = read_from(store, start);
    if (!read) return text_of(read.error());
    const bool at = type == store::IteratorType::at_sequence_number;
    if (number_at(*read, 0) != number_at(records, at ? place : place + 1))
      return std::string("another record ") + (at ? "at " : "after ") + *start.sequence_number;
  }
  return {};
}

std::string difference(const ModelTable& table, const std::vector<ModelRecord>& expected,
                       const std::vector<store::StreamRecord>& actual) {
  RecordsOfKeys expected_of_keys, actual_of_keys;
  for (const ModelRecord& change : expected) {
    store::StreamRecord record = as_shown(table, *table.stream, change);
    expected_of_keys[table.key_values(record.keys)].push_back(std::move(record));
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (i > 0 && actual[i].sequence_number <= actual[i - 1].sequence_number)
      return "sequence numbers do not ascend at " + text_of(actual[i]);
    actual_of_keys[table.key_values(actual[i].keys)].push_back(actual[i]);
    expected_of_keys[table.key_values(actual[i].keys)];
  }
  for (const auto& [key, history] : expected_of_keys) {
    const std::vector<store::StreamRecord>& shown = actual_of_keys[key];
    if (!std::ranges::equal(history, shown, same))
      return "the stream of " + table.name + " has" + text_of_history(shown) + "\n  instead of" +
             text_of_history(history);
  }
  return {};
}

std::vector<ModelRecord> still_kept(const std::vector<ModelRecord>& records, base::TimePoint now) {
  std::vector<ModelRecord> kept;
  for (const ModelRecord& record : records)
    if (record.time >= now - store::stream_retention) kept.push_back(record);
  return kept;
}

}  // namespace postino::model
