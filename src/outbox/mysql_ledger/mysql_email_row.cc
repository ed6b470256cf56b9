#include "outbox/mysql_ledger/mysql_email_row.h"

#include <array>

#include "json/fields.h"
#include "json/writer.h"
#include "outbox/email/last_time.h"

namespace postino::outbox {

namespace {

// What a move may change.
constexpr std::array changing_columns = {
    "status",        "eml_file_path",     "reason",        "version",        "updated_at",      "ledger_version",
    "ledger_status", "updated_ms",        "due_ms",        "owner",          "outcome_unknown", "internal_reason",
    "attempts",      "callback_attempts", "callback_dead", "callback_error", "held_from",       "settled_ms",
    "recipients",    "reached",           "expires_ms",    "begun_again_ms"};
// What is said when the e-mail is accepted and stays.
constexpr std::array lasting_columns = {
    "payload_file_path", "tenant", "acceptance", "created_at", "created_ms", "send_ms",
    "callback_url",      "sender", "tags",       "bounces",    "subject"};

bool is_timestamp(std::string_view column) { return column == "created_at" || column == "updated_at"; }

std::optional<std::int64_t> optional_milliseconds(const std::optional<base::TimePoint>& time) {
  return time ? std::optional(base::epoch_milliseconds(*time)) : std::nullopt;
}

template <class Columns>
void add_names(const Columns& columns, std::string& names, std::string& values) {
  for (const std::string_view column : columns) {
    names.append(", ").append(column);
    values += is_timestamp(column) ? ", FROM_UNIXTIME(?)" : ", ?";
  }
}

template <class Elements, class Write>
std::optional<std::string> json_list(const Elements& elements, const Write& write) {
  if (elements.empty()) return std::nullopt;
  std::string text;
  json::Writer writer(text);
  writer.begin_array();
  for (const auto& element : elements) write(writer, element);
  writer.end_array();
  return text;
}

std::string reached_json(const Email& email) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  for (const State state : all_states())
    if (const int count = email.reached[static_cast<std::size_t>(state)]; count > 0)
      writer.key(name_of(state)).integer(count);
  if (email.rescues > 0) writer.key(rescued_in_a_row).integer(email.rescues);
  if (email.unknown_outcomes > 0) writer.key(unknown_outcomes_name).integer(email.unknown_outcomes);
  writer.end_object();
  return text;
}

void add_json(Parameters& parameters, std::optional<std::string> text) {
  if (text)
    parameters.keep(std::move(*text));
  else
    parameters.add(nullptr);
}

void add_text_or_null(Parameters& parameters, const std::string& text) {
  if (text.empty())
    parameters.add(nullptr);
  else
    parameters.add_text(text);
}

void add_changing(Parameters& parameters, const Email& email, base::TimePoint expires) {
  parameters.add(name_of(email.state));
  parameters.add(email.message_path);
  parameters.add_text(email.reason);
  parameters.add(email.version);
  parameters.add(timestamp(email.updated_at));
  parameters.add(email.version);
  parameters.add(name_of(email.state));
  parameters.add(base::epoch_milliseconds(email.updated_at));
  parameters.add(optional_milliseconds(email.due_at));
  parameters.add_text(email.owner);
  parameters.add(email.outcome_unknown);
  parameters.add(email.internal_reason);
  parameters.add(email.attempts);
  parameters.add(email.callback_attempts);
  parameters.add(email.callback_dead);
  add_text_or_null(parameters, email.callback_error);
  parameters.add(email.held_from ? mysql::Parameter(name_of(*email.held_from)) : mysql::Parameter());
  parameters.add(optional_milliseconds(email.settled_at));
  add_json(parameters, recipients_json(email));
  parameters.keep(reached_json(email));
  parameters.add(is_finished(email) ? std::optional(base::epoch_milliseconds(expires)) : std::nullopt);
  parameters.add(optional_milliseconds(email.begun_again_at));
}

void add_lasting(Parameters& parameters, const Email& email) {
  parameters.add(email.payload_path);
  parameters.add(email.tenant);
  parameters.add(email.acceptance_token);
  parameters.add(timestamp(email.created_at));
  parameters.add(base::epoch_milliseconds(email.created_at));
  parameters.add(optional_milliseconds(email.send_at));
  add_text_or_null(parameters, email.callback_url);
  parameters.add_text(email.sender);
  add_json(parameters, tags_json(email));
  add_json(parameters, bounces_json(email));
  add_text_or_null(parameters, email.subject);
}

// Reading: the order of email_columns.
namespace column {
enum Column : std::size_t {
  id,
  status,
  message_path,
  payload_path,
  reason,
  version,
  updated_seconds,
  ledger_version,
  ledger_status,
  tenant,
  acceptance,
  created,
  updated,
  due,
  send,
  settled,
  owner,
  outcome_unknown,
  internal_reason,
  attempts,
  callback_attempts,
  callback_dead,
  callback_error,
  callback_url,
  held_from,
  sender,
  tags,
  recipients,
  bounces,
  reached,
  subject,
  begun_again,
};
}  // namespace column

std::optional<base::TimePoint> time_in(const mysql::Row& row, std::size_t place) {
  if (row.is_null(place)) return std::nullopt;
  return base::from_epoch_milliseconds(row.number(place));
}

// Text of a member of an object; empty when it is missing.
std::string member(json::Element object, std::string_view name) {
  const auto member = object.member(name);
  return std::string(member ? member->text().value_or("") : "");
}

Bounce bounce_of(json::Element element) {
  Bounce bounce{member(element, "recipient"), member(element, "status"), member(element, "diagnostic"), true, {}};
  if (const auto permanent = element.member("permanent")) bounce.permanent = permanent->boolean().value_or(true);
  const auto time = element.member("at_ms");
  if (const auto at = time ? time->integer() : std::nullopt) bounce.at = base::from_epoch_milliseconds(*at);
  return bounce;
}

// Hands each element of an array to `take`. False when the text is no array.
template <class Take>
bool read_list(const mysql::Row& row, std::size_t place, const Take& take) {
  if (row.is_null(place)) return true;
  static thread_local json::Document document;
  json::FieldErrors errors;
  if (!document.parse(row.text(place), errors) || !document.root().is_array()) return false;
  for (const json::Element element : document.root().elements()) take(element);
  return true;
}

bool read_reached(const mysql::Row& row, Email& email) {
  if (row.is_null(column::reached)) {
    email.reached[static_cast<std::size_t>(email.state)] = 1;
    return true;
  }
  static thread_local json::Document document;
  json::FieldErrors errors;
  if (!document.parse(row.text(column::reached), errors) || !document.root().is_object()) return false;
  for (const auto& [name, value] : document.root().members()) {
    const auto state = parse_state(name);
    const auto count = value.integer();
    if (state && count) email.reached[static_cast<std::size_t>(*state)] = static_cast<int>(*count);
    if (name == rescued_in_a_row && count) email.rescues = static_cast<int>(*count);
    if (name == unknown_outcomes_name && count) email.unknown_outcomes = static_cast<int>(*count);
  }
  return true;
}

// Another program can write any number that a column takes. The name of the first column with one that cannot be.
std::optional<std::string_view> impossible_number(const mysql::Row& row) {
  constexpr std::int64_t most = 2'000'000'000;  // so that the column takes many more changes
  struct Rule {
    std::size_t place;
    std::string_view name;
    std::int64_t least, most;
  };
  constexpr std::array<Rule, 9> rules = {{{column::version, "version", 1, most},
                                          {column::created, "created_ms", 0, last_millisecond},
                                          {column::updated, "updated_ms", 0, last_millisecond},
                                          {column::due, "due_ms", 0, last_millisecond},
                                          {column::send, "send_ms", 0, last_millisecond},
                                          {column::settled, "settled_ms", 0, last_millisecond},
                                          {column::begun_again, "begun_again_ms", 0, last_millisecond},
                                          {column::attempts, "attempts", 0, most},
                                          {column::callback_attempts, "callback_attempts", 0, most}}};
  for (const Rule& rule : rules)
    if (!row.is_null(rule.place))
      if (const std::int64_t number = row.number(rule.place); number < rule.least || number > rule.most)
        return rule.name;
  return std::nullopt;
}

bool read_row_lists(const mysql::Row& row, Email& email) {
  return read_list(row, column::tags,
                   [&](json::Element element) {
                     if (const auto text = element.text()) email.tags.emplace_back(*text);
                   }) &&
         read_list(
             row, column::recipients,
             [&](json::Element element) {
               email.recipients.push_back({member(element, "address"), parse_recipient_state(member(element, "state")),
                                           member(element, "reply")});
             }) &&
         read_list(row, column::bounces, [&](json::Element element) { email.bounces.push_back(bounce_of(element)); }) &&
         read_reached(row, email);
}

void read_columns(const mysql::Row& row, Email& email) {
  email.reason = row.text(column::reason);
  email.version = row.number(column::version);
  email.message_path = row.text(column::message_path);
  email.payload_path = row.text(column::payload_path);
  email.tenant = row.text(column::tenant);
  email.acceptance_token = row.text(column::acceptance);
  email.created_at = base::from_epoch_milliseconds(row.number(column::created));
  email.updated_at = base::from_epoch_milliseconds(row.number(column::updated));
  email.send_at = time_in(row, column::send);
  email.due_at = time_in(row, column::due);
  email.settled_at = time_in(row, column::settled);
  email.begun_again_at = time_in(row, column::begun_again);
  email.owner = row.text(column::owner);
  email.outcome_unknown = row.number(column::outcome_unknown) != 0;
  email.internal_reason = row.number(column::internal_reason) != 0;
  email.attempts = static_cast<int>(row.number(column::attempts));
  email.callback_attempts = static_cast<int>(row.number(column::callback_attempts));
  email.callback_dead = row.number(column::callback_dead) != 0;
  email.callback_error = row.text(column::callback_error);
  email.callback_url = row.text(column::callback_url);
  email.held_from = parse_state(row.text(column::held_from));
  email.sender = row.text(column::sender);
  email.subject = row.text(column::subject);
}

}  // namespace

const std::string email_columns =
    "id, status, eml_file_path, payload_file_path, reason, version, UNIX_TIMESTAMP(updated_at), ledger_version,"
    " ledger_status, tenant, acceptance, created_ms, updated_ms, due_ms, send_ms, settled_ms, owner, outcome_unknown,"
    " internal_reason, attempts, callback_attempts, callback_dead, callback_error, callback_url, held_from, sender,"
    " tags, recipients, bounces, reached, subject, begun_again_ms";

base::Result<EmailRow> email_row_of(const mysql::Row& row) {
  EmailRow result;
  Email& email = result.email;
  email.id = row.text(column::id);
  const auto state = parse_state(row.text(column::status));
  if (!state) return base::fail(base::ErrorCode::corrupt, "e-mail " + email.id + " is in an unknown state");
  email.state = *state;
  if (const auto name = impossible_number(row))
    return base::fail(base::ErrorCode::corrupt,
                      std::string(*name) + " of e-mail " + email.id + " is a number that it cannot have");
  read_columns(row, email);
  result.counted_as = parse_state(row.text(column::ledger_status));
  result.foreign = row.number(column::ledger_version) != email.version;
  result.described = !row.is_null(column::sender);
  result.never_moved = row.is_null(column::reached);
  // Another program knows nothing of the exact time.
  if (result.foreign) email.updated_at = base::from_epoch_milliseconds(row.number(column::updated_seconds) * 1'000);
  if (!read_row_lists(row, email))
    return base::fail(base::ErrorCode::corrupt,
                      "tags, recipients, bounces or reached of e-mail " + email.id + " are malformed");
  return result;
}

base::TimePoint due_of(const mysql::Row& row) { return time_in(row, column::due).value_or(base::TimePoint()); }

std::string insert_emails(std::size_t rows) {
  std::string names = "id";
  std::string values = "(?";
  add_names(changing_columns, names, values);
  add_names(lasting_columns, names, values);
  return "INSERT INTO emails (" + names + ") VALUES " + repeated(values + ")", rows);
}

void add_new_row(Parameters& parameters, const Email& email, base::TimePoint expires) {
  parameters.add(email.id);
  add_changing(parameters, email, expires);
  add_lasting(parameters, email);
}

std::string rewrite_emails(std::size_t rows) {
  std::string names = "id";
  std::string values = "(?";
  add_names(changing_columns, names, values);
  std::string sql = "INSERT INTO emails (" + names + ") VALUES " + repeated(values + ")", rows) +
                    " ON DUPLICATE KEY UPDATE expires_ms = VALUES(expires_ms)";
  for (const std::string column : changing_columns)
    if (column != "expires_ms") sql.append(", ").append(column).append(" = VALUES(").append(column).append(")");
  return sql;
}

void add_changed_row(Parameters& parameters, const Email& email, base::TimePoint expires) {
  parameters.add(email.id);
  add_changing(parameters, email, expires);
}

std::optional<std::string> tags_json(const Email& email) {
  return json_list(email.tags, [](json::Writer& writer, const std::string& tag) { writer.string(tag); });
}

std::optional<std::string> recipients_json(const Email& email) {
  return json_list(email.recipients, [](json::Writer& writer, const Recipient& recipient) {
    writer.begin_object().key("address").string(recipient.address).key("state").string(name_of(recipient.state));
    if (!recipient.reply.empty()) writer.key("reply").string(recipient.reply);
    writer.end_object();
  });
}

std::optional<std::string> bounces_json(const Email& email) {
  return json_list(email.bounces, [](json::Writer& writer, const Bounce& bounce) {
    writer.begin_object().key("recipient").string(bounce.recipient).key("status").string(bounce.status);
    writer.key("diagnostic").string(bounce.diagnostic).key("permanent").boolean(bounce.permanent);
    writer.key("at_ms").integer(base::epoch_milliseconds(bounce.at)).end_object();
  });
}

}  // namespace postino::outbox
