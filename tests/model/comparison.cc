#include "comparison.h"

#include <algorithm>

#include "item/size.h"
#include "request_text.h"

namespace postino::model {

namespace {

std::string difference(const std::vector<store::CancellationReason>& expected, const store::Error& actual) {
  if (!actual.details || actual.details->reasons.size() != expected.size()) return "wrong number of reasons";
  std::string codes;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const store::CancellationReason& reason = actual.details->reasons[i];
    const bool same_message = expected[i].message.empty() || reason.message == expected[i].message;
    if (reason.code != expected[i].code || !same_message || reason.item != expected[i].item)
      return "reason " + std::to_string(i) + " should be " + expected[i].code + " " + expected[i].message + " " +
             text_of(expected[i].item) + ", but all of it is " + text_of(actual);
    codes += (codes.empty() ? "" : ", ") + reason.code;
  }
  const std::string message =
      "Transaction cancelled, please refer cancellation reasons for specific reasons [" + codes + "]";
  return actual.message == message ? "" : "message '" + actual.message + "' instead of '" + message + "'";
}

std::string difference_of_numbers(const std::string& what, std::int64_t expected, std::int64_t actual) {
  if (expected == actual) return {};
  return what + " is " + std::to_string(actual) + " instead of " + std::to_string(expected);
}

// Count and bytes of what a table or one of its indexes holds.
std::string difference_of_sums(const ModelTable& table, const ModelIndex* index, std::int64_t count,
                               std::int64_t bytes) {
  std::int64_t expected_count = 0;
  std::int64_t expected_bytes = 0;
  for (const auto& [key, item] : table.items) {
    if (index != nullptr && !table.is_indexed(*index, item)) continue;
    ++expected_count;
    expected_bytes += static_cast<std::int64_t>(item::size_of(table.entry_of(index, item)));
  }
  const std::string name = table.name + (index == nullptr ? "" : "/" + index->name);
  return difference_of_numbers("item count of " + name, expected_count, count) +
         difference_of_numbers("size of " + name, expected_bytes, bytes);
}

}  // namespace

std::string difference(const Fault& expected, const store::Error& actual) {
  if (expected.type != actual.type)
    return "refused with " + text_of(actual) + " instead of " + std::string(store::error_name(expected.type));
  if (!expected.messages.empty() && std::ranges::find(expected.messages, actual.message) == expected.messages.end())
    return "message '" + actual.message + "' instead of '" + expected.messages.front() + "'";
  if (expected.type == store::ErrorType::transaction_canceled) return difference(expected.reasons, actual);
  const std::optional<item::Item> item = actual.details ? actual.details->item : std::nullopt;
  return difference(expected.item, item);
}

std::string difference(const std::optional<item::Item>& expected, const std::optional<item::Item>& actual) {
  if (expected == actual) return {};
  return "got " + text_of(actual) + "\n  instead of " + text_of(expected);
}

std::string difference(const std::vector<std::optional<item::Item>>& expected,
                       const std::vector<std::optional<item::Item>>& actual) {
  if (expected.size() != actual.size())
    return std::to_string(actual.size()) + " answers instead of " + std::to_string(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (const std::string found = difference(expected[i], actual[i]); !found.empty())
      return "number " + std::to_string(i) + ": " + found;
  return {};
}

std::string difference(const ExpectedPage& expected, const store::PageResponse& actual) {
  if (expected.items != actual.items)
    return "got " + text_of(actual.items) + "\n  instead of " + text_of(expected.items);
  std::string found = difference_of_numbers("count", expected.count, actual.count) +
                      difference_of_numbers("scanned count", expected.scanned_count, actual.scanned_count);
  if (expected.last_evaluated_key != actual.last_evaluated_key)
    found += "last evaluated key: " + difference(expected.last_evaluated_key, actual.last_evaluated_key);
  if (!actual.consumed_capacity) return found;
  const store::ConsumedCapacity& capacity = *actual.consumed_capacity;
  double index_units = 0;
  for (const auto& [name, units] : capacity.global_indexes) index_units += units;
  for (const auto& [name, units] : capacity.local_indexes) index_units += units;
  if (capacity.table != expected.table_units || index_units != expected.index_units ||
      capacity.total != expected.table_units + expected.index_units)
    found += "capacity: table " + std::to_string(capacity.table) + ", index " + std::to_string(index_units) +
             ", total " + std::to_string(capacity.total) + " instead of " + std::to_string(expected.table_units) +
             " and " + std::to_string(expected.index_units);
  return found;
}

std::string difference(const ModelTable& expected, const store::TableDescription& actual) {
  std::string found = difference_of_sums(expected, nullptr, actual.item_count, actual.size_bytes);
  if (expected.stream != actual.stream) found += "another stream view type";
  if (actual.global_indexes.size() + actual.local_indexes.size() != expected.indexes.size())
    return found + "another number of indexes";
  for (const ModelIndex& index : expected.indexes) {
    const auto& descriptions = index.global ? actual.global_indexes : actual.local_indexes;
    const auto described = std::ranges::find(descriptions, index.name, &store::IndexDescription::name);
    if (described == descriptions.end()) return found + "no index " + index.name;
    if ((described->status == store::IndexStatus::creating) != index.filling) found += "another state of " + index.name;
    if (!index.filling) found += difference_of_sums(expected, &index, described->item_count, described->size_bytes);
  }
  return found;
}

}  // namespace postino::model
