#include "api/protocol/idempotency_headers.h"

#include <algorithm>
#include <charconv>

#include "api/protocol/limits.h"
#include "base/text.h"
#include "idempotency/key.h"

namespace postino::api {

namespace {

constexpr const char* key_header = "Idempotency-Key";
constexpr const char* life_header = "Idempotency-Expiry-Seconds";

// What is between the quotes; nullopt when it is not one quoted string.
std::optional<std::string> unquote(std::string_view text) {
  if (text.size() < 2 || text.back() != '"') return std::nullopt;
  std::string unquoted;
  const std::string_view inside = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '"') return std::nullopt;
    if (inside[i] == '\\') {
      ++i;
      if (i == inside.size() || (inside[i] != '"' && inside[i] != '\\')) return std::nullopt;
    }
    unquoted.push_back(inside[i]);
  }
  return unquoted;
}

base::Result<std::string, Problem> parse_key(std::string_view text) {
  std::optional<std::string> key = text.starts_with('"') ? unquote(text) : std::string(text);
  if (!key) return refuse_field(key_header, "must be one quoted string if it begins with a quote");
  if (!idempotency::is_key(*key)) return refuse_field(key_header, idempotency::key_rule());
  return *std::move(key);
}

base::Result<base::Milliseconds, Problem> parse_life(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < Limits::least_key_life_seconds ||
      seconds > Limits::most_key_life_seconds)
    return refuse_field(life_header, "must be an integer from " + std::to_string(Limits::least_key_life_seconds) +
                                         " to " + std::to_string(Limits::most_key_life_seconds));
  return std::chrono::seconds(seconds);
}

auto header_count(const http::Request& request, std::string_view name) {
  return std::ranges::count_if(request.headers,
                               [&](const auto& header) { return base::equal_ignoring_case(header.first, name); });
}

}  // namespace

base::Result<IdempotencyHeaders, Problem> read_loose_idempotency_headers(const http::Request& request) {
  for (const char* header : {key_header, life_header})
    if (header_count(request, header) > 1) return refuse_field(header, "must be given only once");
  IdempotencyHeaders headers;
  if (request.has_header(key_header)) {
    TRY(headers.key, parse_key(request.header(key_header)));
  }
  if (request.has_header(life_header)) {
    TRY(headers.life, parse_life(request.header(life_header)));
  }
  return headers;
}

base::Result<std::optional<IdempotencyHeaders>, Problem> read_idempotency_headers(const http::Request& request) {
  TRY(IdempotencyHeaders headers, read_loose_idempotency_headers(request));
  if (!headers.key.empty()) return std::optional(std::move(headers));
  if (headers.life) return refuse_field(key_header, "is required with Idempotency-Expiry-Seconds");
  return std::optional<IdempotencyHeaders>();
}

std::string owned_key(const Caller& caller, const std::string& key) {
  std::string owner = caller.tenant.empty() ? caller.name : "@" + caller.tenant;
  // Customers of one tenant share it, and not their answers. No name has this letter.
  if (!caller.customer.empty()) owner += ":" + caller.customer;
  return owner + "/" + key;
}

Reply replayed(Reply reply) {
  reply.headers.emplace_back("Idempotent-Replayed", "true");
  return reply;
}

}  // namespace postino::api
