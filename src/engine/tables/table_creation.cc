#include "engine/tables/table_creation.h"

#include "engine/streams/stream_lifecycle.h"

namespace postino::engine {

store::Answer<void> check_room_for_table(const CatalogState& state) {
  constexpr std::size_t max_tables = 2'500;
  if (state.tables.size() < max_tables) return {};
  return store::refuse(store::ErrorType::limit_exceeded,
                       "Subscriber limit exceeded: There is a limit of 2500 tables per subscriber");
}

void commit_creation(Core& core, const std::optional<store::StreamSpecification>& stream, Table& table,
                     CatalogState& state, CommitEntry& entry) {
  table.id = core.catalog->take_id(entry);
  for (Index& index : table.indexes) index.id = core.catalog->take_id(entry);
  if (stream && stream->enabled) open_stream(core, state, entry, table, *stream->view_type);
  put_table(state, entry, table);
}

}  // namespace postino::engine
