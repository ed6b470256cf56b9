#include "api/statistics.h"

#include <algorithm>

#include "base/metrics_text.h"

namespace postino::api {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr double nanoseconds_per_second = 1e9;
constexpr std::string_view requests_name = "postino_api_requests_total";
constexpr std::string_view seconds_name = "postino_api_request_seconds";
constexpr std::array<std::string_view, 3> class_names = {"2xx", "4xx", "5xx"};

std::size_t class_of(int status) {
  if (status >= first_server_error) return 2;
  return status >= 400 ? 1 : 0;
}

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string labels_of(const Route& route) {
  return std::string("method=\"")
      .append(route.operation.method)
      .append("\",route=\"")
      .append(route.operation.path)
      .append("\"");
}

void append_line(std::string& out, std::string_view name, std::string_view labels, std::string_view value) {
  out.append(name).append("{").append(labels).append("} ").append(value).append("\n");
}

}  // namespace

constexpr std::array<double, Statistics::bucket_count> Statistics::bounds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};

Statistics::Statistics(const std::vector<Route>& routes)
    : routes_(routes), counters_(std::make_unique<Counters[]>(routes.size())) {}

void Statistics::count(const Route& route, int status, std::chrono::steady_clock::duration time) {
  Counters& counters = counters_[static_cast<std::size_t>(&route - routes_.data())];
  counters.classes[class_of(status)].fetch_add(1, relaxed);
  const double seconds = std::chrono::duration<double>(time).count();
  const auto bucket = static_cast<std::size_t>(std::ranges::lower_bound(bounds, seconds) - bounds.begin());
  counters.buckets[bucket].fetch_add(1, relaxed);
  counters.nanoseconds.fetch_add(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()), relaxed);
}

void Statistics::count_unrouted(int status) { unrouted_[class_of(status)].fetch_add(1, relaxed); }

void Statistics::append_to(std::string& out) const {
  append_requests(out);
  append_times(out);
  base::append_metric(out, "postino_api_undocumented_answers_total", "counter",
                      "Responses of the REST API with a status that the OpenAPI document does not list for the route.",
                      std::to_string(undocumented()));
}

void Statistics::append_requests(std::string& out) const {
  base::append_metric_head(out, requests_name, "counter",
                           "Requests to the REST API, by method, route and class of the response status.");
  const auto append_classes = [&](const Classes& classes, const std::string& labels) {
    for (std::size_t i = 0; i < classes.size(); ++i)
      append_line(out, requests_name, labels + ",status=\"" + std::string(class_names[i]) + "\"",
                  std::to_string(classes[i].load(relaxed)));
  };
  for (std::size_t i = 0; i < routes_.size(); ++i) append_classes(counters_[i].classes, labels_of(routes_[i]));
  append_classes(unrouted_, "method=\"\",route=\"\"");
}

void Statistics::append_times(std::string& out) const {
  base::append_metric_head(out, seconds_name, "histogram",
                           "Time from receiving a whole request to its response in the REST API, by method and route.");
  const std::string bucket_name = std::string(seconds_name) + "_bucket";
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const Counters& counters = counters_[i];
    const std::string labels = labels_of(routes_[i]);
    std::uint64_t total = 0;
    for (std::size_t bucket = 0; bucket <= bucket_count; ++bucket) {
      total += counters.buckets[bucket].load(relaxed);
      const std::string bound = bucket < bucket_count ? number(bounds[bucket]) : "+Inf";
      std::string bucket_labels = labels;
      bucket_labels.append(",le=\"").append(bound).append("\"");
      append_line(out, bucket_name, bucket_labels, std::to_string(total));
    }
    const double seconds = static_cast<double>(counters.nanoseconds.load(relaxed)) / nanoseconds_per_second;
    append_line(out, std::string(seconds_name) + "_sum", labels, std::to_string(seconds));
    append_line(out, std::string(seconds_name) + "_count", labels, std::to_string(total));
  }
}

}  // namespace postino::api
