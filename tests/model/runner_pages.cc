// Queries and scans.
#include <algorithm>
#include <set>

#include "request_text.h"
#include "runner.h"

namespace postino::model {

namespace {

constexpr int max_followed_pages = 40;

}  // namespace

store::Answer<store::PageResponse> Runner::read_page(const PageOperation& operation) {
  if (operation.key) {
    static const ModelTable no_table;
    const auto table = model_.tables.find(operation.table);
    const store::QueryRequest request =
        builder_.query(operation, table == model_.tables.end() ? no_table : table->second);
    announce(text_of(request));
    return store().query(request);
  }
  const store::ScanRequest request = builder_.scan(operation);
  announce(text_of(request));
  return store().scan(request);
}

// The rows as the store orders them, which must be a possible order of exactly the model's rows.
std::optional<std::vector<Row>> Runner::read_order(const PageOperation& operation) {
  PageOperation plain;
  plain.table = operation.table;
  plain.index = operation.index;
  plain.key = operation.key;
  plain.forward = operation.forward;
  const ModelPages pages(model_, plain);
  const ModelTable& table = model_.tables.at(operation.table);
  std::map<KeyOfItem, Row, KeyLess> rows;
  for (Row& row : pages.rows()) rows.emplace(table.key_values(row.item), std::move(row));

  std::vector<Row> ordered;
  do {
    const auto page = read_page(plain);
    if (!page) {
      expect_same("refused with " + text_of(page.error()));
      return std::nullopt;
    }
    for (const item::Item& item : page->items) {
      const auto row = rows.find(table.key_values(item));
      if (row == rows.end() || !(row->second.entry == item)) {
        expect_same("got a row that is not there: " + text_of(std::optional(item)));
        return std::nullopt;
      }
      ordered.push_back(std::move(row->second));
      rows.erase(row);
    }
    plain.start = page->last_evaluated_key;
  } while (plain.start);
  if (!rows.empty()) expect_same("a row is missing: " + text_of(std::optional(rows.begin()->second.entry)));
  expect_same(pages.fault_of_order(ordered));
  return failure_.empty() ? std::optional(std::move(ordered)) : std::nullopt;
}

// Reads from the operation's start to the end, page by page. False when only the store can know where to start.
bool Runner::follow_pages(PageOperation operation, const std::vector<Row>& ordered) {
  const ModelPages pages(model_, operation);
  std::optional<std::size_t> next = pages.first_row(ordered);
  if (!next) return false;
  for (int page_number = 0; page_number < max_followed_pages && failure_.empty(); ++page_number) {
    const ExpectedPage expected = pages.page(ordered, *next);
    const auto actual = read_page(operation);
    if (!actual) {
      expect_same("refused with " + text_of(actual.error()));
      return true;
    }
    expect_same(difference(expected, *actual));
    if (!expected.last_evaluated_key) return true;
    operation.start = expected.last_evaluated_key;
    next = expected.next;
  }
  return true;
}

void Runner::read_pages() {
  const PageOperation operation = generator_.page();
  const Expected<void> allowed = ModelPages(model_, operation).check();
  if (!allowed) {
    both_succeed(allowed, read_page(operation));
    return;
  }
  const auto ordered = read_order(operation);
  if (ordered) follow_pages(operation, *ordered);
}

void Runner::scan_segments() {
  PageOperation operation;
  const ModelTable& table = generator_.any_table();
  operation.table = table.name;
  if (!table.indexes.empty() && choice_.one_in(2)) operation.index = choice_.of(table.indexes).name;
  if (!ModelPages(model_, operation).check()) return;
  const auto ordered = read_order(operation);
  if (!ordered) return;
  std::map<KeyOfItem, std::size_t, KeyLess> places;
  for (std::size_t i = 0; i < ordered->size(); ++i) places[table.key_values((*ordered)[i].item)] = i;

  const int total = choice_.of(std::vector<int>{1, 2, 3, 7, 100});
  std::set<std::size_t> seen;
  for (int segment = 0; segment < total && failure_.empty(); ++segment) {
    store::ScanRequest request = builder_.scan(operation);
    request.segment = segment;
    request.total_segments = total;
    if (choice_.one_in(2)) request.limit = choice_.between(1, 9);
    std::optional<std::size_t> last;
    do {
      announce(text_of(request));
      const auto page = store().scan(request);
      if (!page) return expect_same("refused with " + text_of(page.error()));
      for (const item::Item& item : page->items) {
        const auto place = places.find(table.key_values(item));
        if (place == places.end() || !(item == (*ordered)[place->second].entry))
          return expect_same("got a row that is not there: " + text_of(std::optional(item)));
        if (!seen.insert(place->second).second) return expect_same("a row is in two segments");
        if (last && place->second <= *last) return expect_same("a segment is in another order");
        last = place->second;
      }
      request.exclusive_start_key = page->last_evaluated_key;
    } while (request.exclusive_start_key);
  }
  if (seen.size() != ordered->size()) expect_same("a row is in no segment");
}

}  // namespace postino::model
