#include "engine/items/change.h"

#include "base/check.h"
#include "engine/catalog/item_keys.h"
#include "engine/catalog/undo_record.h"
#include "engine/items/capacity_units.h"
#include "engine/storage/keys.h"
#include "engine/streams/stream_record.h"
#include "item/size.h"

namespace postino::engine {

namespace {

// One side of a change in one index.
struct IndexEntry {
  std::string key;
  std::string value;
  std::size_t size = 0;
};

std::optional<IndexEntry> index_entry(const Index& index, const std::string& key, const StoredItemPointer& item) {
  if (!item) return std::nullopt;
  std::optional<std::string> entry_key = index_key(index, item->item, key);
  if (!entry_key) return std::nullopt;
  if (index.projection == store::ProjectionType::all) return IndexEntry{std::move(*entry_key), item->bytes, item->size};
  EncodedPart kept = encode_part(item->item, index.kept);
  return IndexEntry{std::move(*entry_key), std::move(kept.bytes), kept.size};
}

bool reached(const std::optional<Backfill>& backfill, const std::string& key) {
  return !backfill || key <= backfill->cursor;
}

void count(const ObjectId id, const std::shared_ptr<Statistics>& statistics, std::int64_t items, std::int64_t bytes,
           CommitEntry& entry) {
  if (items != 0 || bytes != 0) entry.statistics.push_back({id, statistics, items, bytes});
}

IndexEffect plan_index(const Index& index, const Change& change, CommitEntry& entry) {
  std::optional<IndexEntry> before = index_entry(index, change.key, change.before);
  std::optional<IndexEntry> after = index_entry(index, change.key, change.after);
  const bool same_key = before && after && before->key == after->key;
  IndexEffect effect{.index = &index, .first_mutation = entry.mutations.size()};
  if (same_key && before->value == after->value) return effect;
  if (before && !same_key) effect.removal_units = write_units(before->size);
  effect.write_units = effect.removal_units;
  if (after) effect.write_units += write_units(same_key ? std::max(before->size, after->size) : after->size);
  count(index.id, index.statistics, (after ? 1 : 0) - (before ? 1 : 0),
        static_cast<std::int64_t>(after ? after->size : 0) - static_cast<std::int64_t>(before ? before->size : 0),
        entry);
  if (before && !same_key) entry.remove(Family::indexes, std::move(before->key));
  if (after) entry.put(Family::indexes, std::move(after->key), std::move(after->value));
  return effect;
}

bool is_same(const Change& change) {
  return change.before && change.after ? change.before->bytes == change.after->bytes : !change.before && !change.after;
}

std::vector<IndexEffect> plan_indexes(const Table& table, const Change& change, CommitEntry& entry) {
  std::vector<IndexEffect> effects;
  for (const Index& index : table.indexes) {
    if (!reached(index.backfill, change.key)) continue;
    if (const IndexEffect effect = plan_index(index, change, entry); effect.write_units > 0) effects.push_back(effect);
  }
  return effects;
}

// Regardless of age, because an entry may have been made when the item was younger.
std::optional<std::int64_t> raw_expiry(const Table& table, const item::Item& item) {
  if (!table.time_to_live) return std::nullopt;
  const item::AttributeValue* value = item.find(table.time_to_live->attribute);
  const item::Number* number = value == nullptr ? nullptr : value->get_if<item::Number>();
  const std::optional<std::int64_t> second = number == nullptr ? std::nullopt : number->to_int64();
  return second && *second >= 0 ? second : std::nullopt;
}

void plan_expiry(const Table& table, const Change& change, base::TimePoint now, CommitEntry& entry) {
  const auto before = change.before ? raw_expiry(table, change.before->item) : std::nullopt;
  const auto after = change.after ? expiry_second(table, change.after->item, now) : std::nullopt;
  if (before == after) return;
  // If the item was noted in a group, that stays as it is.
  if (before) entry.remove(Family::expiry, expiry_key(table.id, *before, change.key));
  if (!after) return;
  if (before)
    entry.put(Family::expiry, expiry_key(table.id, *after, change.key), {});
  else
    entry.new_expiries.push_back({*after, change.key});
}

}  // namespace

item::Item projected(const Index& index, const item::Item& item) {
  if (index.projection == store::ProjectionType::all) return item;
  item::Item result;
  result.reserve(index.kept.size());
  for (const std::string& name : index.kept)
    if (const item::AttributeValue* value = item.find(name)) result.append(name, *value);
  return result;
}

std::optional<std::int64_t> expiry_second(const Table& table, const item::Item& item, base::TimePoint now) {
  constexpr std::int64_t five_years = 5LL * 365 * 24 * 3600;
  const std::optional<std::int64_t> second = raw_expiry(table, item);
  return second && *second >= base::epoch_seconds(now) - five_years ? second : std::nullopt;
}

std::vector<IndexEffect> plan_change(const Table& table, const Change& change, Origin origin, base::TimePoint now,
                                     CommitEntry& entry) {
  if (is_same(change)) return {};
  if (change.after)
    entry.put(Family::items, change.key, change.after->bytes);
  else
    entry.remove(Family::items, change.key);
  count(table.id, table.statistics, (change.after ? 1 : 0) - (change.before ? 1 : 0),
        static_cast<std::int64_t>(change.after ? change.after->size : 0) -
            static_cast<std::int64_t>(change.before ? change.before->size : 0),
        entry);
  std::vector<IndexEffect> effects = plan_indexes(table, change, entry);
  if (table.time_to_live && reached(table.time_to_live->backfill, change.key)) plan_expiry(table, change, now, entry);
  if (table.keeps_undo_records())
    entry.undo_appends.push_back({table.id, encode_undo_record(change.key, change.before)});
  if (table.stream)
    entry.stream_appends.push_back(
        {table.stream->id, encode_stream_record(table, table.stream->view, change.before, change.after, now,
                                                origin == Origin::time_to_live)});
  return effects;
}

std::vector<IndexEffect> index_effects(const Table& table, const Change& change, CommitEntry& planned) {
  if (is_same(change)) return {};
  return plan_indexes(table, change, planned);
}

std::vector<IndexPart> parts_of(const IndexEffect& effect, const CommitEntry& entry) {
  std::vector<IndexPart> parts;
  std::size_t mutation = effect.first_mutation;
  for (const double units : {effect.removal_units, effect.write_units - effect.removal_units}) {
    if (units == 0) continue;
    CHECK(mutation < entry.mutations.size());
    parts.push_back({entry.mutations[mutation++].key, units});
  }
  return parts;
}

double plan_index_entry(const Index& index, const std::string& key, const StoredItemPointer& item, CommitEntry& entry) {
  const Change appearance{key, nullptr, item};
  return plan_index(index, appearance, entry).write_units;
}

void plan_expiry_entry(const Table& table, const std::string& key, const StoredItem& item, base::TimePoint now,
                       CommitEntry& entry) {
  if (const auto second = expiry_second(table, item.item, now))
    entry.put(Family::expiry, expiry_key(table.id, *second, key), {});
}

}  // namespace postino::engine
