#include "engine/streams/stream_lifecycle.h"

#include <algorithm>
#include <cstdio>

#include "base/check.h"

namespace postino::engine {

namespace {

bool is_taken(const CatalogState& state, const std::string& table_name, const std::string& label) {
  return std::ranges::any_of(state.streams, [&](const auto& entry) {
    return entry.second->table_name == table_name && entry.second->label == label;
  });
}

}  // namespace

std::string stream_label(base::TimePoint time) {
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

void open_stream(Core& core, CatalogState& state, CommitEntry& entry, Table& table, store::StreamViewType view) {
  const base::TimePoint now = core.now();
  Stream stream;
  stream.id = core.catalog->take_id(entry);
  stream.table_name = table.name;
  stream.view = view;
  stream.created = now;
  stream.key_schema = key_schema_of(table);
  base::TimePoint label_time = now;
  stream.label = stream_label(label_time);
  while (is_taken(state, table.name, stream.label)) {
    label_time += base::Milliseconds(1);
    stream.label = stream_label(label_time);
  }
  StreamShard shard;
  shard.created = now;
  shard.first = core.queue->next_sequence_number();
  stream.shards.push_back(std::move(shard));
  table.stream = EnabledStream{stream.id, view};
  table.latest_stream_label = stream.label;
  put_stream(entry, stream);
  const ObjectId id = stream.id;
  state.streams.insert_or_assign(id, std::make_shared<const Stream>(std::move(stream)));
}

void close_stream(Core& core, CatalogState& state, CommitEntry& entry, Table& table) {
  CHECK(table.stream.has_value());
  const auto found = state.streams.find(table.stream->id);
  CHECK(found != state.streams.end());
  Stream stream = *found->second;
  stream.enabled = false;
  stream.shards.back().end = core.queue->next_sequence_number();
  stream.shards.back().closed = core.now();
  table.stream.reset();
  put_stream(entry, stream);
  found->second = std::make_shared<const Stream>(std::move(stream));
}

}  // namespace postino::engine
