#include "outbox/ledger/spool_names.h"

#include <charconv>

#include "base/hash.h"

namespace postino::outbox {

namespace {

// Hexadecimal digits of each part. Earlier versions had the first one alone.
constexpr std::size_t part_size = 8;

std::string sum_of(std::string_view bytes) { return base::to_hex(base::sha256(bytes)).substr(0, part_size); }

std::string in_hexadecimal(std::size_t size) {
  std::string digits(part_size, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, size /= 16)
    *digit = "0123456789abcdef"[size % 16];
  return digits;
}

std::optional<std::string_view> distinction_in(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::size_t dash = name.rfind('-');
  if (dot == std::string_view::npos || dash == std::string_view::npos || dash > dot) return std::nullopt;
  const std::string_view distinction = name.substr(dash + 1, dot - dash - 1);
  if (distinction.empty() || distinction.size() % part_size != 0 || distinction.size() > 3 * part_size)
    return std::nullopt;
  if (distinction.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  return distinction;
}

}  // namespace

std::string new_spool_name(const SpoolObject& object, SizeInName size, base::Random& random) {
  std::string distinction = base::make_uuid(random).substr(0, part_size) + sum_of(object.bytes);
  if (size == SizeInName::told) distinction += in_hexadecimal(object.bytes.size());
  return spool_path(object, distinction);
}

bool is_spool_name(std::string_view path) { return distinction_in(path).has_value(); }

std::optional<std::size_t> size_in_spool_name(std::string_view path) {
  const auto distinction = distinction_in(path);
  if (!distinction || distinction->size() < 3 * part_size) return std::nullopt;
  const std::string_view digits = distinction->substr(2 * part_size);
  std::size_t size = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  return size;
}

bool contradicts_spool_name(std::string_view path, std::string_view bytes) {
  const auto distinction = distinction_in(path);
  if (!distinction || distinction->size() < 2 * part_size) return false;
  if (size_in_spool_name(path).value_or(bytes.size()) != bytes.size()) return true;
  return distinction->substr(part_size, part_size) != sum_of(bytes);
}

}  // namespace postino::outbox
