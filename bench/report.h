// The table that a benchmark prints, row by row as results come in.
#pragma once

#include <optional>
#include <string_view>

namespace postino::bench {

class Report {
 public:
  static void header();

  // Rates are operations per second. The bar is what engine / raw should at least be.
  void row(std::string_view name, double engine, double raw, std::optional<double> bar = std::nullopt);
  // A figure that has no counterpart.
  void fact(std::string_view name, std::string_view value);

  int below() const { return below_; }

 private:
  int below_ = 0;
};

}  // namespace postino::bench
