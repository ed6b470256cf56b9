#include "app/server/server_metrics.h"

#include "base/metrics_text.h"

namespace postino::app {

namespace {

struct ServerMetric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  std::uint64_t net::HttpServerCounts::*count;
};

constexpr ServerMetric server_metrics[] = {
    {"postino_http_connections", "gauge", "Open connections, by server.", &net::HttpServerCounts::connections},
    {"postino_http_connections_accepted_total", "counter", "Connections accepted, by server.",
     &net::HttpServerCounts::accepted},
    {"postino_http_connections_refused_total", "counter",
     "Connections closed at once because max_connections were open, by server.", &net::HttpServerCounts::refused},
    {"postino_http_timeouts_total", "counter",
     "Connections closed because the client was idle, or too slow to send or to receive, by server.",
     &net::HttpServerCounts::timed_out},
    {"postino_http_malformed_total", "counter",
     "Requests refused because they broke the protocol or exceeded a limit, by server.",
     &net::HttpServerCounts::malformed},
    {"postino_http_overloaded_total", "counter",
     "Requests refused because the bodies of all current requests exceeded the memory for them, by server.",
     &net::HttpServerCounts::overloaded},
};

}  // namespace

void append_server_metrics(std::string& out, const std::vector<NamedServerCounts>& servers) {
  for (const ServerMetric& metric : server_metrics) {
    base::append_metric_head(out, metric.name, metric.type, metric.help);
    for (const NamedServerCounts& each : servers)
      out.append(metric.name)
          .append("{server=\"")
          .append(each.server)
          .append("\"} ")
          .append(std::to_string(each.counts.*metric.count))
          .append("\n");
  }
}

}  // namespace postino::app
