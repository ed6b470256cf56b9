#include "support/record/keys.h"

#include <algorithm>

#include "access/caller_scope.h"
#include "base/hash.h"
#include "base/timestamp.h"
#include "support/record/shards.h"

namespace postino::support {

namespace {

constexpr std::string_view tenant_begin = "TENANT#", ticket_begin = "TICKET#";
constexpr std::size_t date_length = 10, second_length = 19;
constexpr std::size_t plain_digits = 3;

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

// A tenant's name ends where the next # is.
std::string tenant_in_key(std::string_view tenant) {
  std::string text;
  for (const char letter : tenant) {
    if (letter == '#') {
      text += "%23";
    } else if (letter == '%') {
      text += "%25";
    } else {
      text += letter;
    }
  }
  return text;
}

std::string tenant_from_key(std::string_view text) {
  std::string tenant;
  while (!text.empty()) {
    const bool is_number_sign = text.starts_with("%23"), is_percent = text.starts_with("%25");
    tenant += is_number_sign ? '#' : is_percent ? '%' : text.front();
    text.remove_prefix(is_number_sign || is_percent ? 3 : 1);
  }
  return tenant;
}

}  // namespace

std::string write_time(base::TimePoint time) { return base::format_timestamp(time); }

std::string write_time_like(std::string_view model, base::TimePoint time) {
  std::string text = base::format_timestamp(time);
  const bool has_zone = model.size() <= date_length || model.find_first_of("Zz+-", date_length) != std::string::npos;
  if (has_zone) return text;
  text.back() = '0';  // "...05.123000"
  return text.append("00");
}

std::optional<base::TimePoint> read_time(std::string_view text) {
  const std::string given(text);
  for (const std::string& form : {given, given + "Z", text.size() == date_length ? given + "T00:00:00Z" : given})
    if (const auto time = base::parse_timestamp(form)) return *time;
  return std::nullopt;
}

std::string time_in_utc(std::string_view text) {
  if (text.ends_with('Z')) return std::string(text);
  if (std::string zoned = std::string(text) + "Z"; base::parse_timestamp(zoned)) return zoned;
  const auto time = read_time(text);
  return time ? write_time(*time) : std::string(text);
}

std::string first_key_of_second(base::TimePoint time) { return base::format_timestamp(time).substr(0, second_length); }

std::string date_of(base::TimePoint time) { return base::format_timestamp(time).substr(0, date_length); }

bool is_date(std::string_view text) { return text.size() == date_length && read_time(text).has_value(); }

std::string event_number(std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() <= plain_digits) return std::string(plain_digits - digits.size(), '0') + digits;
  return std::string(1, static_cast<char>('A' + static_cast<int>(digits.size() - plain_digits - 1))) + digits;
}

std::optional<std::int64_t> parse_event_number(std::string_view text) {
  constexpr std::size_t most_digits = 18;
  if (text.size() > plain_digits + 1 && text.front() >= 'A' && text.front() <= 'Z') text.remove_prefix(1);
  if (!is_digits(text) || text.size() > most_digits) return std::nullopt;
  return std::stoll(std::string(text));
}

std::string event_sort(std::string_view date, std::int64_t number) {
  return std::string(event_begin).append(date).append("#").append(event_number(number));
}

std::string plain_event_sort(std::string_view date, std::int64_t number) {
  const std::string digits = std::to_string(number);
  const std::size_t zeros = plain_digits - std::min(plain_digits, digits.size());
  return std::string(event_begin).append(date).append("#").append(zeros, '0').append(digits);
}

std::optional<TicketPlace> parse_ticket_partition(std::string_view pk) {
  TicketPlace place;
  if (pk.starts_with(tenant_begin)) {
    pk.remove_prefix(tenant_begin.size());
    const std::size_t end = pk.find('#');
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    place.tenant = tenant_from_key(pk.substr(0, end));
    pk.remove_prefix(end + 1);
  }
  if (!pk.starts_with(ticket_begin) || pk.size() == ticket_begin.size()) return std::nullopt;
  place.ticket_id = std::string(pk.substr(ticket_begin.size()));
  return place;
}

Keys::Keys(std::string tenant, const std::optional<std::string>& bound_customer, TicketShards shards)
    : tenant_(std::move(tenant)),
      prefix_(tenant_.empty() ? "" : std::string(tenant_begin) + tenant_in_key(tenant_) + "#"),
      shards_(shards),
      customer_(bound_customer ? tenant_in_key(*bound_customer) + "#" : "") {
  access::CallerScope::check(tenant_, bound_customer);
}

std::string Keys::of(std::string_view kind, std::string_view name) const {
  std::string text;
  text.reserve(prefix_.size() + kind.size() + name.size());
  return text.append(prefix_).append(kind).append(name);
}

std::string Keys::own(const std::string& kind, std::string_view key) const {
  if (customer_.empty()) return of(kind + "#", key);
  return of(kind + "_OF#", customer_ + std::string(key));
}

std::string Keys::shard_of(std::string partition, std::string_view ticket_id) const {
  return Shards(std::move(partition), shards_.count, shards_.ever).of(ticket_id);
}

std::vector<std::string> Keys::shards_of(std::string partition) const {
  return Shards(std::move(partition), shards_.count, shards_.ever).all();
}

int Keys::handover_shard(std::string_view email_id) {
  return static_cast<int>(base::fast_hash(email_id) % static_cast<std::uint64_t>(handover_shards));
}

std::string customer_sort_begin(TicketStatus status) {
  return std::string("STATUS#").append(name_of(status)).append("#");
}

}  // namespace postino::support
