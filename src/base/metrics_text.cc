#include "base/metrics_text.h"

namespace postino::base {

void append_metric_head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help);
  out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void append_metric(std::string& out, std::string_view name, std::string_view type, std::string_view help,
                   std::string_view value) {
  append_metric_head(out, name, type, help);
  out.append(name).append(" ").append(value).append("\n");
}

}  // namespace postino::base
