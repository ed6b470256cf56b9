#include "remote/protocol/refusal.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "remote/protocol/answer_reader.h"

namespace postino::remote {

namespace {

using Json = AnswerReader::Json;
using store::ErrorType;

struct RefusalParts {
  std::string type;
  std::string message;
  store::ErrorDetails details;
};

struct NamedError {
  std::string_view name;
  ErrorType type;
};

// Exceptions that the store itself does not know.
constexpr auto foreign_errors = std::to_array<NamedError>({
    {"InternalFailure", ErrorType::internal_server_error},
    {"InternalServerErrorException", ErrorType::internal_server_error},
    {"ServiceUnavailableException", ErrorType::service_unavailable},
    {"TooManyRequestsException", ErrorType::throttling},
    {"Throttling", ErrorType::throttling},
    {"RequestThrottled", ErrorType::throttling},
    {"RequestThrottledException", ErrorType::throttling},
    {"SlowDown", ErrorType::throttling},
    {"RequestLimitExceededException", ErrorType::request_limit_exceeded},
    {"ReplicatedWriteConflictException", ErrorType::transaction_conflict},
    {"IndexNotFoundException", ErrorType::resource_not_found},
    {"UnrecognizedClientException", ErrorType::access_denied},
    {"InvalidClientTokenId", ErrorType::access_denied},
    {"InvalidSignatureException", ErrorType::access_denied},
    {"IncompleteSignatureException", ErrorType::access_denied},
    {"MissingAuthenticationTokenException", ErrorType::access_denied},
    {"MissingAuthenticationToken", ErrorType::access_denied},
    {"ExpiredTokenException", ErrorType::access_denied},
    {"ExpiredToken", ErrorType::access_denied},
    {"RequestExpired", ErrorType::access_denied},
    {"RequestTimeTooSkewed", ErrorType::access_denied},
    {"OptInRequired", ErrorType::access_denied},
});

std::optional<ErrorType> type_of_store(std::string_view name) {
  for (int number = 0; number <= static_cast<int>(ErrorType::internal_server_error); ++number)
    if (const auto type = static_cast<ErrorType>(number); store::error_name(type) == name) return type;
  return std::nullopt;
}

bool read_reason(AnswerReader& reader, Json json, store::CancellationReason& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "Code") return reader.text(value, out.code);
    if (name == "Message") return reader.text(value, out.message);
    if (name == "Item") return reader.item(value, out.item);
    return true;
  });
}

bool read_throttling_reason(AnswerReader& reader, Json json, store::ThrottlingReason& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "reason") return reader.text(value, out.reason);
    return name == "resource" ? reader.text(value, out.resource) : true;
  });
}

// The protocol is not of one mind about the case of some names.
bool read_part(AnswerReader& reader, std::string_view name, Json value, RefusalParts& out) {
  if (name == "__type") return reader.text(value, out.type);
  if (name == "message" || name == "Message") return reader.text(value, out.message);
  if (name == "Item") return reader.item(value, out.details.item);
  if (name == "CancellationReasons")
    return reader.elements(value,
                           [&](Json each) { return read_reason(reader, each, out.details.reasons.emplace_back()); });
  if (name == "ThrottlingReasons" || name == "throttlingReasons")
    return reader.elements(value, [&](Json each) {
      return read_throttling_reason(reader, each, out.details.throttling_reasons.emplace_back());
    });
  return true;
}

// What callers of an embedded store know by the rule.
base::Rule rule_of(std::string_view message) {
  if (message.starts_with("The table does not have the specified index")) return base::Rule::known_index;
  if (message.starts_with("Cannot read from backfilling global secondary index")) return base::Rule::filled_index;
  return base::Rule::other;
}

ErrorType foreign_type_of(int status, std::string_view name) {
  const auto known = std::ranges::find(foreign_errors, name, &NamedError::name);
  if (known != foreign_errors.end()) return known->type;
  return status >= 500 ? ErrorType::internal_server_error : ErrorType::validation;
}

}  // namespace

std::optional<Refusal> decode_refusal(int status, std::string body) {
  auto parts = read_answer<RefusalParts>(std::move(body), read_part);
  if (!parts || parts->type.empty()) return std::nullopt;
  Refusal refusal;
  refusal.type = parts->type.substr(parts->type.find('#') + 1);
  const auto own = type_of_store(refusal.type);
  refusal.error.type = own ? *own : foreign_type_of(status, refusal.type);
  refusal.error.message = own ? std::move(parts->message) : refusal.type + ": " + parts->message;
  if (own == ErrorType::validation) refusal.error.rule = rule_of(refusal.error.message);
  store::ErrorDetails& details = parts->details;
  if (details.item || !details.reasons.empty() || !details.throttling_reasons.empty())
    refusal.error.details = std::make_shared<const store::ErrorDetails>(std::move(details));
  return refusal;
}

}  // namespace postino::remote
