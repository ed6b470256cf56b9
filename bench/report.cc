#include "report.h"

#include <cstdio>
#include <string>

namespace postino::bench {

namespace {

constexpr int name_width = 50;

std::string grouped(double value) {
  std::string digits = std::to_string(static_cast<long long>(value + 0.5));
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

}  // namespace

void Report::header() {
  std::printf("%-*s %12s %12s %7s %6s\n", name_width, "", "engine/s", "raw/s", "ratio", "bar");
  std::fflush(stdout);
}

void Report::row(std::string_view name, double engine, double raw, std::optional<double> bar) {
  const double ratio = engine / raw;
  std::printf("%-*.*s %12s %12s %7.2f", name_width, static_cast<int>(name.size()), name.data(), grouped(engine).c_str(),
              grouped(raw).c_str(), ratio);
  if (bar) {
    std::printf(" %6.2f  %s", *bar, ratio >= *bar ? "ok" : "below");
    if (ratio < *bar) ++below_;
  }
  std::printf("\n");
  std::fflush(stdout);
}

void Report::fact(std::string_view name, std::string_view value) {
  std::printf("%-*.*s %.*s\n", name_width, static_cast<int>(name.size()), name.data(), static_cast<int>(value.size()),
              value.data());
  std::fflush(stdout);
}

}  // namespace postino::bench
