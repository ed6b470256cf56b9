#include "api/protocol/route.h"

#include <utility>

#include "api/protocol/limits.h"
#include "idempotency/key.h"

namespace postino::api {

bool is_audited(const Route& route) {
  if (route.audited != Audited::by_right) return route.audited == Audited::always;
  const Operation& operation = route.operation;
  return operation.method != "GET" &&
         (operation.right == Right::operate || operation.right == Right::approve_reminders);
}

Parameter email_id_parameter() {
  return {"id", ParameterPlace::path, {.type = "string", .description = "The id of the e-mail.", .format = "uuid"}};
}

Parameter cursor_parameter() {
  return {"cursor",
          ParameterPlace::query,
          {.type = "string",
           .description = "`cursor` of the previous response, with the other parameters unchanged. If absent or empty, "
                          "the first page."},
          false,
          true};
}

Parameter limit_parameter() {
  return {"limit",
          ParameterPlace::query,
          {.type = "integer",
           .description = "Maximum number of elements.",
           .least = 1,
           .most = Limits::page_size,
           .default_value = std::to_string(Limits::usual_page_size)}};
}

std::vector<Parameter> range_parameters(const std::string& those) {
  const auto moment = [](std::string_view name, std::string description) {
    return Parameter{name,
                     ParameterPlace::query,
                     {.type = "string", .description = std::move(description), .format = "date-or-time"}};
  };
  return {moment("since", "Only " + those + " at this time or later, or on this day (UTC) or later."),
          moment("until", "Only " + those + " before this time, or on this day (UTC) or before.")};
}

Parameter idempotency_key_parameter() {
  // Quotes and backslashes are escaped in a quoted string, and not counted.
  static const std::string pattern = [] {
    const std::string most = std::to_string(idempotency::longest_key);
    const std::string plain = "[ !#-~][ -~]{0," + std::to_string(idempotency::longest_key - 1) + "}";
    const std::string quoted = R"x("([ !#-\[\]-~]|\\["\\]){1,)x" + most + R"x(}")x";
    return "^(" + plain + "|" + quoted + ")$";
  }();
  return {"Idempotency-Key",
          ParameterPlace::header,
          {.type = "string",
           .description =
               "Identifies this request: up to " + std::to_string(idempotency::longest_key) +
               " characters of printable ASCII, plain or as a quoted string. A repeated request with the same key is "
               "not executed again; it gets the same response, with `Idempotent-Replayed: true`.",
           .pattern = pattern}};
}

Parameter idempotency_expiry_parameter() {
  return {"Idempotency-Expiry-Seconds",
          ParameterPlace::header,
          {.type = "integer",
           .description = "How long the key is remembered, instead of the configured time.",
           .least = Limits::least_key_life_seconds,
           .most = Limits::most_key_life_seconds}};
}

}  // namespace postino::api
