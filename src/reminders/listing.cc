#include "reminders/listing.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/log.h"
#include "item/attribute_text.h"
#include "item/json_codec.h"
#include "reminders/record/item_fields.h"
#include "reminders/reminder_store.h"
#include "store/list_cursor.h"

namespace postino::reminders {

namespace {

constexpr std::size_t most_items_read = 5'000;
// With the same sort key. More, for instance when another program writes days instead of times, stay in the order of
// their keys.
constexpr std::size_t most_sorted = 1'000;
constexpr std::string_view position_time = "at", position_keys = "keys", position_order = "order";

tl::unexpected<Refusal> refuse_cursor() {
  return refuse_field("cursor", "must be the cursor of an earlier response, with the same parameters");
}

// Where a page ended: the sort key of the last entry. The partitions may still have some with it: those that are behind
// `order`, and in partitions that are in the order of their keys those behind the key.
struct ListPosition {
  std::string sort;
  std::string order;
  item::Map keys;  // of a partition: the key of its entry
};

// Sort keys have whole seconds. Within one, the later is the one with the later time, and then with the later key.
std::string order_of(const item::Item& item) {
  constexpr std::size_t digits = 16;
  std::int64_t time = 0;
  for (const char* const name : {"sent_at_ms", "created_at_ms"})
    if (const auto moment = ItemFields(item).moment(name)) time = std::max(time, base::epoch_milliseconds(*moment));
  if (time == 0)
    if (const auto written = parse_seed_time(item::attribute_text(item, "GSI1SK")))
      time = std::max<std::int64_t>(0, base::epoch_milliseconds(*written));
  const std::string number = std::to_string(time);
  return std::string(digits - std::min(digits, number.size()), '0') + number + "#" + item::attribute_text(item, "PK") +
         "#" + item::attribute_text(item, "SK");
}

OrRefusal<std::optional<ListPosition>> read_position(const std::string& list, const std::string& cursor) {
  if (cursor.empty()) return std::nullopt;
  TRY(const std::string text, read_list_cursor(list, cursor));
  const auto fields = item::parse_item(text);
  if (!fields) return refuse_cursor();
  const auto* const at = fields->find(position_time);
  const auto* const keys = fields->find(position_keys);
  if (at == nullptr || at->get_if<std::string>() == nullptr || keys == nullptr || keys->get_if<item::Map>() == nullptr)
    return refuse_cursor();
  return ListPosition{at->as<std::string>(), item::attribute_text(*fields, position_order), keys->as<item::Map>()};
}

std::string write_position(const std::string& list, const ListPosition& position) {
  item::Map fields;
  fields.set(std::string(position_time), position.sort);
  fields.set(std::string(position_order), position.order);
  fields.set(std::string(position_keys), position.keys);
  return store::make_cursor(list, item::to_json(fields));
}

// One partition, read in pieces, and given in runs: entries with the same sort key, in their order.
class PartitionReader {
 public:
  PartitionReader(ReminderStore& store, const Listing& listing, std::string partition, int piece)
      : store_(store), listing_(listing), partition_(std::move(partition)), piece_(piece) {}

  void start_at(const ListPosition& position) {
    bound_ = position.sort;
    order_bound_ = position.order;
    if (const auto* const key = position.keys.find(partition_))
      if (const auto* const map = key->get_if<item::Map>()) start_ = *map;
    goes_on_by_key_ = start_.has_value();
  }

  // Reads until it has a run. How many items were read.
  OrRefusal<std::size_t> fill() {
    std::size_t count = 0;
    while (run_ == 0 && has_more()) {
      if (items_.empty() || is_cut_off()) {
        TRY(const std::size_t read, read_piece());
        count += read;
        // A piece may be empty although there is more.
        if (items_.empty() || is_cut_off()) continue;
      }
      begin_run();
    }
    return count;
  }

  bool has_more() const { return !items_.empty() || !ended_; }
  bool has_entry() const { return run_ > 0; }
  std::string sort() const { return sort_of(items_.front()); }
  bool is_sorted() const { return is_sorted_; }
  std::string order() const { return order_of(items_.front()); }
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
    --run_;
    return item;
  }

 private:
  OrRefusal<std::size_t> read_piece() {
    TRY(ReminderStore::QueryPage page, store_.query(request()));
    start_ = page.next;
    ended_ = !page.next;
    const std::size_t count = page.items.size();
    for (item::Item& item : page.items) items_.push_back(std::move(item));
    return count;
  }

  bool is_in_order_of_time() const { return listing_.in_index && listing_.newest_first; }
  // Is the front of a run that is too long to be sorted?
  bool is_by_key() const { return sort() == unsorted_ || (goes_on_by_key_ && sort() == bound_); }
  // May the run at the front go on behind what was read?
  bool is_cut_off() const {
    return is_in_order_of_time() && !ended_ && items_.size() <= most_sorted && !is_by_key() &&
           sort_of(items_.back()) == sort();
  }

  void begin_run() {
    run_ = items_.size();
    is_sorted_ = false;
    if (!is_in_order_of_time()) return;
    const auto is_other = [&](const item::Item& item) { return sort_of(item) != sort(); };
    const auto end = std::ranges::find_if(items_, is_other);
    run_ = static_cast<std::size_t>(end - items_.begin());
    const bool goes_on = sort() == bound_ && !order_bound_.empty();
    is_sorted_ = run_ <= most_sorted && !is_by_key();
    if (!is_sorted_) {
      unsorted_ = sort();
      return;
    }
    std::sort(items_.begin(), end,
              [](const item::Item& one, const item::Item& other) { return order_of(one) > order_of(other); });
    while (goes_on && run_ > 0 && order() >= order_bound_) take();  // earlier pages had them
  }

  std::string_view sort_name() const { return listing_.in_index ? "GSI1SK" : "SK"; }

  std::string sort_of(const item::Item& item) const { return item::attribute_text(item, sort_name()); }
  std::string text_of(std::string_view name) const { return item::attribute_text(items_.front(), name); }

  store::QueryRequest request() const {
    store::QueryRequest request;
    request.table_name = listing_.table.empty() ? store_.tables().tracking : listing_.table;
    if (listing_.in_index) request.index_name = std::string(status_index);
    request.consistent_read = !listing_.in_index;
    request.forward = !listing_.newest_first;
    request.limit = items_.empty() ? piece_ : std::max(piece_, largest_page);  // more: the rest of a run
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
  std::string order_bound_;
  bool goes_on_by_key_ = false;
  std::string unsorted_;  // the sort key of the last run that was too long
  std::size_t run_ = 0;   // so many at the front are a run, or the rest of one
  bool is_sorted_ = false;
  std::optional<item::Key> start_;
  std::deque<item::Item> items_;
  bool ended_ = false;
};

// The one whose entry comes next; nullptr when none has any.
PartitionReader* next_of(std::deque<PartitionReader>& readers, bool newest_first) {
  PartitionReader* next = nullptr;
  for (PartitionReader& reader : readers) {
    if (!reader.has_entry()) continue;
    if (next == nullptr || (newest_first ? reader.sort() > next->sort() : reader.sort() < next->sort()) ||
        (newest_first && reader.sort() == next->sort() && reader.order() > next->order()))
      next = &reader;
  }
  return next;
}

}  // namespace

void Listing::begin_with(const std::string& text) {
  from = text;
  to = text;
  to += "\xF4\x8F\xBF\xBF";  // the last character that there is
}

OrRefusal<std::string> read_list_cursor(const std::string& list, const std::string& cursor) {
  auto position = store::read_cursor(list, cursor);
  if (!position) return refuse_cursor();
  return *std::move(position);
}

void log_left_out(std::string_view list, const std::string& cause) {
  base::log_warning("reminders", "a record is left out of a list", {{"list", std::string(list)}, {"cause", cause}});
}

OrRefusal<void> check_limit(int limit) {
  if (limit < 1 || limit > largest_page)
    return refuse_field("limit", "must be from 1 to " + std::to_string(largest_page));
  return {};
}

OrRefusal<Page<item::Item>> list_items(ReminderStore& store, const Listing& listing, const PageRequest& page) {
  TRY_VOID(check_limit(page.limit));
  // A cursor is that of a tenant and of what was asked for. The first partition has the tenant, and is the same however
  // many shards there are.
  const std::string list = (listing.partitions.empty() ? "" : listing.partitions.front()) + "\n" + listing.name;
  TRY(const std::optional<ListPosition> start, read_position(list, page.cursor));
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
  std::size_t taken = 0;
  std::size_t let = 0;
  while (answer.entries.size() < wanted) {
    for (PartitionReader& reader : readers) {
      TRY(const std::size_t count, reader.fill());
      read += count;
    }
    PartitionReader* const next = next_of(readers, listing.newest_first);
    if (next == nullptr || (read > most_items_read && taken > 0)) break;
    ++taken;
    if (next->sort() != last.sort) last = {next->sort(), "", {}};
    if (next->is_sorted())
      last.order = next->order();
    else
      last.keys.set(next->partition(), next->key());
    item::Item item = next->take();
    if (listing.table.empty() && !item.contains(ttl_attribute) && let++ < most_let_expire) store.let_expire(item);
    if (!listing.shows || listing.shows(item)) answer.entries.push_back(std::move(item));
  }
  if (std::ranges::any_of(readers, &PartitionReader::has_more)) answer.cursor = write_position(list, last);
  return answer;
}

}  // namespace postino::reminders
