#include "engine/streams/stream_reader.h"

#include <algorithm>

#include "engine/storage/keys.h"
#include "engine/streams/stream_record.h"

namespace postino::engine {

namespace {

constexpr std::int64_t max_page_bytes = 1 << 20;

StreamPointer find_stream_of(const Core& core, ObjectId id) {
  const CatalogStatePointer state = core.catalog->state();
  const auto found = state->streams.find(id);
  return found == state->streams.end() ? nullptr : found->second;
}

}  // namespace

StreamReader::StreamReader(const Core& core, ObjectId stream)
    : id_(stream),
      oldest_(core.now() - store::stream_retention),
      settled_(core.queue->settled_sequence_number()),
      lower_(id_prefix(stream)),
      upper_(id_prefix(stream + 1)),
      lower_bound_(lower_),
      upper_bound_(upper_),
      records_(core.database->iterate(Family::streams, lower_bound_, upper_bound_)),
      stream_(find_stream_of(core, stream)) {}

base::Result<bool> StreamReader::on_record_before(RecordNumber until) const {
  if (records_->Valid()) return sequence_number_of(records_->key().ToStringView()) < until;
  if (!records_->status().ok()) return base::propagate(error_from(records_->status()));
  return false;
}

base::Result<bool> StreamReader::seek(RecordNumber from, RecordNumber until) {
  records_->Seek(stream_key(id_, from));
  return on_record_before(until);
}

base::Result<bool> StreamReader::too_old() const {
  TRY(const base::TimePoint time, time_of_stream_record(records_->value().ToStringView()));
  return time < oldest_;
}

base::Result<bool> StreamReader::trimmed(RecordNumber from, RecordNumber until) {
  if (from < std::min(until, stream_->trimmed_until)) return true;
  TRY(const bool found, seek(from, until));
  return found ? too_old() : false;
}

base::Result<RecordNumber> StreamReader::oldest_kept(RecordNumber from, RecordNumber until) {
  RecordNumber low = std::clamp(stream_->trimmed_until, from, until);
  TRY(const bool any_too_old, trimmed(low, until));
  if (!any_too_old) return low;
  // Trimming may be far behind, so halve the range: records before `low` are too old, the first from `high` on is not.
  RecordNumber high = std::min(until, settled_);
  while (low < high) {
    const RecordNumber middle = low + (high - low) / 2;
    TRY(const bool found, seek(middle, high));
    TRY(const bool old, found ? too_old() : base::Result<bool>(false));
    if (old)
      low = sequence_number_of(records_->key().ToStringView()) + 1;
    else
      high = middle;
  }
  return low;
}

store::Answer<StreamReader::Page> StreamReader::read(RecordNumber from, RecordNumber until, int limit,
                                                     store::ReadAllowance* allowance) {
  Page page;
  page.next = from;
  std::int64_t bytes = 0;
  TRY(bool more, seek(from, until));
  while (more && page.records.size() < static_cast<std::size_t>(limit)) {
    TRY(store::StreamRecord record, decode_stream_record(records_->value().ToStringView()));
    bytes += record.size_bytes;
    if (bytes > max_page_bytes && !page.records.empty()) return page;
    if (allowance != nullptr && !allowance->take(1, static_cast<std::size_t>(record.size_bytes)))
      return store::read_given_up();
    const RecordNumber number = sequence_number_of(records_->key().ToStringView());
    record.sequence_number = shown_number(number);
    page.next = number + 1;
    page.records.push_back(std::move(record));
    records_->Next();
    TRY(more, on_record_before(until));
  }
  page.complete = !more;
  return page;
}

tl::unexpected<store::Error> trimmed_data() {
  return store::refuse(store::ErrorType::trimmed_data_access, "The data you are trying to access has been trimmed");
}

}  // namespace postino::engine
