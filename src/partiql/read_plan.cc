#include "partiql/read_plan.h"

#include <algorithm>

#include "expr/placeholder_keys.h"
#include "item/size.h"
#include "partiql/key_branches.h"
#include "partiql/syntax/columns.h"

namespace postino::partiql {

namespace {

using store::refuse_invalid;

store::Answer<Source> find_source(store::Store& store, const Select& select, ReadSetting setting, bool consistent) {
  store::Answer<store::TableDescription> table = find_table(store, select.from);
  if (!table) {
    if (select.column_fault) return refuse_invalid(*select.column_fault);
    return base::propagate(std::move(table).error());
  }
  if (select.from.index && setting == ReadSetting::transaction)
    return refuse_invalid("Reads on indices are not supported within transactions.");
  Source source = table_source(*table, select.from);
  if (select.from.index) {
    TRY(source, index_source(*table, select.from));
  }
  if (select.column_fault) return refuse_invalid(*select.column_fault);
  if (source.global && consistent)
    return refuse_invalid("Strongly consistent read is not supported on Global Secondary Indexes");
  return source;
}

store::Answer<void> check_order_terms(const Select& select, const KeyAttributes& key) {
  if (!select.where) return refuse_invalid("Must have WHERE clause in the statement when using ORDER BY clause.");
  for (const SortTerm& term : select.order) {
    const std::string name = column_name(term.path);
    const bool is_key = term.path.size() == 1 && (name == key.hash.name || (key.range && name == key.range->name));
    if (!is_key) return refuse_invalid("Attribute " + name + " in ORDER BY clause must be part of the primary key");
  }
  return {};
}

const SortTerm* term_of(const Select& select, const std::string& name) {
  const auto found =
      std::ranges::find_if(select.order, [&](const SortTerm& term) { return term.path.front().name == name; });
  return found == select.order.end() ? nullptr : &*found;
}

// The ranges in the order that ORDER BY asks for. Without a word on the sort key, DynamoDB goes backwards.
store::Answer<void> order_ranges(const Select& select, ReadPlan& plan) {
  const SortTerm* by_hash = term_of(select, plan.source.key.hash.name);
  const SortTerm* by_range = plan.source.key.range ? term_of(select, plan.source.key.range->name) : nullptr;
  const bool several = std::ranges::any_of(
      plan.ranges, [&](const KeyRange& range) { return !(range.partition == plan.ranges.front().partition); });
  if (several && by_hash == nullptr)
    return refuse_invalid(
        "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.");
  plan.forward = by_range != nullptr && !by_range->descending;
  const bool hash_descending = by_hash != nullptr && by_hash->descending;
  std::ranges::stable_sort(plan.ranges, [&](const KeyRange& a, const KeyRange& b) {
    if (!(a.partition == b.partition)) return less(a.partition, b.partition) != hash_descending;
    const KeyRange& first = plan.forward ? a : b;
    const KeyRange& second = plan.forward ? b : a;
    if (!first.range.lower()) return second.range.lower().has_value();
    return second.range.lower() && less(first.range.lower()->value, second.range.lower()->value);
  });
  return {};
}

store::Answer<void> check_overlaps(const std::vector<KeyBranch>& branches) {
  for (std::size_t i = 0; i < branches.size(); ++i)
    for (std::size_t j = i + 1; j < branches.size(); ++j) {
      const KeyBranch& a = branches[i];
      const KeyBranch& b = branches[j];
      if (a.impossible || b.impossible || !(*a.partition == *b.partition)) continue;
      if (a.range.overlaps(b.range))
        return refuse_invalid("Overlapping conditions with range keys are not supported in where clause");
    }
  return {};
}

// An index that lacks what is asked for is refused only when every alternative asks for something it lacks; the
// message is about the last of them.
store::Answer<void> check_carried(const Source& source, const std::vector<KeyBranch>& branches) {
  std::vector<std::string_view> missing;
  const KeyBranch* last = nullptr;
  for (const KeyBranch& branch : branches) {
    std::vector<std::string_view> lacking;
    for (const std::string_view name : branch.filter_attributes)
      if (!source.carries(name)) lacking.push_back(name);
    if (lacking.empty()) return {};
    if (last != nullptr && less(*branch.partition, *last->partition)) continue;
    last = &branch;
    missing = std::move(lacking);
  }
  if (missing.empty()) return {};
  std::string names;
  for (const std::string_view name : expr::in_hash_order(missing)) names.append(names.empty() ? "" : ", ").append(name);
  return store::refuse_parameter("Secondary index " + *source.index_name +
                                 " does not project one or more filter attributes: [" + names + "]");
}

// Alternatives that say what the sort key must not be cannot be told apart by ranges: their partitions are read whole,
// each once.
std::vector<KeyRange> whole_partitions(const std::vector<KeyBranch>& branches) {
  std::vector<KeyRange> ranges;
  for (const KeyBranch& branch : branches) {
    const auto known = std::ranges::find(ranges, *branch.partition, &KeyRange::partition);
    if (known == ranges.end()) ranges.push_back({*branch.partition, {}});
  }
  return ranges;
}

std::vector<KeyRange> ranges_of(const std::vector<KeyBranch>& branches) {
  std::vector<KeyRange> ranges;
  for (const KeyBranch& branch : branches)
    if (!branch.impossible && !branch.range.empty()) ranges.push_back({*branch.partition, branch.range});
  return ranges;
}

bool is_exact(const KeyBranch& branch) { return !branch.filtered && !branch.impossible && branch.range.exact(); }

store::Answer<void> plan_ranges(const Expression& where, const Parameters& parameters, ReadSetting setting,
                                ReadPlan& plan) {
  const KeyBranches decomposition(plan.source.key, parameters, setting == ReadSetting::transaction);
  plan.scan = !decomposition.name_partition(where);
  if (plan.scan) return {};
  TRY(const std::vector<KeyBranch> branches, decomposition.of(where));
  const bool whole = branches.size() > 1 && std::ranges::any_of(branches, &KeyBranch::excludes_range);
  if (!whole) TRY_VOID(check_overlaps(branches));
  if (plan.source.index_name) TRY_VOID(check_carried(plan.source, branches));
  plan.ranges = whole ? whole_partitions(branches) : ranges_of(branches);
  if (!whole && std::ranges::all_of(branches, is_exact)) plan.filter.reset();
  return {};
}

// One item by its whole key, and nothing besides.
store::Answer<void> check_single_item(const ReadPlan& plan, ReadSetting setting) {
  const bool single = !plan.scan && plan.ranges.size() == 1 && !plan.filter && plan.key_of(plan.ranges.front());
  if (single) return {};
  return refuse_invalid(std::string("Select statements within ") +
                        (setting == ReadSetting::batch ? "BatchExecuteStatement" : "ExecuteTransaction") +
                        " must specify the primary key in the where clause.");
}

// The columns' attributes, and those the filter needs and the source has.
std::vector<std::string> fetched_attributes(const ReadPlan& plan) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  for (const Column& column : *plan.columns) add(column.path.front().name);
  if (plan.filter)
    for (const std::string_view name : plan.filter->attributes())
      if (plan.source.carries(name)) add(name);
  return names;
}

}  // namespace

std::optional<item::Key> ReadPlan::key_of(const KeyRange& range) const {
  if (source.index_name) return std::nullopt;
  item::Key key;
  key.set(source.key.hash.name, range.partition);
  if (!source.key.range) return key;
  const item::AttributeValue* point = range.range.point();
  if (point == nullptr) return std::nullopt;
  key.set(source.key.range->name, *point);
  return key;
}

store::Answer<ReadPlan> plan_read(store::Store& store, const Select& select, std::optional<Filter> filter,
                                  const Parameters& parameters, ReadSetting setting, bool consistent) {
  ReadPlan plan;
  TRY(plan.source, find_source(store, select, setting, consistent));
  plan.filter = std::move(filter);
  plan.columns = select.columns;
  if (!select.order.empty()) TRY_VOID(check_order_terms(select, plan.source.key));
  plan.scan = true;
  if (select.where) TRY_VOID(plan_ranges(*select.where, parameters, setting, plan));
  if (!select.order.empty()) {
    if (plan.scan)
      return refuse_invalid(
          "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.");
    TRY_VOID(order_ranges(select, plan));
  }
  if (setting != ReadSetting::statement) TRY_VOID(check_single_item(plan, setting));
  if (plan.columns) plan.fetched = fetched_attributes(plan);
  for (const std::string& name : plan.fetched) TRY_VOID(item::check_attribute_name(name));
  return plan;
}

}  // namespace postino::partiql
