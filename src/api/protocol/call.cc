#include "api/protocol/call.h"

#include <algorithm>
#include <charconv>

#include "api/protocol/limits.h"
#include "base/check.h"
#include "base/text.h"
#include "base/timestamp.h"

namespace postino::api {

namespace {

constexpr std::size_t most_id_bytes = 2'048;  // as long as a key of a table can be: other programs choose their ids

// A time, or a whole day in UTC.
struct Moment {
  base::TimePoint begin;
  base::TimePoint end;
};

base::Result<std::optional<Moment>, Problem> moment_in(const Query& query, std::string_view parameter) {
  constexpr std::string_view day_form = "2026-11-15";
  const std::string* const text = query.find(parameter);
  if (text == nullptr) return std::optional<Moment>();
  if (const auto time = base::parse_timestamp(*text)) return Moment{*time, *time};
  if (text->size() == day_form.size())
    if (const auto day = base::parse_timestamp(*text + "T00:00:00Z")) return Moment{*day, base::end_of_day(*day)};
  return refuse_field(std::string(parameter),
                      "must be a time such as 2026-11-15T09:30:00Z, or a day such as 2026-11-15");
}

}  // namespace

Reply json_reply(std::string body, int status) {
  return {.status = status, .content_type = std::string(json_content_type), .body = std::move(body)};
}

Reply no_content() { return {.status = 204}; }

Reply message_reply(std::string message, const std::string& id) {
  Reply reply{.content_type = std::string(message_content_type), .body = std::move(message)};
  reply.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + id + ".eml\"");
  return reply;
}

bool AnswerMemory::admit(std::size_t bytes) {
  if (budget_ == nullptr) return true;
  const bool is_too_large = bytes > budget_->limit();
  share_ = budget_->take(is_too_large ? 0 : bytes);
  if (share_ && is_too_large && !share_.grow_alone(bytes)) {
    budget_->count_refusal();
    share_ = {};
  }
  is_refused_ = !share_;
  return !is_refused_;
}

base::MemoryBudget::Share AnswerMemory::share_for(std::size_t bytes) {
  if (!share_) return budget_->take(bytes);
  if (bytes > share_.bytes() && !share_.grow(bytes - share_.bytes())) share_ = {};
  share_.shrink_to(bytes);
  return std::move(share_);
}

const std::string& Call::path_parameter(std::string_view name) const {
  const auto found = std::ranges::find(path_parameters, name, &std::pair<std::string_view, std::string>::first);
  CHECK(found != path_parameters.end());
  return found->second;
}

base::Result<std::string, Problem> Call::email_id() const {
  const std::string& id = path_parameter("id");
  if (id.size() > most_id_bytes) return refuse(problems::email_not_found, "No e-mail has this id.");
  std::string usual = base::lower_case(id);
  return usual != id && services.outbox.is_known(id) ? id : std::move(usual);
}

std::string Call::text(std::string_view parameter) const {
  const std::string* const text = query.find(parameter);
  return text == nullptr ? std::string() : *text;
}

base::Result<TimeRange, Problem> Call::time_range() const {
  TRY(const std::optional<Moment> since, moment_in(query, "since"));
  TRY(const std::optional<Moment> until, moment_in(query, "until"));
  TimeRange range;
  if (since) range.since = since->begin;
  if (until) range.until = until->end;
  if (since && until && *range.until <= *range.since) return refuse_field("until", "must be later than since");
  return range;
}

base::Result<std::optional<int>, Problem> Call::number(std::string_view parameter, int most) const {
  const std::string* const text = query.find(parameter);
  if (text == nullptr) return std::optional<int>();
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < 1 || number > most)
    return refuse_field(std::string(parameter), "must be an integer from 1 to " + std::to_string(most));
  return std::optional(number);
}

base::Result<int, Problem> Call::limit() const {
  TRY(const std::optional<int> limit, number("limit", Limits::page_size));
  return limit.value_or(Limits::usual_page_size);
}

base::Result<Page, Problem> Call::page() const {
  Page page;
  TRY(page.limit, limit());
  if (const std::string* cursor = query.find("cursor")) page.cursor = *cursor;
  return page;
}

base::Result<std::string, Problem> Call::reason() const {
  if (request.body.empty()) return std::string();
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(request.body, errors)) return refuse_fields(problems::malformed_json, errors);
  json::Fields fields(document.root(), "", errors);
  const std::string reason(fields.text("reason", json::Fields::Need::optional, Limits::reason_bytes).value_or(""));
  if (base::has_control_character(reason)) fields.refuse("reason", "must not contain control characters");
  fields.refuse_others();
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return reason;
}

base::Result<void, Problem> Call::no_fields() const {
  if (request.body.empty()) return {};
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(request.body, errors)) return refuse_fields(problems::malformed_json, errors);
  json::Fields(document.root(), "", errors).refuse_others();
  if (!errors.empty()) return refuse_fields(problems::invalid_request, errors);
  return {};
}

}  // namespace postino::api
