#include "store/stream.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/hash.h"

namespace postino::store {

namespace {

const std::string whole_sequence;  // the shard of a stream that is one sequence

const std::string& shard_of(const StreamRecord& record) { return record.shard ? *record.shard : whole_sequence; }

}  // namespace

std::optional<SequenceNumber> SequenceNumber::parse(std::string_view text) {
  const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
  if (text.empty() || text.size() > most_digits || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  SequenceNumber number;
  std::ranges::copy(text, number.digits_.end() - static_cast<std::ptrdiff_t>(text.size()));
  number.width_ = static_cast<std::uint8_t>(text.size());
  return number;
}

std::string SequenceNumber::text() const { return {digits_.end() - width_, digits_.end()}; }

std::string name_of(const StreamRecord& record) {
  std::string name = record.sequence_number.text();
  if (!record.shard) return name;
  char mark[20];
  std::snprintf(mark, sizeof mark, "-%016llx", static_cast<unsigned long long>(base::fast_hash(*record.shard)));
  return name + mark;
}

void StreamPlace::move_to(const StreamRecord& record) { positions[shard_of(record)] = record.sequence_number; }

bool StreamPlace::has_done(const StreamRecord& record) const {
  const auto position = positions.find(shard_of(record));
  return position != positions.end() && record.sequence_number <= position->second;
}

StreamPlace place_in_sequence(std::string stream, SequenceNumber position) {
  return {.stream = std::move(stream), .positions = {{whole_sequence, position}}};
}

}  // namespace postino::store
