#include "base/memory_budget.h"

#include "base/metrics_text.h"

namespace postino::base {

void append_memory_metrics(std::string& out,
                           std::initializer_list<std::pair<std::string_view, const MemoryBudget*>> budgets) {
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    append_metric_head(out, name, type, help);
    for (const auto& [use, budget] : budgets)
      out.append(name).append("{use=\"").append(use).append("\"} ").append(std::to_string(value(*budget))).append("\n");
  };
  add("postino_memory_taken_bytes", "gauge", "Memory that requests take, where it has a limit.",
      [](const MemoryBudget& budget) { return budget.taken(); });
  add("postino_memory_limit_bytes", "gauge", "Memory that requests may take.",
      [](const MemoryBudget& budget) { return budget.limit(); });
  add("postino_memory_refused_total", "counter", "Requests that were refused because too much memory was taken.",
      [](const MemoryBudget& budget) { return budget.refused(); });
}

}  // namespace postino::base
