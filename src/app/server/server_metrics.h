// What happens at the connections of the listening servers, and to the writes of the store, for /metrics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "http/server.h"

namespace postino::app {

struct NamedServerCounts {
  std::string_view server;  // the value of the label: "dynamodb"
  http::ServerCounts counts;
};

// Appends each metric with one sample per server.
void append_server_metrics(std::string& out, const std::vector<NamedServerCounts>& servers);

// Whether the store takes writes, the room on its disk, and what it has written.
void append_store_metrics(std::string& out, const engine::WriteHealth& health, const engine::WriteCounts& counts);

}  // namespace postino::app
