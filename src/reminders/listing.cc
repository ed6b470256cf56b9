#include "reminders/listing.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/base64.h"
#include "base/hash.h"
#include "item/json_codec.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

namespace {

constexpr std::size_t most_items_read = 5'000;
constexpr std::size_t check_length = 8;
constexpr std::string_view position_time = "at", position_keys = "keys";

// Guards against mistakes, not against malice: who may list may begin anywhere.
std::string cursor_check(const std::string& list, std::string_view position) {
  return base::to_hex(base::sha256("reminders " + list + "\n" + std::string(position))).substr(0, check_length);
}

tl::unexpected<Refusal> refuse_cursor() {
  return refuse_field("cursor", "must be the cursor of an earlier response, with the same parameters");
}

// Where a page ended: the sort key of the last entry, and in each partition that had entries with just this sort key
// the last one. The other partitions may still have some with it.
struct ListPosition {
  std::string sort;
  item::Map keys;  // of a partition: the key of its entry
};

Answer<std::optional<ListPosition>> read_position(const std::string& list, const std::string& cursor) {
  if (cursor.empty()) return std::nullopt;
  TRY(const std::string text, read_cursor(list, cursor));
  const auto fields = item::parse_item(text);
  if (!fields) return refuse_cursor();
  const auto* const at = fields->find(position_time);
  const auto* const keys = fields->find(position_keys);
  if (at == nullptr || at->get_if<std::string>() == nullptr || keys == nullptr || keys->get_if<item::Map>() == nullptr)
    return refuse_cursor();
  return ListPosition{at->as<std::string>(), keys->as<item::Map>()};
}

std::string write_position(const std::string& list, const ListPosition& position) {
  item::Map fields;
  fields.set(std::string(position_time), position.sort);
  fields.set(std::string(position_keys), position.keys);
  return make_cursor(list, item::to_json(fields));
}

// One partition, read in pieces.
class PartitionReader {
 public:
  PartitionReader(ReminderStore& store, const Listing& listing, std::string partition, int piece)
      : store_(store), listing_(listing), partition_(std::move(partition)), piece_(piece) {}

  void start_at(const ListPosition& position) {
    bound_ = position.sort;
    if (const auto* const key = position.keys.find(partition_))
      if (const auto* const map = key->get_if<item::Map>()) start_ = *map;
  }

  // Reads the next piece when it has none. How many items were read.
  Answer<std::size_t> fill() {
    if (!items_.empty() || ended_) return 0U;
    TRY(ReminderStore::QueryPage page, store_.query(request()));
    start_ = page.next;
    ended_ = !page.next;
    const std::size_t count = page.items.size();
    for (item::Item& item : page.items) items_.push_back(std::move(item));
    return count;
  }

  bool is_unknown() const { return items_.empty() && !ended_; }
  bool has_more() const { return !items_.empty() || !ended_; }
  bool has_entry() const { return !items_.empty(); }
  std::string sort() const { return text_of(sort_name()); }
  const std::string& partition() const { return partition_; }

  item::Key key() const {
    item::Key key;
    for (const std::string_view name : {"GSI1PK", "GSI1SK", "PK", "SK"})
      if (listing_.in_index || !name.starts_with("GSI1")) key.set(std::string(name), text_of(name));
    return key;
  }

  item::Item take() {
    item::Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::string_view sort_name() const { return listing_.in_index ? "GSI1SK" : "SK"; }

  std::string text_of(std::string_view name) const {
    const auto* const value = items_.front().find(name);
    const auto* const text = value == nullptr ? nullptr : value->get_if<std::string>();
    return text == nullptr ? std::string() : *text;
  }

  store::QueryRequest request() const {
    store::QueryRequest request;
    request.table_name = listing_.table.empty() ? store_.tables().tracking : listing_.table;
    if (listing_.in_index) request.index_name = std::string(status_index);
    request.consistent_read = !listing_.in_index;
    request.forward = !listing_.newest_first;
    request.limit = piece_;
    request.exclusive_start_key = start_;
    std::string from = listing_.from;
    std::string to = listing_.to;
    if (!bound_.empty()) (listing_.newest_first ? to : from) = bound_;
    std::string condition = listing_.in_index ? "GSI1PK = :partition" : "PK = :partition";
    item::Map values;
    values.set(":partition", partition_);
    const std::string sort_key(sort_name());
    if (!from.empty() && !to.empty())
      condition += " AND " + sort_key + " BETWEEN :from AND :to";
    else if (!from.empty())
      condition += " AND " + sort_key + " >= :from";
    else if (!to.empty())
      condition += " AND " + sort_key + " <= :to";
    if (!from.empty()) values.set(":from", from);
    if (!to.empty()) values.set(":to", to);
    request.key_condition = condition;
    request.placeholders.values = std::move(values);
    return request;
  }

  ReminderStore& store_;
  const Listing& listing_;
  const std::string partition_;
  const int piece_;
  std::string bound_;
  std::optional<item::Key> start_;
  std::deque<item::Item> items_;
  bool ended_ = false;
};

// The one whose entry comes next; nullptr when none has any.
PartitionReader* next_of(std::deque<PartitionReader>& readers, bool newest_first) {
  PartitionReader* next = nullptr;
  for (PartitionReader& reader : readers) {
    if (!reader.has_entry()) continue;
    if (next == nullptr || (newest_first ? reader.sort() > next->sort() : reader.sort() < next->sort())) next = &reader;
  }
  return next;
}

}  // namespace

void Listing::begin_with(const std::string& text) {
  from = text;
  to = text;
  to += "\xF4\x8F\xBF\xBF";  // the last character that there is
}

std::string make_cursor(const std::string& list, const std::string& position) {
  std::string text = base::to_base64(position);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return cursor_check(list, position) + text;
}

Answer<std::string> read_cursor(const std::string& list, const std::string& cursor) {
  if (cursor.size() <= check_length) return refuse_cursor();
  std::string text = cursor.substr(check_length);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  while (text.size() % 4 != 0) text += '=';
  const auto position = base::from_base64(text);
  if (!position || cursor_check(list, *position) != cursor.substr(0, check_length)) return refuse_cursor();
  return *position;
}

Answer<void> check_limit(int limit) {
  if (limit < 1 || limit > largest_page)
    return refuse_field("limit", "must be from 1 to " + std::to_string(largest_page));
  return {};
}

Answer<Page<item::Item>> list_items(ReminderStore& store, const Listing& listing, const PageRequest& page) {
  TRY_VOID(check_limit(page.limit));
  TRY(const std::optional<ListPosition> start, read_position(listing.name, page.cursor));
  const auto wanted = static_cast<std::size_t>(page.limit);
  const int piece = page.limit / static_cast<int>(std::max<std::size_t>(listing.partitions.size(), 1)) + 4;
  std::deque<PartitionReader> readers;
  for (const std::string& partition : listing.partitions) {
    readers.emplace_back(store, listing, partition, piece);
    if (start) readers.back().start_at(*start);
  }

  Page<item::Item> answer;
  if (!listing.to.empty() && listing.from > listing.to) return answer;
  ListPosition last = start.value_or(ListPosition());
  std::size_t read = 0;
  std::size_t let = 0;
  while (answer.entries.size() < wanted) {
    for (PartitionReader& reader : readers) {
      if (!reader.is_unknown()) continue;
      TRY(const std::size_t count, reader.fill());
      read += count;
    }
    // A piece may be empty although there is more.
    if (std::ranges::any_of(readers, &PartitionReader::is_unknown)) continue;
    PartitionReader* const next = next_of(readers, listing.newest_first);
    if (next == nullptr || read > most_items_read) break;
    if (next->sort() != last.sort) last = {next->sort(), {}};
    last.keys.set(next->partition(), next->key());
    item::Item item = next->take();
    if (listing.table.empty() && !item.contains(ttl_attribute) && let++ < most_let_expire) store.let_expire(item);
    if (!listing.shows || listing.shows(item)) answer.entries.push_back(std::move(item));
  }
  if (std::ranges::any_of(readers, &PartitionReader::has_more)) answer.cursor = write_position(listing.name, last);
  return answer;
}

}  // namespace postino::reminders
