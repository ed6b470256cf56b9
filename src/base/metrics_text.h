// Metrics in Prometheus' text format.
#pragma once

#include <string>
#include <string_view>

namespace postino::base {

// The lines that come before the values of a metric. `type` is counter, gauge or histogram.
void append_metric_head(std::string& out, std::string_view name, std::string_view type, std::string_view help);

// A metric that has one value.
void append_metric(std::string& out, std::string_view name, std::string_view type, std::string_view help,
                   std::string_view value);

}  // namespace postino::base
