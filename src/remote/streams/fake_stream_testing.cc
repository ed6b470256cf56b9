#include "remote/streams/fake_stream_testing.h"

#include <algorithm>
#include <charconv>

namespace postino::remote {

namespace {

tl::unexpected<store::Error> fake_trimmed() { return store::refuse(store::ErrorType::trimmed_data_access, "trimmed"); }

template <class Failures>
std::optional<store::Error> next_failure(Failures& failures) {
  if (failures.empty()) return std::nullopt;
  const store::ErrorType type = failures.front();
  failures.pop_front();
  return store::Error(type, "by plan");
}

}  // namespace

store::SequenceNumber FakeStream::next_number() {
  std::string digits = std::to_string(++last_number_);
  return store::SequenceNumber::parse("4916500000" + std::string(15 - digits.size(), '0') + digits).value();
}

void FakeStream::open_shard(const std::string& id, const std::string& parent) {
  FakeShard opened;
  opened.parent = parent;
  opened.starting = next_number();
  shards_.emplace(id, std::move(opened));
}

void FakeStream::split(const std::string& id, const std::vector<std::string>& children) {
  close_shard(id);
  for (const std::string& child : children) open_shard(child, id);
}

void FakeStream::write(const std::string& id, const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    store::StreamRecord record;
    record.sequence_number = next_number();
    record.keys = {{"id", item}};
    record.size_bytes = 100;
    record.time = clock_.now() - lag;
    numbers_[item] = record.sequence_number;
    shard(id).records.push_back(std::move(record));
  }
}

store::Answer<store::TableDescription> FakeStream::describe_table(const std::string& table) {
  store::TableDescription description;
  description.name = table;
  if (is_enabled) description.stream = store::StreamViewType::keys_only;
  description.latest_stream_arn = fake_stream;
  return description;
}

store::Answer<store::StreamDescription> FakeStream::describe_stream(const store::DescribeStreamRequest& request) {
  if (auto failure = next_failure(description_failures)) return base::propagate(*std::move(failure));
  if (is_gone || request.stream_arn != fake_stream)
    return store::refuse(store::ErrorType::resource_not_found, "there is no such stream");
  store::StreamDescription description;
  description.status = is_enabled ? store::StreamStatus::enabled : store::StreamStatus::disabled;
  for (const auto& [id, shard] : shards_) {
    if (shard.is_hidden || (request.exclusive_start_shard_id && id <= *request.exclusive_start_shard_id)) continue;
    if (description.shards.size() == shards_per_page) {
      description.last_evaluated_shard_id = description.shards.back().id;
      break;
    }
    store::Shard shown;
    shown.id = id;
    if (!shard.parent.empty()) shown.parent_id = shard.parent;
    shown.starting = shard.starting;
    if (shard.is_closed) shown.ending = shard.records.empty() ? shard.starting : shard.records.back().sequence_number;
    description.shards.push_back(std::move(shown));
  }
  return description;
}

// "{shard} {index} {generation}"
std::string FakeStream::iterator_at(const std::string& id, std::size_t index) const {
  return id + " " + std::to_string(index) + " " + std::to_string(generation_);
}

store::Answer<std::size_t> FakeStream::index_of(const FakeShard& shard,
                                                const store::GetShardIteratorRequest& request) const {
  if (request.type == store::IteratorType::trim_horizon) return shard.trimmed;
  const auto number = store::SequenceNumber::parse(request.sequence_number.value_or(""));
  if (number == shard.starting && knows_starting) {
    if (shard.trimmed > 0) return fake_trimmed();
    return std::size_t{0};
  }
  const auto found = std::ranges::find(shard.records, number, &store::StreamRecord::sequence_number);
  if (found == shard.records.end()) return store::refuse_invalid("Invalid SequenceNumber");
  const auto index = static_cast<std::size_t>(found - shard.records.begin());
  if (index < shard.trimmed) return fake_trimmed();
  return request.type == store::IteratorType::after_sequence_number ? index + 1 : index;
}

store::Answer<std::string> FakeStream::get_shard_iterator(const store::GetShardIteratorRequest& request) {
  const auto found = shards_.find(request.shard_id);
  if (found == shards_.end() || request.stream_arn != fake_stream)
    return store::refuse(store::ErrorType::resource_not_found, "there is no such shard");
  TRY(const std::size_t index, index_of(found->second, request));
  return iterator_at(request.shard_id, index);
}

store::Answer<store::GetRecordsResponse> FakeStream::get_records(const store::GetRecordsRequest& request) {
  const std::string& text = request.shard_iterator;
  const std::size_t space = text.find(' ');
  const std::string id = text.substr(0, space);
  std::size_t index = 0;
  const auto parsed = std::from_chars(text.data() + space + 1, text.data() + text.size(), index);
  reads[id].push_back(clock_.monotonic());
  if (auto failure = next_failure(failures[id])) return base::propagate(*std::move(failure));
  if (std::string(parsed.ptr + 1) != std::to_string(generation_))
    return store::refuse(store::ErrorType::expired_iterator, "expired");
  const auto found = shards_.find(id);
  if (found == shards_.end()) return store::refuse(store::ErrorType::resource_not_found, "there is no such shard");
  const FakeShard& shard = found->second;
  if (index < shard.trimmed) return fake_trimmed();
  store::GetRecordsResponse page;
  const std::size_t limit = empty_pages > 0 ? 0 : static_cast<std::size_t>(request.limit.value_or(1'000));
  if (empty_pages > 0) --empty_pages;
  for (; index < shard.records.size() && page.records.size() < limit; ++index)
    page.records.push_back(shard.records[index]);
  if (!shard.is_closed || index < shard.records.size()) page.next_shard_iterator = iterator_at(id, index);
  return page;
}

}  // namespace postino::remote
