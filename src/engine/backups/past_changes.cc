#include "engine/backups/past_changes.h"

#include <iterator>

#include "engine/catalog/undo_record.h"
#include "engine/items/key_rules.h"
#include "engine/storage/stored_item.h"

namespace postino::engine {

namespace {

// Of one portion.
constexpr std::size_t records_walked_over = 20'000;
constexpr std::size_t changes_per_portion = 500;
constexpr std::size_t bytes_of_entry = 192;  // with the node that has it

std::size_t image_bytes(const std::optional<std::string>& image) { return image ? image->size() : 0; }

store::Answer<std::optional<item::Item>> image_item(const std::optional<std::string>& image) {
  if (!image) return std::optional<item::Item>();
  TRY(MeasuredItem read, read_item(*image));
  return std::optional<item::Item>(std::move(read.item));
}

}  // namespace

PastChanges::PastChanges(const Database& database, TablePointer table, base::TimePoint from, base::TimePoint end,
                         std::size_t most_bytes)
    : database_(database),
      table_(std::move(table)),
      snapshot_(database),
      end_(base::epoch_milliseconds(end)),
      prefix_(id_prefix(table_->id)),
      after_table_(id_prefix(table_->id + 1)),
      first_record_(undo_key(table_->id, base::epoch_milliseconds(from), 0)),
      records_lower_(first_record_),
      records_upper_(after_table_),
      most_bytes_(most_bytes),
      from_key_(prefix_),
      until_key_(after_table_) {
  open_records();
}

void PastChanges::open_records() {
  records_ = database_.iterate(Family::undo, records_lower_, records_upper_, snapshot_.get());
  records_->SeekToFirst();
}

store::Answer<store::ChangePortion> PastChanges::next() {
  store::ChangePortion portion;
  if (records_) {
    TRY(const bool all, walk_over_records());
    if (!all) return portion;
    records_.reset();
  }
  while (!written_.empty() && portion.changes.size() < changes_per_portion) {
    const auto first = written_.extract(written_.begin());
    if (!first.mapped().counts) continue;
    TRY(store::ItemChange change, change_of(first.key(), first.mapped()));
    portion.changes.push_back(std::move(change));
  }
  if (!written_.empty()) return portion;
  bytes_ = 0;
  portion.is_last = until_key_ == after_table_;
  if (portion.is_last) return portion;
  from_key_ = until_key_;
  until_key_ = after_table_;
  open_records();
  return portion;
}

base::Result<bool> PastChanges::walk_over_records() {
  for (std::size_t count = 0; records_->Valid(); records_->Next(), ++count) {
    if (count == records_walked_over) return false;
    const auto place = parse_undo_key(records_->key().ToStringView());
    if (!place) return base::fail(base::ErrorCode::corrupt, "an undo record has a key of another form");
    TRY(const UndoRecord record, read_undo_record(records_->value().ToStringView()));
    note(place->time, record.key_rest, record.image);
  }
  if (!records_->status().ok()) return base::propagate(error_from(records_->status()));
  return true;
}

void PastChanges::note(std::int64_t time, std::string_view key_rest, const std::optional<std::string_view>& image) {
  std::string key = prefix_;
  key.append(key_rest);
  if (key < from_key_ || key >= until_key_) return;
  const bool is_later = time >= end_;
  auto found = written_.find(key);
  // What was written later alone matters to none of the changes.
  if (found == written_.end() && is_later) return;
  const Image was = image ? Image(*image) : std::nullopt;
  if (found == written_.end()) {
    bytes_ += bytes_of_entry + key.size() + image_bytes(was);
    written_.emplace(std::move(key), Written{was, std::nullopt, time, true});
  } else if (!is_later) {
    found->second.last = time;
  } else if (!found->second.after) {
    bytes_ += image_bytes(was);
    found->second.after = was;
  }
  while (bytes_ > most_bytes_ && written_.size() > 1) forget_last_key();
}

void PastChanges::forget_last_key() {
  const auto last = std::prev(written_.end());
  bytes_ -= bytes_of_entry + last->first.size() + image_bytes(last->second.before);
  if (last->second.after) bytes_ -= image_bytes(*last->second.after);
  until_key_ = last->first;
  written_.erase(last);
}

store::Answer<store::ItemChange> PastChanges::change_of(const std::string& key, const Written& written) const {
  store::ItemChange change;
  change.written = base::from_epoch_milliseconds(written.last);
  Image after;
  if (written.after) {
    after = *written.after;
  } else {
    TRY(const auto stored, database_.get(Family::items, key, snapshot_.get()));
    if (stored) after = stored->ToString();
  }
  TRY(change.before, image_item(written.before));
  TRY(change.after, image_item(after));
  if (change.after)
    change.key = key_of(*table_, *change.after);
  else if (change.before)
    change.key = key_of(*table_, *change.before);
  return change;
}

}  // namespace postino::engine
