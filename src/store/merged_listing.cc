#include "store/merged_listing.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/base64.h"
#include "base/hash.h"
#include "item/attribute_text.h"
#include "item/json_codec.h"
#include "item/size.h"

namespace postino::store {

namespace {

constexpr std::size_t cursor_check_length = 8;
constexpr int largest_piece = 200;
constexpr int largest_disordered_piece = 1'000;
constexpr std::string_view position_group = "at", position_keys = "keys", position_order = "order";

// Guards against mistakes, not against malice: a caller who may list may begin anywhere in the same list.
std::string cursor_check(const std::string& list, std::string_view position) {
  return base::to_hex(base::sha256("list " + list + "\n" + std::string(position))).substr(0, cursor_check_length);
}

std::string write_cursor(const std::string& list, const std::string& position) {
  std::string text = base::to_base64(position);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return cursor_check(list, position) + text;
}

std::optional<std::string> read_cursor(const std::string& list, const std::string& cursor) {
  if (cursor.size() <= cursor_check_length) return std::nullopt;
  std::string text = cursor.substr(cursor_check_length);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  while (text.size() % 4 != 0) text += '=';
  auto position = base::from_base64(text);
  if (!position || cursor_check(list, *position) != cursor.substr(0, cursor_check_length)) return std::nullopt;
  return *std::move(position);
}

// Where a page ended: the group of the last entry. Ranges may still have some of it: those that are behind `order`, and
// in ranges that are in the order of their keys those behind the key.
struct ListPosition {
  std::string group;
  std::string order;
  item::Map keys;  // of a range, by its number: the key of its entry
};

std::optional<ListPosition> read_position(const std::string& list, const std::string& cursor) {
  const auto text = read_cursor(list, cursor);
  if (!text) return std::nullopt;
  const auto fields = item::parse_item(*text);
  if (!fields) return std::nullopt;
  const auto* const at = fields->find(position_group);
  const auto* const keys = fields->find(position_keys);
  if (at == nullptr || at->get_if<std::string>() == nullptr || keys == nullptr || keys->get_if<item::Map>() == nullptr)
    return std::nullopt;
  return ListPosition{at->as<std::string>(), item::attribute_text(*fields, position_order), keys->as<item::Map>()};
}

std::string write_position(const std::string& list, const ListPosition& position) {
  item::Map fields;
  fields.set(std::string(position_group), position.group);
  fields.set(std::string(position_order), position.order);
  fields.set(std::string(position_keys), position.keys);
  return write_cursor(list, item::to_json(fields));
}

// One range, read in pieces, and given in runs: entries of the same group, in their order.
class RangeReader {
 public:
  RangeReader(Store& store, const Retry& retry, const MergedListing& listing, std::size_t number, int piece)
      : store_(store), retry_(retry), listing_(listing), number_(number), piece_(piece) {}

  void start_at(const ListPosition& position) {
    bound_ = position.group;
    order_bound_ = position.order;
    if (const auto* const key = position.keys.find(name()))
      if (const auto* const map = key->get_if<item::Map>()) start_ = *map;
    goes_on_by_key_ = start_.has_value();
  }

  // Reads until it has a run. How many items were read.
  Answer<std::size_t> fill() {
    std::size_t count = 0;
    while (run_ == 0 && has_more()) {
      if (entries_.empty() || is_cut_off()) {
        TRY(const std::size_t read, read_piece());
        count += read;
      }
      // A piece may be empty although there is more.
      if (entries_.empty()) continue;
      TRY_VOID(look_at_order());
      if (!is_cut_off()) begin_run();
    }
    return count;
  }

  // Has it nothing to give before it reads more?
  bool needs_reading() const { return run_ == 0 && !ended_ && (entries_.empty() || is_cut_off()); }
  bool has_more() const { return !entries_.empty() || !ended_; }
  bool has_entry() const { return run_ > 0; }
  bool is_sorted() const { return is_sorted_; }
  const std::string& group() const { return entries_.front().group; }
  const std::string& order() const { return entries_.front().order; }
  std::string name() const { return std::to_string(number_); }

  item::Key key() const {
    item::Key key;
    for (const std::string& part : listing_.table_keys) copy_key(key, part);
    copy_key(key, listing_.partition_key);
    copy_key(key, listing_.sort_key);
    return key;
  }

  item::Item take() {
    item::Item item = std::move(entries_.front().item);
    entries_.pop_front();
    --run_;
    return item;
  }

 private:
  struct Entry {
    item::Item item;
    std::string group;
    std::string order;  // empty where the list has none
  };

  const ListedRange& range() const { return listing_.ranges[number_]; }

  void copy_key(item::Key& key, const std::string& name) const {
    if (const item::AttributeValue* const value = entries_.front().item.find(name)) key.set(name, *value);
  }

  Entry entry_of(item::Item item) const {
    const std::string sort = item::attribute_text(item, listing_.sort_key);
    std::string rest = sort.substr(std::min(range().prefix.size(), sort.size()));
    std::string order = listing_.order ? listing_.order(item) : std::string();
    return {std::move(item), listing_.group ? listing_.group(rest) : std::move(rest), std::move(order)};
  }

  Answer<std::size_t> read_piece() {
    const QueryRequest wanted = request();
    TRY(PageResponse page, retry_([&] { return store_.query(wanted); }));
    ended_ = !page.last_evaluated_key;
    start_ = std::move(page.last_evaluated_key);
    const std::size_t count = page.items.size();
    for (item::Item& item : page.items) {
      if (listing_.is_disordered) bytes_ += item::size_of(item);
      entries_.push_back(entry_of(std::move(item)));
    }
    return count;
  }

  // Of a run that is too long to be sorted without need.
  Answer<void> look_at_order() {
    if (!listing_.is_disordered || asked_ == group() || is_by_key() || entries_.size() <= most_sorted() ||
        entries_[listing_.most_sorted].group != group())
      return {};
    asked_ = group();
    TRY(const bool is_disordered, retry_([&] { return listing_.is_disordered(group()); }));
    if (is_disordered) disordered_ = group();
    return {};
  }

  // Is the front in a run that is too long to be sorted?
  bool is_by_key() const { return group() == unsorted_ || (goes_on_by_key_ && group() == bound_); }
  // A group that was begun in order goes on so, although it has grown meanwhile.
  std::size_t most_sorted() const {
    constexpr std::size_t growth = 8;
    if (group() == disordered_ && bytes_ <= listing_.most_disordered_bytes) return listing_.most_disordered;
    return group() == bound_ && !order_bound_.empty() ? growth * listing_.most_sorted : listing_.most_sorted;
  }
  // May the run at the front go on behind what was read?
  bool is_cut_off() const {
    return listing_.order && !ended_ && entries_.size() <= most_sorted() && !is_by_key() &&
           entries_.back().group == group();
  }

  void begin_run() {
    run_ = entries_.size();
    is_sorted_ = false;
    if (!listing_.order) return;
    const std::string front = group();
    const auto end = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.group != front; });
    run_ = static_cast<std::size_t>(end - entries_.begin());
    is_sorted_ = run_ <= most_sorted() && !is_by_key();
    if (!is_sorted_) {
      unsorted_ = front;
      return;
    }
    const bool down = listing_.newest_first;
    std::sort(entries_.begin(), end, [&](const Entry& one, const Entry& other) {
      return down ? one.order > other.order : one.order < other.order;
    });
    if (front != bound_ || order_bound_.empty()) return;
    while (run_ > 0 && (down ? order() >= order_bound_ : order() <= order_bound_)) take();  // earlier pages had them
  }

  QueryRequest request() const {
    QueryRequest request;
    request.table_name = listing_.table;
    if (!listing_.index.empty()) request.index_name = listing_.index;
    request.consistent_read = listing_.index.empty();
    request.forward = !listing_.newest_first;
    request.limit = entries_.empty() ? piece_ : std::max(piece_, largest_piece);  // more: the rest of a run
    if (disordered_) request.limit = largest_disordered_piece;
    request.exclusive_start_key = start_;
    std::string from = range().prefix + listing_.from;
    std::string to = !listing_.to.empty()      ? range().prefix + listing_.to
                     : !range().prefix.empty() ? end_of_prefix(range().prefix)
                                               : std::string();
    if (bound_ && listing_.newest_first) {
      const std::string end = range().prefix + (listing_.group ? end_of_prefix(*bound_) : *bound_);
      to = to.empty() ? end : std::min(to, end);
    } else if (bound_) {
      from = std::max(from, range().prefix + *bound_);
    }
    expr::Names names{{"#partition", listing_.partition_key}};
    item::Map values;
    values.set(":partition", range().partition);
    std::string condition = "#partition = :partition";
    if (!from.empty() || !to.empty()) names.emplace("#sort", listing_.sort_key);
    if (!from.empty() && !to.empty())
      condition += " AND #sort BETWEEN :from AND :to";
    else if (!from.empty())
      condition += " AND #sort >= :from";
    else if (!to.empty())
      condition += " AND #sort <= :to";
    if (!from.empty()) values.set(":from", std::move(from));
    if (!to.empty()) values.set(":to", std::move(to));
    request.key_condition.emplace(std::move(condition));
    request.placeholders.names = std::move(names);
    request.placeholders.values = std::move(values);
    return request;
  }

  Store& store_;
  const Retry& retry_;
  const MergedListing& listing_;
  const std::size_t number_;
  const int piece_;
  std::optional<std::string> bound_;  // a group
  std::string order_bound_;
  bool goes_on_by_key_ = false;
  std::optional<std::string> unsorted_;    // the last group that was too long
  std::optional<std::string> asked_;       // the last group whose order was asked for
  std::optional<std::string> disordered_;  // and the last one that must be sorted
  std::size_t bytes_ = 0;                  // of everything that was read
  std::size_t run_ = 0;                    // so many at the front are a run, or the rest of one
  bool is_sorted_ = false;
  std::optional<item::Key> start_;
  std::deque<Entry> entries_;
  bool ended_ = false;
};

// The one whose entry comes next; nullptr when none has any.
RangeReader* next_of(std::deque<RangeReader>& readers, bool newest_first) {
  RangeReader* next = nullptr;
  for (RangeReader& reader : readers) {
    if (!reader.has_entry()) continue;
    if (next == nullptr) {
      next = &reader;
      continue;
    }
    const int groups = reader.group().compare(next->group());
    const int orders = groups != 0 ? groups : reader.order().compare(next->order());
    if (newest_first ? orders > 0 : orders < 0) next = &reader;
  }
  return next;
}

Answer<MergedPage> read_from(Store& store, const Retry& retry, const MergedListing& listing,
                             const std::optional<ListPosition>& start, int limit) {
  const int piece = limit / static_cast<int>(std::max<std::size_t>(listing.ranges.size(), 1)) + 4;
  std::deque<RangeReader> readers;
  for (std::size_t number = 0; number < listing.ranges.size(); ++number) {
    readers.emplace_back(store, retry, listing, number, piece);
    if (start) readers.back().start_at(*start);
  }
  MergedPage answer;
  if (!listing.to.empty() && listing.from > listing.to) return answer;
  ListPosition last = start.value_or(ListPosition());
  std::size_t read = 0;
  bool any = false;
  while (answer.entries.size() < static_cast<std::size_t>(limit)) {
    if (read > listing.most_read && any && std::ranges::any_of(readers, &RangeReader::needs_reading)) break;
    for (RangeReader& reader : readers) {
      TRY(const std::size_t count, reader.fill());
      read += count;
    }
    RangeReader* const next = next_of(readers, listing.newest_first);
    if (next == nullptr) break;
    any = true;
    if (next->group() != last.group) last = {next->group(), "", {}};
    if (next->is_sorted())
      last.order = next->order();
    else
      last.keys.set(next->name(), next->key());
    item::Item item = next->take();
    if (!listing.shows || listing.shows(item)) answer.entries.push_back(std::move(item));
  }
  if (std::ranges::any_of(readers, &RangeReader::has_more)) answer.cursor = write_position(listing.name, last);
  return answer;
}

}  // namespace

std::string end_of_prefix(std::string_view prefix) {
  return std::string(prefix) + "\xF4\x8F\xBF\xBF";  // the last character that there is
}

Answer<std::optional<MergedPage>> read_merged(Store& store, const Retry& retry, const MergedListing& listing,
                                              const std::string& cursor, int limit) {
  std::optional<ListPosition> start;
  if (!cursor.empty()) {
    start = read_position(listing.name, cursor);
    if (!start) return std::nullopt;
  }
  auto page = read_from(store, retry, listing, start, limit);
  // A position that a caller made up may be none of this list.
  if (!page && start && page.error().type == ErrorType::validation) return std::nullopt;
  if (!page) return base::propagate(std::move(page).error());
  return std::optional<MergedPage>(*std::move(page));
}

}  // namespace postino::store
