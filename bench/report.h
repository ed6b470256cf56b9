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
  static void header();

  // The bar is what the engine's rate divided by the raw one should at least be.
  void row(std::string_view name, const Pace& engine, const Pace& raw, std::optional<double> bar = std::nullopt);
  // A figure that has no counterpart.
  void fact(std::string_view name, std::string_view value);

  int below() const { return below_; }

 private:
  int below_ = 0;
};

}  // namespace postino::bench
