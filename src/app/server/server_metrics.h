// What happens at the connections of the listening servers, for /metrics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/server.h"

namespace postino::app {

struct NamedServerCounts {
  std::string_view server;  // the value of the label: "dynamodb"
  http::ServerCounts counts;
};

// Appends each metric with one sample per server.
void append_server_metrics(std::string& out, const std::vector<NamedServerCounts>& servers);

}  // namespace postino::app
