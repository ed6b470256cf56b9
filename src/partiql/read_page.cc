#include "partiql/read_page.h"

#include "item/size.h"
#include "partiql/capacity_sum.h"
#include "partiql/syntax/columns.h"

namespace postino::partiql {

namespace {

// The condition on the sort key that lets through what is in the interval, and sometimes a little more.
std::string range_condition(const std::string& name, const Interval& range, Substitutions& substitutions) {
  if (range.prefix()) return "begins_with(" + name + "," + substitutions.value(*range.prefix()) + ")";
  if (const item::AttributeValue* point = range.point()) return name + " = " + substitutions.value(*point);
  if (range.lower() && range.upper()) {
    const std::string lower = substitutions.value(range.lower()->value);
    return name + " BETWEEN " + lower + " AND " + substitutions.value(range.upper()->value);
  }
  const Bound& bound = range.lower() ? *range.lower() : *range.upper();
  return name + (range.lower() ? " >" : " <") + (bound.inclusive ? "= " : " ") + substitutions.value(bound.value);
}

class PageReader {
 public:
  PageReader(store::Store& store, const ReadPlan& plan, const ReadOptions& options)
      : store_(store), plan_(plan), options_(options), remaining_(options.limit) {}

  store::Answer<Page> read(const PagePosition& from) {
    const std::size_t count = plan_.scan ? 1 : plan_.ranges.size();
    if (count == 0) add_minimum();
    for (std::size_t range = from.range; range < count; ++range) {
      const bool last = range + 1 == count;
      TRY_VOID(read_range(range, range == from.range ? from.after : std::nullopt));
      if (page_.last_evaluated_key) {
        page_.next = PagePosition{range, page_.last_evaluated_key};
        break;
      }
      if (!last && full()) {
        page_.next = PagePosition{range + 1, std::nullopt};
        break;
      }
    }
    page_.consumed_capacity = std::move(capacity_).one();
    return std::move(page_);
  }

 private:
  bool full() const { return (remaining_ && *remaining_ <= 0) || bytes_ >= store::max_page_bytes; }

  store::Answer<void> read_range(std::size_t number, const std::optional<item::Key>& after) {
    if (plan_.scan) {
      store::ScanRequest request;
      Substitutions substitutions;
      fill(request, after, substitutions);
      TRY(store::PageResponse response, store_.scan(request));
      return take(std::move(response));
    }
    const KeyRange& range = plan_.ranges[number];
    if (const auto key = plan_.key_of(range)) return after ? store::Answer<void>() : read_item(*key);
    store::QueryRequest request;
    Substitutions substitutions;
    std::string condition =
        substitutions.name(plan_.source.key.hash.name) + " = " + substitutions.value(range.partition);
    if (!range.range.unbounded())
      condition +=
          " AND " + range_condition(substitutions.name(plan_.source.key.range->name), range.range, substitutions);
    request.key_condition = std::move(condition);
    request.forward = plan_.forward;
    fill(request, after, substitutions);
    TRY(store::PageResponse response, store_.query(request));
    return take(std::move(response));
  }

  void fill(store::ReadPage& request, const std::optional<item::Key>& after, Substitutions& substitutions) const {
    request.table_name = plan_.source.table_name;
    request.index_name = plan_.source.index_name;
    request.projection = projection_of(plan_, substitutions);
    request.limit = remaining_;
    request.exclusive_start_key = after;
    request.consistent_read = options_.consistent;
    request.return_consumed_capacity = options_.return_consumed_capacity;
    request.placeholders = std::move(substitutions).take();
    request.allowance = options_.allowance;
  }

  store::Answer<void> take(store::PageResponse response) {
    capacity_.add(response.consumed_capacity);
    if (remaining_) *remaining_ -= response.scanned_count;
    page_.last_evaluated_key = std::move(response.last_evaluated_key);
    for (item::Item& item : response.items) take_item(std::move(item));
    return {};
  }

  store::Answer<void> read_item(const item::Key& key) {
    store::GetItemRequest request;
    Substitutions substitutions;
    request.table_name = plan_.source.table_name;
    request.key = key;
    request.projection = projection_of(plan_, substitutions);
    request.placeholders = std::move(substitutions).take();
    request.consistent_read = options_.consistent;
    request.return_consumed_capacity = options_.return_consumed_capacity;
    request.allowance = options_.allowance;
    TRY(store::GetItemResponse response, store_.get_item(request));
    capacity_.add(response.consumed_capacity);
    if (!response.item) return {};
    if (remaining_) --*remaining_;
    take_item(*std::move(response.item));
    return {};
  }

  void take_item(item::Item item) {
    bytes_ += item::size_of(item);
    if (plan_.filter && !plan_.filter->matches(item)) return;
    page_.items.push_back(plan_.columns ? take_columns(*plan_.columns, item) : std::move(item));
  }

  // A statement that can match nothing reads nothing, but DynamoDB charges for every read.
  void add_minimum() {
    if (options_.return_consumed_capacity == store::ReturnConsumedCapacity::none) return;
    store::ConsumedCapacity consumed;
    consumed.table_name = plan_.source.table_name;
    consumed.total = consumed.table = options_.consistent ? 1 : 0.5;
    capacity_.add(consumed);
  }

  store::Store& store_;
  const ReadPlan& plan_;
  const ReadOptions& options_;
  std::optional<int> remaining_;
  std::size_t bytes_ = 0;
  CapacitySum capacity_;
  Page page_;
};

}  // namespace

std::optional<store::ProjectionExpression> projection_of(const ReadPlan& plan, Substitutions& substitutions) {
  if (!plan.columns) return std::nullopt;
  std::string text;
  for (const std::string& name : plan.fetched) text.append(text.empty() ? "" : ",").append(substitutions.name(name));
  return store::ProjectionExpression(std::move(text));
}

store::Answer<Page> read_page(store::Store& store, const ReadPlan& plan, const ReadOptions& options,
                              const PagePosition& from) {
  return PageReader(store, plan, options).read(from);
}

}  // namespace postino::partiql
