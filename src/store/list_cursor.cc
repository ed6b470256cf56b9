#include "store/list_cursor.h"

#include <algorithm>

#include "base/base64.h"
#include "base/hash.h"

namespace postino::store {

namespace {

constexpr std::size_t check_length = 8;

// Guards against mistakes, not against malice: a caller that may list may begin anywhere.
std::string check_digits(std::string_view list, std::string_view position) {
  std::string text = "postino list ";
  text.append(list).append("\n").append(position);
  return base::to_hex(base::sha256(text)).substr(0, check_length);
}

}  // namespace

std::string make_cursor(std::string_view list, std::string_view position) {
  std::string text = base::to_base64(position);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return check_digits(list, position) + text;
}

base::Result<std::string> read_cursor(std::string_view list, std::string_view cursor) {
  std::string text(cursor.substr(std::min(check_length, cursor.size())));
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  while (text.size() % 4 != 0) text += '=';
  auto position = base::from_base64(text);
  if (text.empty() || !position || check_digits(list, *position) != cursor.substr(0, check_length))
    return base::invalid("cursor must be that of an earlier page");
  return position;
}

std::string tenant_cursor(const std::string& tenant, const std::string& cursor) {
  return tenant.empty() || cursor.empty() ? cursor : make_cursor("of tenant " + tenant, cursor);
}

base::Result<std::string> read_tenant_cursor(const std::string& tenant, const std::string& cursor) {
  if (tenant.empty() || cursor.empty()) return cursor;
  return read_cursor("of tenant " + tenant, cursor);
}

}  // namespace postino::store
