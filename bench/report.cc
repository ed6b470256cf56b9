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

void Report::header(std::string_view ours, std::string_view other) {
  const auto rate = [](std::string_view name) { return std::string(name) + "/s"; };
  std::printf("%-*s %11s %11s %17s %7s %5s\n", name_width, "", rate(ours).c_str(), rate(other).c_str(),
              "CPU us/operation", "ratio", "bar");
  std::fflush(stdout);
}

void Report::row(std::string_view name, const Pace& ours, const std::optional<Pace>& other, std::optional<double> bar) {
  std::printf("%-*.*s %11s", name_width, static_cast<int>(name.size()), name.data(), grouped(ours.per_second).c_str());
  if (other) {
    const double ratio = ours.per_second / other->per_second;
    std::printf(" %11s %8.1f %8.1f %7.2f", grouped(other->per_second).c_str(), ours.cpu_microseconds,
                other->cpu_microseconds, ratio);
    if (bar) std::printf(" %5.2f  %s", *bar, ratio >= *bar ? "ok" : "below");
    if (bar && ratio < *bar) ++below_;
  } else {
    std::printf(" %11s %8.1f", "", ours.cpu_microseconds);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void Report::ceiling(std::string_view name, std::string_view value, double ratio, double bar) {
  std::printf("%-*.*s %41.*s %7.2f %5.2f  %s\n", name_width, static_cast<int>(name.size()), name.data(),
              static_cast<int>(value.size()), value.data(), ratio, bar, ratio <= bar ? "ok" : "above");
  if (ratio > bar) ++below_;
  std::fflush(stdout);
}

void Report::fact(std::string_view name, std::string_view value) {
  std::printf("%-*.*s %.*s\n", name_width, static_cast<int>(name.size()), name.data(), static_cast<int>(value.size()),
              value.data());
  std::fflush(stdout);
}

}  // namespace postino::bench
