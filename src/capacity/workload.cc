#include "capacity/workload.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace postino::capacity {

namespace {

using json::Fields;
using Need = Fields::Need;
using Limits = WorkloadLimits;

std::optional<Decimal> read_decimal(Fields& fields, std::string_view name, int places, std::int64_t most,
                                    InputForm form) {
  const auto element = fields.any(name, Need::optional);
  if (!element) return std::nullopt;
  std::optional<Decimal> value;
  if (const auto whole = element->integer(); whole && *whole >= 0) {
    value = Decimal(*whole);
  } else if (const auto text = element->text()) {
    if (const auto parsed = Decimal::parse(*text, places)) value = *parsed;
  }
  if (value && *value <= Decimal(most)) return value;
  const std::string kind =
      form == InputForm::json ? "an integer, or a decimal in quotes such as \"0.5\"," : "a number such as 12 or 0.5,";
  fields.refuse(name, "must be " + kind + " from 0 to " + std::to_string(most) + " with at most " +
                          std::to_string(places) + " digits behind the point");
  return std::nullopt;
}

Decimal read_rate(Fields& fields, std::string_view name, InputForm form) {
  return read_decimal(fields, name, Limits::rate_places, Limits::rate, form).value_or(Decimal());
}

std::int64_t read_percent(Fields& fields, std::string_view name, std::int64_t usual, std::int64_t least = 0) {
  return fields.integer(name, Need::optional, least, Limits::percent).value_or(usual);
}

std::optional<Projection> read_projection(Fields& fields) {
  const auto text = fields.text("projection", Need::required);
  if (!text) return std::nullopt;
  for (const Projection each : {Projection::keys_only, Projection::include, Projection::all})
    if (*text == name_of(each)) return each;
  fields.refuse("projection", "must be KEYS_ONLY, INCLUDE or ALL");
  return std::nullopt;
}

void check_entry_size(Fields& fields, const IndexWorkload& index, std::optional<std::int64_t> entry_bytes,
                      std::int64_t item_bytes, InputForm form) {
  const std::string item_field = field_text("item_bytes", form);
  if (index.projection == Projection::all && entry_bytes && *entry_bytes != item_bytes)
    fields.refuse("entry_bytes", "must be left out, or be " + item_field + ", for an index with all attributes");
  if (index.projection != Projection::all && !entry_bytes)
    fields.refuse("entry_bytes", "is required for an index that does not have all attributes");
  if (entry_bytes && item_bytes > 0 && *entry_bytes > item_bytes && index.projection != Projection::all)
    fields.refuse("entry_bytes", "must not be more than " + item_field + ": an entry is a part of an item");
}

IndexWorkload read_index(json::Element element, std::size_t position, const Workload& workload,
                         json::FieldErrors& errors, InputForm form) {
  Fields fields(element, json::element_path("indexes", position), errors);
  const std::int64_t item_bytes = workload.item_bytes;
  IndexWorkload index;
  index.name = std::string(fields.text("name", Need::optional, Limits::name_bytes).value_or(""));
  if (base::has_control_character(index.name)) fields.refuse("name", "must not have control characters");
  if (index.name.empty()) index.name = "index " + std::to_string(position + 1);
  if (std::ranges::find(workload.indexes, index.name, &IndexWorkload::name) != workload.indexes.end())
    fields.refuse("name", "must be another than that of the indexes before");
  const auto projection = read_projection(fields);
  index.projection = projection.value_or(Projection::all);
  const auto entry_bytes = fields.integer("entry_bytes", Need::optional, 1, Limits::item_bytes);
  if (projection) check_entry_size(fields, index, entry_bytes, item_bytes, form);
  index.entry_bytes = entry_bytes.value_or(item_bytes);
  index.items_percent = read_percent(fields, "items_percent", 100);
  index.changes_percent = read_percent(fields, "changes_percent", 100);
  index.key_changes_percent = read_percent(fields, "key_changes_percent", 0);
  if (index.key_changes_percent > index.changes_percent)
    fields.refuse("key_changes_percent", "must not be more than changes_percent, of which it is a part");
  index.queries = read_rate(fields, "queries", form);
  index.entries_per_query = fields.integer("entries_per_query", Need::optional, 1, Limits::items_per_query).value_or(1);
  fields.refuse_others();
  return index;
}

void read_requests(Fields& fields, Workload& workload, InputForm form) {
  workload.strong_reads = read_rate(fields, "strong_reads", form);
  workload.eventual_reads = read_rate(fields, "eventual_reads", form);
  workload.transactional_reads = read_rate(fields, "transactional_reads", form);
  workload.queries = read_rate(fields, "queries", form);
  workload.items_per_query = fields.integer("items_per_query", Need::optional, 1, Limits::items_per_query).value_or(1);
  workload.consistent_queries = fields.boolean("consistent_queries", Need::optional).value_or(false);
  workload.writes = read_rate(fields, "writes", form);
  workload.transactional_writes = read_rate(fields, "transactional_writes", form);
  workload.deletes = read_rate(fields, "deletes", form);
  workload.failed_writes = read_rate(fields, "failed_writes", form);
  workload.expiries = read_rate(fields, "expiries", form);
  workload.stream_reads = read_rate(fields, "stream_reads", form);
}

void read_storage(Fields& fields, Workload& workload, InputForm form) {
  workload.items = fields.integer("items", Need::optional, 0, Limits::items);
  workload.storage_gb = read_decimal(fields, "storage_gb", Limits::rate_places, Limits::storage_gb, form);
  if (workload.items && workload.storage_gb)
    fields.refuse("storage_gb", "must be left out where " + field_text("items", form) + " is given");
  const auto storage_class = fields.text("table_class", Need::optional);
  if (!storage_class || *storage_class == name_of(StorageClass::standard)) return;
  if (*storage_class == name_of(StorageClass::infrequent_access))
    workload.storage_class = StorageClass::infrequent_access;
  else
    fields.refuse("table_class", "must be standard or infrequent_access");
}

}  // namespace

std::string field_text(std::string_view field, InputForm form) {
  if (form == InputForm::json) return std::string(field);
  constexpr std::string_view index = "indexes[";
  if (field.starts_with(index)) {
    const std::size_t end = std::min(field.find(']'), field.size());
    const std::string_view digits = field.substr(index.size(), end - index.size());
    std::size_t position = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), position);
    std::string text = "--index " + std::to_string(position + 1);
    if (end + 2 < field.size()) text.append(": ").append(field.substr(end + 2));
    return text;
  }
  std::string option = field == "indexes" ? "--index" : "--" + std::string(field);
  std::ranges::replace(option, '_', '-');
  return option;
}

std::optional<Workload> read_workload(json::Element element, json::FieldErrors& errors, InputForm form) {
  Fields fields(element, "", errors);
  Workload workload;
  workload.item_bytes = fields.integer("item_bytes", Need::required, 1, Limits::item_bytes).value_or(0);
  read_requests(fields, workload, form);
  read_storage(fields, workload, form);
  workload.hours_per_day =
      fields.integer("hours_per_day", Need::optional, 1, Limits::hours_per_day).value_or(workload.hours_per_day);
  workload.utilisation_percent = read_percent(fields, "utilisation_percent", workload.utilisation_percent, 1);
  workload.free_tier = fields.boolean("free_tier", Need::optional).value_or(false);
  if (const auto indexes = fields.list("indexes", Need::optional, Limits::indexes))
    for (std::size_t i = 0; i < indexes->size(); ++i)
      workload.indexes.push_back(read_index((*indexes)[i], i, workload, errors, form));
  fields.refuse_others();
  if (!errors.empty()) return std::nullopt;
  return workload;
}

}  // namespace postino::capacity
