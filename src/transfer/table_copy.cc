#include "transfer/table_copy.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "item/binary_codec.h"
#include "item/json_codec.h"

namespace postino::transfer {

namespace {

using PageVisit = std::function<store::Answer<void>(store::PageResponse)>;

std::string text_of_key(const item::Key& key) {
  std::string bytes;
  item::encode(bytes, key);
  return bytes;
}

// Page by page, each part by a thread of its own. Ends with the first error.
base::Result<void> visit_segments(store::Store& store, const store::ScanRequest& scan, int segments,
                                  const store::Retry& retry, const PageVisit& visit) {
  std::atomic<bool> ended = false;
  std::mutex mutex;
  base::Result<void> result;
  const auto work = [&](int segment) -> store::Answer<void> {
    store::ScanRequest request = scan;
    request.segment = segment;
    request.total_segments = segments;
    do {
      TRY(store::PageResponse page, retry([&] { return store.scan(request); }));
      request.exclusive_start_key = page.last_evaluated_key;
      TRY_VOID(visit(std::move(page)));
    } while (request.exclusive_start_key && !ended);
    return {};
  };
  std::vector<std::jthread> workers;
  for (int segment = 0; segment < segments; ++segment)
    workers.emplace_back([&, segment] {
      const auto done = work(segment);
      if (done) return;
      const std::lock_guard lock(mutex);
      if (!ended.exchange(true)) result = base::propagate(store::as_error(done.error()));
    });
  workers.clear();  // waits for them
  return result;
}

void add_condition(store::ScanRequest& scan, const std::string& condition) {
  scan.filter = scan.filter ? store::ConditionExpression(scan.filter->text() + " AND " + condition)
                            : store::ConditionExpression(condition);
}

store::BatchWriteItemRequest batch_of(const std::string& table, std::span<const item::Item> items) {
  store::BatchWriteItemRequest request;
  store::BatchWriteTable& writes = request.tables.emplace_back();
  writes.table_name = table;
  for (const item::Item& item : items) writes.writes.emplace_back(store::BatchPut{item});
  return request;
}

std::size_t count_of(const store::BatchWriteItemRequest& request) {
  std::size_t count = 0;
  for (const store::BatchWriteTable& table : request.tables) count += table.writes.size();
  return count;
}

tl::unexpected<store::Error> batch_not_taken(const std::string& table) {
  return store::refuse(store::ErrorType::provisioned_throughput_exceeded,
                       "table " + table + " takes no more items now, because it is throttled");
}

}  // namespace

base::Result<std::int64_t> count_items(store::Store& store, store::ScanRequest scan, int segments,
                                       const store::Retry& retry, const std::function<void(std::int64_t)>& note) {
  scan.select = store::Select::count;
  scan.consistent_read = true;
  std::atomic<std::int64_t> count = 0;
  TRY_VOID(visit_segments(store, scan, segments, retry, [&](const store::PageResponse& page) -> store::Answer<void> {
    count += page.count;
    note(page.count);
    return {};
  }));
  return count.load();
}

TableCopy::TableCopy(store::Store& source, store::Store& target, CopiedTable table, const base::Clock& clock,
                     store::Retry retry, TableCopyOptions options)
    : source_(source),
      target_(target),
      table_(std::move(table)),
      clock_(clock),
      retry_(std::move(retry)),
      options_(options) {}

store::ScanRequest TableCopy::scan_of_all() const {
  store::ScanRequest scan;
  scan.table_name = table_.name;
  scan.consistent_read = true;
  for (std::size_t i = 0; i < table_.left_out.size(); ++i) {
    const std::string value = ":left" + std::to_string(i);
    add_condition(scan, "NOT begins_with(#hash, " + value + ")");
    if (!scan.placeholders.values) scan.placeholders.values = item::Map{};
    scan.placeholders.values->set(value, table_.left_out[i]);
    scan.placeholders.names = expr::Names{{"#hash", table_.keys.front().name}};
  }
  return scan;
}

// Of those that are still there at this time.
store::ScanRequest TableCopy::count_until(base::TimePoint end) const {
  store::ScanRequest scan = scan_of_all();
  if (table_.expiry.empty()) return scan;
  add_condition(scan, "(attribute_not_exists(#expiry) OR #expiry > :end)");
  if (!scan.placeholders.names) scan.placeholders.names = expr::Names{};
  scan.placeholders.names->emplace("#expiry", table_.expiry);
  if (!scan.placeholders.values) scan.placeholders.values = item::Map{};
  scan.placeholders.values->set(":end", base::epoch_seconds(end));
  return scan;
}

base::Result<bool> TableCopy::is_empty(store::Store& store) const {
  store::ScanRequest scan;
  scan.table_name = table_.name;
  scan.consistent_read = true;
  scan.limit = 1;
  const auto page = retry_([&] { return store.scan(scan); });
  if (!page) return base::propagate(store::as_error(page.error()));
  return page->items.empty() && !page->last_evaluated_key;
}

base::Result<ItemCounts> TableCopy::copy(const Progress& progress) {
  counts_ = {};
  TRY(is_target_empty_, is_empty(target_));  // then it need not be asked what it has
  std::int64_t done = 0;
  TRY_VOID(visit_segments(source_, scan_of_all(), options_.segments, retry_,
                          [&](store::PageResponse page) -> store::Answer<void> {
                            for (std::size_t next = 0; next < page.items.size();) {
                              const std::size_t count = std::min(page.items.size() - next, store::max_batch_get_keys);
                              TRY_VOID(take_over(std::span(page.items).subspan(next, count)));
                              next += count;
                              const std::lock_guard lock(mutex_);
                              progress(done += static_cast<std::int64_t>(count));
                            }
                            return {};
                          }));
  return counts_;
}

base::Result<ItemComparison> TableCopy::compare(const Progress& progress) {
  for (base::Milliseconds allowed = options_.longest_count;; allowed *= 4) {
    const base::Milliseconds begun = clock_.monotonic();
    const store::ScanRequest scan = count_until(clock_.now() + allowed);
    std::int64_t done = 0;
    const auto note = [&](std::int64_t more) {
      const std::lock_guard lock(mutex_);
      progress(done += more);
    };
    ItemComparison comparison;
    TRY(comparison.source, count_items(source_, scan, options_.segments, retry_, note));
    TRY(comparison.target, count_items(target_, scan, options_.segments, retry_, note));
    if (table_.expiry.empty() || clock_.monotonic() - begun < allowed) return comparison;
  }
}

item::Key TableCopy::key_of(const item::Item& item) const {
  item::Key key;
  for (const store::KeyElement& element : table_.keys)
    if (const item::AttributeValue* value = item.find(element.name)) key.set(element.name, *value);
  return key;
}

void TableCopy::add(std::int64_t ItemCounts::*which, std::int64_t count) {
  const std::lock_guard lock(mutex_);
  counts_.*which += count;
}

void TableCopy::note_difference(const item::Item& item) {
  const std::lock_guard lock(mutex_);
  ++counts_.different;
  if (counts_.differences.size() < options_.most_failures) counts_.differences.push_back(item::to_json(key_of(item)));
}

store::Answer<void> TableCopy::take_over(std::span<item::Item> items) {
  if (!is_target_empty_) {
    TRY(std::vector<item::Item> absent, find_absent(items));
    return write(std::move(absent));
  }
  return write({std::make_move_iterator(items.begin()), std::make_move_iterator(items.end())});
}

store::Answer<std::vector<item::Item>> TableCopy::find_absent(std::span<item::Item> items) {
  store::BatchGetItemRequest request;
  store::BatchGetTable& wanted = request.tables.emplace_back();
  wanted.table_name = table_.name;
  wanted.consistent_read = true;
  for (const item::Item& item : items) wanted.keys.push_back(key_of(item));
  std::map<std::string, item::Item> present;  // by key
  while (!request.tables.empty()) {
    TRY(store::BatchGetItemResponse answer, retry_([&] { return target_.batch_get_item(request); }));
    for (auto& table : answer.tables)
      for (item::Item& item : table.items) present.emplace(text_of_key(key_of(item)), std::move(item));
    request.tables = std::move(answer.unprocessed);
  }
  std::vector<item::Item> absent;
  for (item::Item& item : items) {
    const auto found = present.find(text_of_key(key_of(item)));
    if (found == present.end())
      absent.push_back(std::move(item));
    else if (found->second == item)
      add(&ItemCounts::present, 1);
    else
      note_difference(item);
  }
  return absent;
}

// One that breaks a rule of the target makes it refuse the whole batch.
store::Answer<void> TableCopy::write(std::vector<item::Item> items) {
  for (std::size_t next = 0; next < items.size(); next += store::max_batch_write_requests) {
    const auto batch = std::span<const item::Item>(items).subspan(
        next, std::min(items.size() - next, store::max_batch_write_requests));
    const auto written = write_batch(batch);
    if (written) continue;
    if (written.error().type != store::ErrorType::validation) return written;
    for (const item::Item& item : batch) TRY_VOID(write_one(item));
  }
  return {};
}

// What a throttled table leaves undone is tried again, for as long as it gets less.
store::Answer<void> TableCopy::write_batch(std::span<const item::Item> items) {
  store::BatchWriteItemRequest request = batch_of(table_.name, items);
  while (!request.tables.empty()) {
    const std::size_t before = count_of(request);
    const auto taken = retry_([&]() -> store::Answer<void> {
      TRY(store::BatchWriteItemResponse answer, target_.batch_write_item(request));
      request.tables = std::move(answer.unprocessed);
      return request.tables.empty() ? store::Answer<void>() : batch_not_taken(table_.name);
    });
    if (!taken && count_of(request) == before) return taken;
  }
  add(&ItemCounts::copied, static_cast<std::int64_t>(items.size()));
  return {};
}

store::Answer<void> TableCopy::write_one(const item::Item& item) {
  store::PutItemRequest put;
  put.table_name = table_.name;
  put.item = item;
  const auto written = retry_([&] { return target_.put_item(put); });
  if (written) {
    add(&ItemCounts::copied, 1);
    return {};
  }
  if (written.error().type != store::ErrorType::validation) return base::propagate(written.error());
  const std::lock_guard lock(mutex_);
  ++counts_.failed;
  if (counts_.failures.size() < options_.most_failures)
    counts_.failures.push_back(item::to_json(key_of(item)) + ": " + written.error().message);
  return {};
}

}  // namespace postino::transfer
