#include "metrics/follow/set_aside.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "item/json_codec.h"
#include "item/size.h"

namespace postino::metrics {

namespace {

constexpr std::string_view set_aside_begin = "set-aside#";
// Images are for people who look for the cause; what is larger can be read in the table itself.
constexpr std::size_t largest_images = 64 << 10;
constexpr std::size_t longest_reason = 1'000;  // bytes

std::string id_of(const std::string& follower, const std::string& last) {
  return std::string(set_aside_begin).append(follower).append("#").append(last);
}

const item::Map* map_in(const item::Item& item, std::string_view name) {
  const item::AttributeValue* const value = item.find(name);
  return value != nullptr ? value->get_if<item::Map>() : nullptr;
}

// "{length of the time} {time}{id}": both are in the key of the index. Another program may have put any text there, and
// a page may end at such an item.
std::string cursor_of(const item::Key& last) {
  const std::string time = item::attribute_text(last, "set_aside_at");
  return base::to_base64(std::to_string(time.size()) + " " + time + item::attribute_text(last, "metric_name"));
}

std::optional<item::Key> key_in(const std::string& cursor) {
  const auto text = base::from_base64(cursor);
  if (!text) return std::nullopt;
  std::size_t length = 0;
  const auto [last, fault] = std::from_chars(text->data(), text->data() + text->size(), length);
  const auto begin = static_cast<std::size_t>(last - text->data()) + 1;
  // Neither part of a key is empty.
  if (fault != std::errc() || begin >= text->size() || *last != ' ' || length == 0 || length >= text->size() - begin)
    return std::nullopt;
  return item::Key{{"metric_name", text->substr(begin + length)},
                   {"set_aside", "records"},
                   {"set_aside_at", text->substr(begin, length)}};
}

std::size_t bytes_of(const std::optional<item::Item>& image) { return image ? item::size_of(*image) : 0; }

}  // namespace

std::string public_id(const std::string& id) {
  std::string text = id.starts_with(set_aside_begin) ? id.substr(set_aside_begin.size()) : id;
  std::ranges::replace(text, '#', '~');
  return text;
}

std::string private_id(const std::string& id) {
  std::string text = id;
  std::ranges::replace(text, '~', '#');
  return std::string(set_aside_begin) + text;
}

std::string_view event_name(store::ChangeType type) {
  switch (type) {
    case store::ChangeType::insert:
      return "INSERT";
    case store::ChangeType::modify:
      return "MODIFY";
    case store::ChangeType::remove:
      return "REMOVE";
  }
  return "";
}

SetAside set_aside_record(const std::string& follower, const std::string& table, const store::StreamRecord& record,
                          std::string reason, base::TimePoint now) {
  SetAside aside{.id = id_of(follower, store::name_of(record)),
                 .follower = follower,
                 .table = table,
                 .reason = std::move(reason),
                 .at = now,
                 .event = std::string(event_name(record.type)),
                 .sequence = record.sequence_number.text(),
                 .keys = record.keys,
                 .old_image = std::nullopt,
                 .new_image = std::nullopt};
  if (bytes_of(record.old_image) + bytes_of(record.new_image) <= largest_images) {
    aside.old_image = record.old_image;
    aside.new_image = record.new_image;
  }
  aside.changed_at = record.time;
  // An image is one level deeper here than in its table, which may have had as many levels as there can be.
  return item::check_nesting(stored_form(aside)) ? aside : without_images(std::move(aside));
}

SetAside without_images(SetAside aside) {
  aside.old_image.reset();
  aside.new_image.reset();
  return aside;
}

std::optional<store::StreamRecord> record_of(const SetAside& aside) {
  const auto sequence = store::SequenceNumber::parse(aside.sequence);
  if (!sequence || !aside.changed_at || (!aside.old_image && !aside.new_image)) return std::nullopt;
  store::StreamRecord record;
  record.sequence_number = *sequence;
  record.time = *aside.changed_at;
  record.type = store::ChangeType::remove;
  if (aside.new_image) record.type = aside.old_image ? store::ChangeType::modify : store::ChangeType::insert;
  record.keys = aside.keys;
  record.old_image = aside.old_image;
  record.new_image = aside.new_image;
  record.view_type = store::StreamViewType::new_and_old_images;
  return record;
}

SetAside set_aside_item(const std::string& follower, const std::string& table, const item::Key& keys,
                        std::string reason, base::TimePoint now) {
  const std::string key = base::to_hex(base::sha256(item::to_json(keys))).substr(0, 32);
  return {.id = id_of(follower, "item-" + key),
          .follower = follower,
          .table = table,
          .reason = std::move(reason),
          .at = now,
          .event = "SCAN",
          .sequence = "",
          .keys = keys,
          .old_image = std::nullopt,
          .new_image = std::nullopt};
}

SetAside set_aside_gap(const std::string& follower, const std::string& table, std::string reason, base::TimePoint now) {
  return {.id = id_of(follower, "gap-" + base::format_timestamp(now)),
          .follower = follower,
          .table = table,
          .reason = std::move(reason),
          .at = now,
          .event = "GAP",
          .sequence = "",
          .keys = {},
          .old_image = std::nullopt,
          .new_image = std::nullopt};
}

item::Item stored_form(const SetAside& record) {
  // A receiver may have said anything. The store takes no half characters.
  std::string reason;
  base::append_printable(reason, record.reason, longest_reason);
  item::Item item{{"metric_name", record.id},
                  {"set_aside", "records"},
                  {"set_aside_at", base::format_timestamp(record.at)},
                  {"follower", record.follower},
                  {"table", record.table},
                  {"reason", std::move(reason)},
                  {"event", record.event},
                  {"keys", record.keys},
                  {"ttl", base::epoch_seconds(record.at + set_aside_kept)}};
  if (!record.sequence.empty()) item.set("sequence", record.sequence);
  if (record.changed_at) item.set("changed_at", base::format_timestamp(*record.changed_at));
  if (record.old_image) item.set("old_image", *record.old_image);
  if (record.new_image) item.set("new_image", *record.new_image);
  return item;
}

base::Result<SetAside> read_set_aside(const item::Item& item) {
  SetAside record{.id = item::attribute_text(item, "metric_name"),
                  .follower = item::attribute_text(item, "follower"),
                  .table = item::attribute_text(item, "table"),
                  .reason = item::attribute_text(item, "reason"),
                  .at = {},
                  .event = item::attribute_text(item, "event"),
                  .sequence = item::attribute_text(item, "sequence"),
                  .keys = {},
                  .old_image = std::nullopt,
                  .new_image = std::nullopt};
  TRY(record.at, base::parse_timestamp(item::attribute_text(item, "set_aside_at")));
  if (const auto at = base::parse_timestamp(item::attribute_text(item, "changed_at"))) record.changed_at = *at;
  if (const item::Map* const keys = map_in(item, "keys")) record.keys = *keys;
  if (const item::Map* const image = map_in(item, "old_image")) record.old_image = *image;
  if (const item::Map* const image = map_in(item, "new_image")) record.new_image = *image;
  return record;
}

base::Result<SetAsideList::Page> SetAsideList::page(const std::string& cursor, int limit) {
  if (limit < 1 || limit > largest_page)
    return base::invalid("limit must be from 1 to " + std::to_string(largest_page));
  store::QueryRequest request;
  request.table_name = table_;
  request.index_name = std::string(set_aside_index);
  request.key_condition = "set_aside = :records";
  request.placeholders.values = item::Map{{":records", "records"}};
  request.forward = false;
  request.limit = limit;
  if (!cursor.empty()) {
    const auto start = key_in(cursor);
    if (!start) return base::invalid("cursor must be one that an earlier page gave");
    request.exclusive_start_key = *start;
  }
  const auto answer = retry_([&] { return store_.query(request); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  Page page;
  for (const item::Item& item : answer->items)
    if (auto record = read_set_aside(item); record && record->id.starts_with(set_aside_begin))
      page.records.push_back(*std::move(record));
  if (const auto& last = answer->last_evaluated_key) page.cursor = cursor_of(*last);
  return page;
}

base::Result<std::optional<SetAside>> SetAsideList::find(const std::string& id) {
  if (!id.starts_with(set_aside_begin)) return std::nullopt;
  store::GetItemRequest request;
  request.table_name = table_;
  request.key = item::Key{{"metric_name", id}};
  request.consistent_read = true;
  const auto answer = retry_([&] { return store_.get_item(request); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  if (!answer->item) return std::nullopt;
  TRY(SetAside found, read_set_aside(*answer->item));
  return found;
}

base::Result<bool> SetAsideList::remove(const std::string& id) {
  if (!id.starts_with(set_aside_begin)) return false;
  store::DeleteItemRequest request;
  request.table_name = table_;
  request.key = item::Key{{"metric_name", id}};
  request.return_values = store::ReturnValues::all_old;
  const auto answer = retry_([&] { return store_.delete_item(request); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return answer->attributes.has_value();
}

}  // namespace postino::metrics
