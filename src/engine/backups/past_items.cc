#include "engine/backups/past_items.h"

#include <iterator>

#include "engine/catalog/undo_record.h"

namespace postino::engine {

namespace {

// Of one portion.
constexpr std::size_t records_per_portion = 20'000;
constexpr std::size_t record_bytes_per_portion = 16 << 20;
constexpr std::size_t keys_per_portion = 4'000;
constexpr std::size_t item_bytes_per_portion = 512 << 10;

// What a key and its image take, with the node that has them.
std::size_t bytes_of(const std::string& key, const std::optional<std::string>& image) {
  constexpr std::size_t node = 128;
  return node + key.size() + (image ? image->size() : 0);
}

}  // namespace

PastItems::PastItems(const Database& database, ObjectId table, base::TimePoint end, std::string_view after,
                     std::size_t most_bytes)
    : database_(database),
      snapshot_(database),
      prefix_(id_prefix(table)),
      end_(id_prefix(table + 1)),
      first_record_(undo_key(table, base::epoch_milliseconds(end), 0)),
      records_lower_(first_record_),
      records_upper_(end_),
      most_bytes_(most_bytes),
      from_(after.empty() ? prefix_ : std::string(after) + '\0'),
      until_(end_) {
  open_records();
}

void PastItems::open_records() {
  records_ = database_.iterate(Family::undo, records_lower_, records_upper_, snapshot_.get());
  records_->SeekToFirst();
}

void PastItems::open_items() {
  items_lower_ = rocksdb::Slice(from_);
  items_upper_ = rocksdb::Slice(until_);
  items_ = database_.iterate(Family::items, items_lower_, items_upper_, snapshot_.get());
  items_->SeekToFirst();
}

base::Result<PastItems::Portion> PastItems::next() {
  Portion portion;
  if (records_) {
    TRY(const bool all, walk_over_records());
    if (!all) return portion;
    records_.reset();
    open_items();
  }
  TRY_VOID(merge(portion));
  return portion;
}

base::Result<bool> PastItems::walk_over_records() {
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (; records_->Valid(); records_->Next()) {
    if (count == records_per_portion || bytes >= record_bytes_per_portion) return false;
    const std::string_view value = records_->value().ToStringView();
    TRY(const UndoRecord record, read_undo_record(value));
    note_image(record.key_rest, record.image);
    ++count;
    bytes += value.size();
  }
  if (!records_->status().ok()) return base::propagate(error_from(records_->status()));
  return true;
}

void PastItems::note_image(std::string_view key_rest, const std::optional<std::string_view>& image) {
  std::string key = prefix_;
  key.append(key_rest);
  if (key < from_ || key >= until_) return;
  const auto place = images_.lower_bound(key);
  if (place != images_.end() && place->first == key) return;  // an older record had it
  const auto added =
      images_.emplace_hint(place, std::move(key), image ? std::optional<std::string>(*image) : std::nullopt);
  image_bytes_ += bytes_of(added->first, added->second);
  while (image_bytes_ > most_bytes_ && images_.size() > 1) {
    const auto last = std::prev(images_.end());
    image_bytes_ -= bytes_of(last->first, last->second);
    until_ = last->first;
    images_.erase(last);
  }
}

base::Result<void> PastItems::merge(Portion& portion) {
  std::size_t bytes = 0;
  for (std::size_t keys = 0; keys < keys_per_portion && bytes < item_bytes_per_portion; ++keys) {
    const std::size_t taken = portion.items.size();
    if (!images_.empty() && (!items_->Valid() || images_.begin()->first <= items_->key().ToStringView())) {
      take_image(portion);
    } else if (items_->Valid()) {
      portion.items.push_back({items_->key().ToString(), items_->value().ToString()});
      portion.reached = portion.items.back().key;
      items_->Next();
    } else {
      return end_part(portion);
    }
    if (portion.items.size() > taken) bytes += portion.items.back().value.size();
  }
  return {};
}

// The first of the old images, which is not behind the item that comes next.
void PastItems::take_image(Portion& portion) {
  auto image = images_.extract(images_.begin());
  image_bytes_ -= bytes_of(image.key(), image.mapped());
  if (items_->Valid() && items_->key() == image.key()) items_->Next();
  portion.reached = image.key();
  if (image.mapped()) portion.items.push_back({std::move(image.key()), *std::move(image.mapped())});
}

base::Result<void> PastItems::end_part(Portion& portion) {
  if (!items_->status().ok()) return base::propagate(error_from(items_->status()));
  items_.reset();
  portion.is_last = until_ == end_;
  if (portion.is_last) return {};
  from_ = until_;
  until_ = end_;
  open_records();
  return {};
}

}  // namespace postino::engine
