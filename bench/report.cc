#include "report.h"

#include <cstdio>
#include <string>

namespace postino::bench {

namespace {

constexpr int name_width = 55;

std::string grouped(double value) {
  const std::string digits = std::to_string(static_cast<long long>(value + 0.5));
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result.push_back(',');
    result.push_back(digits[i]);
  }
  return result;
}

}  // namespace

std::string with_threads(const std::string& name, int threads) {
  return name + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

void Report::header() {
  std::printf("%-*s %11s %11s %17s %7s %5s\n", name_width, "", "engine/s", "raw/s", "CPU us/operation", "ratio", "bar");
  std::fflush(stdout);
}

void Report::row(std::string_view name, const Pace& engine, const Pace& raw, std::optional<double> bar) {
  const double ratio = engine.per_second / raw.per_second;
  std::printf("%-*.*s %11s %11s %8.1f %8.1f %7.2f", name_width, static_cast<int>(name.size()), name.data(),
              grouped(engine.per_second).c_str(), grouped(raw.per_second).c_str(), engine.cpu_microseconds,
              raw.cpu_microseconds, ratio);
  if (bar) {
    std::printf(" %5.2f  %s", *bar, ratio >= *bar ? "ok" : "below");
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
