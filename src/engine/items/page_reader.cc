#include "engine/items/page_reader.h"

#include <algorithm>

#include "engine/catalog/item_keys.h"
#include "engine/items/capacity_units.h"
#include "engine/items/change.h"
#include "engine/items/consumption.h"
#include "engine/items/key_condition.h"
#include "engine/items/key_rules.h"
#include "engine/items/page_rules.h"
#include "engine/items/parsed_expression.h"
#include "engine/items/traffic.h"
#include "engine/storage/keys.h"
#include "engine/storage/stepped_keys.h"
#include "engine/storage/stored_item.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

using store::refuse_invalid;

constexpr int max_segments = 1'000'000;

// The filter and the projection, bound; what they share between Query and Scan.
store::Answer<void> bind_view(expr::Binder& binder, const store::ReadPage& request, PageView& view) {
  if (request.filter) {
    TRY(const expr::Condition filter, parsed(*request.filter, expr::Kind::filter));
    TRY(view.filter, binder.bind(filter));
  }
  if (request.projection) {
    TRY(const expr::Projection projection, parsed(*request.projection));
    TRY(view.projection, binder.bind(projection));
  }
  return {};
}

// Does a query of this name a whole key? Then there is one item at most, and no page follows.
bool reads_one_item(const PageView& view) { return view.index == nullptr && !view.table->range; }

// One page: walks a range of stored keys, counts, filters, shows.
class Page {
 public:
  // `partition` is what the keys begin with; empty for a scan.
  Page(const Core& core, const store::ReadPage& request, const PageView& view, std::string_view partition = {})
      : core_(core), request_(request), view_(view), partition_(partition) {}

  store::Answer<store::PageResponse> read(const KeyRange& range, bool forward) {
    TRY_VOID(admit(core_, *view_.table, view_.index, Access::read, partition_));
    std::optional<EmptyRanges::Watch> watch;
    std::vector<KeyRange> parts = {range};
    if (view_.index != nullptr && view_.index->global) {
      watch_ = &watch.emplace(core_.database->empty_ranges(), range);
      parts = watch->parts();
    }
    // An iterator is a point in time by itself; only several, and fetching beside one, need one that has a name.
    std::optional<Snapshot> snapshot;
    if (view_.fetch_items || parts.size() > 1) snapshot_ = snapshot.emplace(*core_.database).get();
    if (!forward) std::ranges::reverse(parts);
    for (const KeyRange& part : parts) {
      TRY(const bool full, read_part(part, forward));
      if (full) break;
    }
    add_consumption();
    return std::move(response_);
  }

 private:
  // True when the page is full.
  store::Answer<bool> read_part(const KeyRange& part, bool forward) {
    const rocksdb::Slice lower(part.lower), upper(part.upper);
    const Family family = view_.index == nullptr ? Family::items : Family::indexes;
    const auto entries = core_.database->iterate(family, lower, upper, snapshot_, most_skipped());
    std::optional<SteppedKeys> stepped;
    if (request_.allowance != nullptr || watch_ != nullptr) stepped.emplace();
    KeyRange rest = part;  // what has not been read yet
    for (forward ? entries->SeekToFirst() : entries->SeekToLast(); entries->Valid();
         forward ? entries->Next() : entries->Prev()) {
      const std::uint64_t skipped = stepped ? stepped->count() : 0;
      if (watch_ != nullptr) note_entry(rest, entries->key().ToStringView(), forward, skipped);
      const std::size_t bytes_before = page_bytes_;
      TRY(const bool full, take(entries->value().ToStringView()));
      if (full) return true;
      if (request_.allowance != nullptr && !request_.allowance->take(skipped + 1, page_bytes_ - bytes_before))
        return store::read_given_up();
    }
    if (request_.allowance != nullptr && entries->status().IsIncomplete()) {
      request_.allowance->exhaust();
      return store::read_given_up();
    }
    if (!entries->status().ok()) return base::propagate(store::Error(error_from(entries->status())));
    if (watch_ != nullptr && stepped->count() >= EmptyRanges::worth_remembering) watch_->found_empty(rest);
    return false;
  }

  // The next entry has been found, behind so many removed ones.
  void note_entry(KeyRange& rest, std::string_view key, bool forward, std::uint64_t skipped) {
    std::string& begun = forward ? rest.lower : rest.upper;
    const bool found = skipped >= EmptyRanges::worth_remembering;
    if (found && forward) watch_->found_empty({begun, std::string(key)});
    if (found && !forward) watch_->found_empty({std::string(key) + '\0', begun});
    begun = key;
    if (forward) begun.push_back('\0');
  }

  // Of RocksDB's keys, in one step of the iterator.
  std::uint64_t most_skipped() const {
    return request_.allowance == nullptr ? 0 : std::max<std::uint64_t>(1, request_.allowance->keys());
  }

  // Examines one entry; true when the page is full with it.
  store::Answer<bool> take(std::string_view value) {
    TRY(MeasuredItem entry, read_item(value));
    entry_bytes_ += entry.size;
    if (view_.fetch_items) TRY_VOID(fetch(entry));
    page_bytes_ += entry.size;
    ++response_.scanned_count;
    const bool full = response_.scanned_count == request_.limit || page_bytes_ > store::max_page_bytes;
    if (full && !is_single_item()) response_.last_evaluated_key = position_of(view_, entry.item);
    if (view_.filter && !view_.filter->matches(entry.item)) return full;
    ++response_.count;
    if (!view_.count_only) response_.items.push_back(shown(std::move(entry.item)));
    return full;
  }

  bool is_single_item() const { return !partition_.empty() && reads_one_item(view_); }

  // What was fetched for the filter's sake alone is not shown.
  item::Item shown(item::Item item) const {
    if (view_.projection) return view_.projection->project(item);
    if (view_.fetch_items && request_.select != store::Select::all_attributes) return projected(*view_.index, item);
    return item;
  }

  // Replaces a local index's entry by the item itself.
  store::Answer<void> fetch(MeasuredItem& entry) {
    TRY(const auto bytes, core_.database->get(Family::items, item_key(*view_.table, entry.item), snapshot_));
    if (!bytes)
      return refuse(store::ErrorType::internal_server_error, "an index entry has no item: the store is damaged");
    TRY(entry, read_item(bytes->ToStringView()));
    fetched_units_ += read_units(entry.size, request_.consistent_read);
    return {};
  }

  void add_consumption() {
    Consumption consumption(core_, request_.return_consumed_capacity, Access::read, request_.allowance);
    const double units = read_units(entry_bytes_, request_.consistent_read);
    if (view_.index == nullptr) {
      consumption.add_table(*view_.table, units);
    } else {
      consumption.add_table(*view_.table, fetched_units_);
      consumption.add_index(*view_.table, *view_.index, units);
    }
    const auto kind = partition_.empty() ? store::TrafficKind::scan : store::TrafficKind::read;
    count_read(core_, *view_.table, view_.index, partition_, units, kind);
    take_partition_read(core_, *view_.table, view_.index, partition_, units);
    if (fetched_units_ > 0) count_read(core_, *view_.table, nullptr, {}, fetched_units_);
    response_.consumed_capacity = std::move(consumption).one();
  }

  const Core& core_;
  const store::ReadPage& request_;
  const PageView& view_;
  const std::string_view partition_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
  EmptyRanges::Watch* watch_ = nullptr;  // of a global index
  store::PageResponse response_;
  std::size_t entry_bytes_ = 0;  // as stored in the table or index
  std::size_t page_bytes_ = 0;   // the same, or what was fetched instead
  double fetched_units_ = 0;
};

bool contains(const KeyRange& range, const std::string& key) { return key >= range.lower && key < range.upper; }

// A page that starts after `position` instead of at the beginning of the range.
void restart_after(KeyRange& range, std::string position, bool forward) {
  if (forward) {
    position.push_back('\0');
    range.lower = std::move(position);
  } else {
    range.upper = std::move(position);
  }
}

store::Answer<void> check_filter_has_no_keys(const store::QueryRequest& request, const PageView& view) {
  if (!view.filter) return {};
  const store::KeySchema schema = view.index == nullptr ? key_schema_of(*view.table) : key_schema_of(*view.index);
  for (const std::string_view attribute : view.filter->attributes())
    for (const store::KeyElement& element : schema)
      if (element.name == attribute)
        return refuse_invalid(std::string(request.filter_name) +
                              " can only contain non-primary key attributes: Primary key attribute: " + element.name);
  return {};
}

store::Answer<void> check_projected_paths(const PageView& view) {
  return view.projection ? check_scalar_keys(*view.table, view.projection->nested_attributes()) : store::Answer<void>();
}
store::Answer<void> check_filtered_paths(const PageView& view) {
  return view.filter ? check_scalar_keys(*view.table, view.filter->nested_attributes()) : store::Answer<void>();
}

// As DynamoDB prints a key here, and only here.
std::string start_key_text(const item::Key& key) {
  std::string text = "{";
  for (const item::Attribute& attribute : key) {
    if (text.size() > 1) text += ", ";
    text += attribute.name + "=" + expr::describe_literal(attribute.value);
  }
  return text + "}";
}

// A key in another partition can still fulfil what is asked of its range attributes.
bool fulfils_range_conditions(const PageView& view, const item::Key& key, const std::vector<expr::KeyConjunct>& all) {
  const store::KeySchema schema = view.index == nullptr ? key_schema_of(*view.table) : key_schema_of(*view.index);
  return std::ranges::all_of(all, [&](const expr::KeyConjunct& conjunct) {
    const auto element = std::ranges::find(schema, conjunct.attribute, &store::KeyElement::name);
    return element->role == store::KeyRole::hash || expr::fulfils(*key.find(element->name), conjunct);
  });
}

store::Answer<void> restart_query(const store::QueryRequest& request, const PageView& view,
                                  const std::vector<expr::KeyConjunct>& conjuncts, KeySelection& selection) {
  if (!request.exclusive_start_key) return {};
  TRY(std::string position, start_position(view, *request.exclusive_start_key, "The provided starting key is invalid"));
  if (reads_one_item(view))
    return refuse_invalid("The provided exclusive start key is invalid: ExclusiveStartKey: " +
                          start_key_text(*request.exclusive_start_key));
  if (!fulfils_range_conditions(view, *request.exclusive_start_key, conjuncts))
    return refuse_invalid("The provided starting key does not match the range key predicate");
  if (!position.starts_with(selection.partition))
    return refuse_invalid(selection.has_range_condition
                              ? "The query can return at most one row and cannot be restarted"
                              : "The provided starting key is outside query boundaries based on provided conditions");
  if (!contains(selection.range, position))
    return refuse_invalid("The provided starting key does not match the range key predicate");
  restart_after(selection.range, std::move(position), request.forward);
  return {};
}

store::Answer<void> check_segments(const store::ScanRequest& request) {
  if (!request.segment && !request.total_segments) return {};
  if (!request.total_segments)
    return refuse_invalid(
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present");
  if (!request.segment)
    return refuse_invalid(
        "The Segment parameter is required but was not present in the request when parameter TotalSegments is present");
  store::Constraints total;
  total.check_at_least("totalSegments", *request.total_segments, 1);
  total.check_at_most("totalSegments", *request.total_segments, max_segments);
  TRY_VOID(total.outcome());
  store::Constraints segment;
  segment.check_at_least("segment", *request.segment, 0);
  TRY_VOID(segment.outcome());
  if (*request.segment >= *request.total_segments)
    return refuse_invalid(
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: " +
        std::to_string(*request.segment) +
        " is not less than TotalSegments: " + std::to_string(*request.total_segments));
  return {};
}

store::Answer<KeyRange> scan_range(const store::ScanRequest& request, const PageView& view) {
  const ObjectId id = view.index == nullptr ? view.table->id : view.index->id;
  KeyRange range = {id_prefix(id), id_prefix(id + 1)};
  if (request.total_segments)
    range = segment_range(id, static_cast<std::uint32_t>(*request.segment),
                          static_cast<std::uint32_t>(*request.total_segments));
  if (!request.exclusive_start_key) return range;
  TRY(std::string position, start_position(view, *request.exclusive_start_key,
                                           "The provided starting key is invalid: The provided key element does not "
                                           "match the schema"));
  if (!contains(range, position))
    return refuse_invalid(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
        "Segment. TotalSegments: " +
        std::to_string(*request.total_segments) + " Segment: " + std::to_string(*request.segment));
  restart_after(range, std::move(position), true);
  return range;
}

}  // namespace

store::Answer<store::PageResponse> PageReader::query(const store::QueryRequest& request) const {
  store::Constraints constraints;
  if (request.limit) constraints.check_at_least("Limit", *request.limit, 1, false);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_select(request, SelectWording::constraint));
  PageView view;
  expr::Binder binder(request.placeholders);
  TRY_VOID(binder.check_maps(request.filter || request.projection || request.key_condition,
                             "FilterExpression and KeyConditionExpression are null"));
  // DynamoDB reads the key condition first, but looks at its form only after filter and projection.
  expr::Condition key_condition;
  if (request.key_condition) {
    TRY(key_condition, parsed(*request.key_condition, expr::Kind::key_condition));
    TRY_VOID(binder.bind(key_condition));
  }
  TRY_VOID(bind_view(binder, request, view));
  if (!key_condition)
    return refuse_invalid(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  TRY(const std::vector<expr::KeyConjunct> conjuncts, binder.bind_key_condition(key_condition));
  TRY_VOID(binder.check_all_used());

  TRY_VOID(find_source(core_, request, view));
  TRY_VOID(check_projected_paths(view));
  TRY_VOID(check_filter_has_no_keys(request, view));
  TRY_VOID(check_filtered_paths(view));
  TRY(KeySelection selection, select_keys(*view.table, view.index, conjuncts));
  TRY_VOID(restart_query(request, view, conjuncts, selection));
  return Page(core_, request, view, selection.partition).read(selection.range, request.forward);
}

store::Answer<store::PageResponse> PageReader::scan(const store::ScanRequest& request) const {
  store::Constraints constraints;
  if (request.limit) constraints.check_at_least("limit", *request.limit, 1);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_segments(request));
  TRY_VOID(check_select(request, SelectWording::plain));
  PageView view;
  expr::Binder binder(request.placeholders);
  TRY_VOID(binder.check_maps(request.filter || request.projection, "FilterExpression is null"));
  TRY_VOID(bind_view(binder, request, view));
  TRY_VOID(binder.check_all_used());
  TRY_VOID(find_source(core_, request, view));
  TRY_VOID(check_projected_paths(view));
  TRY_VOID(check_filtered_paths(view));
  TRY(const KeyRange range, scan_range(request, view));
  return Page(core_, request, view).read(range, true);
}

}  // namespace postino::engine
