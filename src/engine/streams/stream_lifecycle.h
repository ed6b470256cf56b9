// Turning a table's change stream on and off. Both run inside Core::change_catalog, where no write is being planned, so
// that every later change of the table belongs to the stream and no earlier one does.
#pragma once

#include <string>

#include "engine/catalog/core.h"

namespace postino::engine {

// Gives the table a new stream, known by the time it was made.
void open_stream(Core& core, CatalogState& state, CommitEntry& entry, Table& table, store::StreamViewType view);

// Closes the table's stream. Its records can be read until they are trimmed.
void close_stream(Core& core, CatalogState& state, CommitEntry& entry, Table& table);

// "2026-01-02T03:04:05.678".
std::string stream_label(base::TimePoint time);

}  // namespace postino::engine
