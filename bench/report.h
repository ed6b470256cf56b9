// The table that a benchmark prints, row by row as results come in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rounds.h"

namespace postino::bench {

// A row's name: "put, 16 threads".
std::string with_threads(const std::string& name, int threads);

class Report {
 public:
  // The contestants' names.
  static void header(std::string_view ours = "engine", std::string_view other = "raw");

  // The bar is what our rate divided by the other one should at least be. Without the other its columns stay empty.
  void row(std::string_view name, const Pace& ours, const std::optional<Pace>& other,
           std::optional<double> bar = std::nullopt);
  // A ratio that should be no more than the bar.
  void ceiling(std::string_view name, std::string_view value, double ratio, double bar);
  // A figure that has no counterpart.
  void fact(std::string_view name, std::string_view value);

  int below() const { return below_; }

 private:
  int below_ = 0;
};

}  // namespace postino::bench
