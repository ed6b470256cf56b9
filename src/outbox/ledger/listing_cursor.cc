#include "outbox/ledger/listing_cursor.h"

#include "base/hash.h"

namespace postino::outbox {

namespace {

// Guards against mistakes, not against malice: a caller that may list may begin anywhere.
std::string check_digits(std::string_view position) {
  return base::to_hex(base::sha256("postino listing " + std::string(position))).substr(0, 8);
}

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::string make_cursor(std::string_view position) { return check_digits(position) + base::to_hex(position); }

base::Result<std::string> read_cursor(std::string_view cursor) {
  constexpr std::size_t check_length = 8;
  std::string position;
  bool valid = cursor.size() > check_length && cursor.size() % 2 == 0;
  for (std::size_t i = check_length; valid && i < cursor.size(); i += 2) {
    const int high = hex_value(cursor[i]);
    const int low = hex_value(cursor[i + 1]);
    valid = high >= 0 && low >= 0;
    position += static_cast<char>(high * 16 + low);
  }
  if (!valid || check_digits(position) != cursor.substr(0, check_length))
    return base::invalid("cursor must be that of an earlier page");
  return position;
}

}  // namespace postino::outbox
