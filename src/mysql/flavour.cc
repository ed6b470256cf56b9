#include "mysql/flavour.h"

#include <charconv>
#include <cstdio>
#include <tuple>

namespace postino::mysql {

namespace {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
};

// Numbers that are missing are 0.
Version parse(std::string_view text) {
  Version version;
  for (int* number : {&version.major, &version.minor, &version.patch}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (error != std::errc()) break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return version;
}

// MariaDB puts this in front, where old replicas have to understand its version.
constexpr std::string_view replication_prefix = "5.5.5-";

}  // namespace

Result<Flavour> Flavour::of(std::string_view version) {
  const bool is_mariadb = version.find("MariaDB") != std::string_view::npos;
  std::string_view numbers = version;
  if (is_mariadb && numbers.starts_with(replication_prefix)) numbers.remove_prefix(replication_prefix.size());
  const auto [major, minor, patch] = parse(numbers);
  const std::tuple oldest = is_mariadb ? std::tuple(10, 6, 0) : std::tuple(8, 0, 13);
  if (std::tuple(major, minor, patch) < oldest)
    return fail(ErrorKind::refused, 0,
                "the server's version is " + std::string(version) + "; MariaDB 10.6 or MySQL 8.0.13 is needed");
  return Flavour{is_mariadb ? Product::mariadb : Product::mysql, major, minor, patch};
}

std::string Flavour::statement_limit(base::Milliseconds limit) const {
  const auto count = static_cast<long long>(limit.count());
  if (product == Product::mysql) return "max_execution_time=" + std::to_string(count);
  char seconds[40];
  std::snprintf(seconds, sizeof seconds, "%lld.%03lld", count / 1'000, count % 1'000);
  return std::string("max_statement_time=") + seconds;
}

std::string Flavour::name() const {
  return (product == Product::mariadb ? "MariaDB " : "MySQL ") + std::to_string(major) + "." + std::to_string(minor) +
         "." + std::to_string(patch);
}

}  // namespace postino::mysql
