// The shapes of what is said about tickets.
#include "api/protocol/schemas.h"
#include "api/routes/schema_parts.h"
#include "api/routes/ticket_requests.h"

namespace postino::api {

namespace {

using enum Presence;
using support::TicketLimits;

constexpr std::int64_t largest_version = std::int64_t{1} << 53;

// The desk counts characters, as JSON Schema does.
Schema ticket_line(std::size_t most, std::string description) {
  return {.type = "string",
          .description = std::move(description),
          .pattern = without_control_characters,
          .most = limit_of(most)};
}

Schema ticket_text(std::size_t most, std::string description, std::optional<std::int64_t> least = std::nullopt) {
  return {.type = "string",
          .description = std::move(description) + " Control characters other than line ends and tabs are refused.",
          .least = least,
          .most = limit_of(most)};
}

Schema ticket_status(std::string description = "") {
  return {.type = "string",
          .description = std::move(description),
          .choices = {"NEW", "PROCESSING", "READY", "FAILED", "ESCALATED"}};
}

Schema ticket_priority() {
  return {.type = "string",
          .description = "From P1, the most urgent, to P4.",
          .choices = {"P1", "P2", "P3", "P4"},
          .default_value = R"("P3")"};
}

Schema ticket_customer() {
  return {.type = "object",
          .properties = {{"id", ticket_line(TicketLimits::id_bytes, "The id of the customer."), required},
                         {"name", ticket_line(TicketLimits::name, "The name of the customer.")},
                         {"contact_email",
                          {.type = "string",
                           .description = "Where e-mails of the ticket go.",
                           .format = "email",
                           .most = limit_of(TicketSizes::address)}},
                         {"account_tier", ticket_line(TicketLimits::short_text, "For example ENTERPRISE.")}},
          .closed = true};
}

Schema ticket_asset() {
  const auto part = [](std::string description) {
    return ticket_line(TicketLimits::short_text, std::move(description));
  };
  return {.type = "object",
          .properties = {{"product_type", part("What kind of product it is about.")},
                         {"model", part("Its model.")},
                         {"serial", part("Its serial number.")},
                         {"firmware", part("Its firmware.")}},
          .closed = true};
}

std::vector<Property> letter_properties() {
  return {
      {"kind",
       {.type = "string",
        .description = "What it is: a word such as acknowledgement, answer or escalation.",
        .pattern = "^[A-Za-z0-9_.-]+$",
        .most = limit_of(TicketSizes::kind),
        .default_value = R"("answer")"}},
      {"subject", ticket_line(TicketLimits::subject, "`{ticket_id}` and `{status}` are replaced, also in the text."),
       required},
      {"text", ticket_text(TicketLimits::email_bytes,
                           "The text; required unless there is `html`. Both together take up to 200,000 bytes.")},
      {"html", ticket_text(TicketLimits::email_bytes, "The same as HTML.")},
      {"to",
       {.type = "array",
        .description = "Addresses; the customer's contact address by default.",
        .most = limit_of(TicketSizes::recipients),
        .elements = {{.type = "string", .most = limit_of(TicketSizes::address)}}}},
      {"key", ticket_line(TicketLimits::key_bytes, "An e-mail of the ticket with this key is sent once.")}};
}

Schema letter() {
  return {
      .type = "object",
      .description = "An e-mail that goes out in the same commit. Refused from callers that are bound to a customer.",
      .properties = letter_properties(),
      .closed = true};
}

Property by_property() {
  return {"by",
          ticket_line(TicketSizes::person,
                      "Who does it, for the events; the name of the API key by default. Callers that are bound to a "
                      "customer cannot name another person.")};
}

// What the caller saw, and says about a change.
std::vector<Property> change_properties() {
  return {{"reason", ticket_text(TicketLimits::reason, "Why.")},
          {"version",
           {.type = "integer",
            .description = "The version that the caller saw: if it is another by now, nothing is changed.",
            .least = 0,
            .most = largest_version}},
          {"seen_status", ticket_status("The same with the status that the caller saw.")},
          {"letter", letter()},
          by_property()};
}

Schema change_of_ticket(std::vector<Property> more) {
  Schema schema{.type = "object", .properties = std::move(more), .closed = true};
  for (Property& property : change_properties()) schema.properties.push_back(std::move(property));
  return schema;
}

Property engineer_property(Presence presence) {
  return {"engineer", ticket_line(TicketLimits::id_bytes, "The engineer who takes care of it; only with ESCALATED."),
          presence};
}

std::vector<Property> ticket_properties() {
  return {{"ticket_id", text(), required},
          {"status", ticket_status(), required},
          {"version", count("Of the status, the priority and what they are about; each change has the next one."),
           required},
          {"priority", text(), required},
          {"customer",
           {.type = "object",
            .properties =
                {{"id", text(), required}, {"name", text()}, {"contact_email", text()}, {"account_tier", text()}}},
           required},
          {"asset",
           {.type = "object",
            .properties = {{"product_type", text()}, {"model", text()}, {"serial", text()}, {"firmware", text()}}},
           required},
          {"symptom_text", text(), required},
          {"error_code", text()},
          {"lang", text()},
          {"status_reason", text("Of the last move.")},
          {"created_at", time(), required},
          {"updated_at", time()},
          {"completed_at", time("When it became READY.")},
          {"unavailable",
           list_of(text(),
                   "In lists: attributes of the ticket that are in the object store and cannot be read; * when "
                   "it is not known which. Absent: none. `GET /tickets/{id}` refuses such a ticket.")},
          {"escalated_at", time("While it is ESCALATED.")},
          {"assigned_to", text("The engineer, while it is ESCALATED.")},
          {"escalation_reason", text()}};
}

Schema new_ticket() {
  return {.type = "object",
          .properties = {{"customer", ticket_customer(), required},
                         {"asset", ticket_asset()},
                         {"symptom_text",
                          ticket_text(TicketLimits::symptom, "What is wrong.", limit_of(TicketLimits::least_symptom)),
                          required},
                         {"error_code", ticket_line(TicketLimits::short_text, "What the product says.")},
                         {"priority", ticket_priority()},
                         {"lang",
                          {.type = "string",
                           .description = "The language of the customer, such as en or pt-BR.",
                           .pattern = "^[A-Za-z0-9_.-]*$",
                           .most = limit_of(TicketLimits::lang_bytes)}},
                         {"letter", letter()}},
          .closed = true};
}

Schema ticket_counts() {
  Schema by_status{.type = "object"};
  for (const support::TicketStatus status : support::all_statuses)
    by_status.properties.push_back({name_of(status), count(), required});
  return {
      .type = "object",
      .properties = {{"by_status", std::move(by_status), required},
                     {"total", count("Of all of them."), required},
                     {"at_least", list_of(text(), "Statuses of which there are more than were counted. Absent: none.")},
                     {"as_of", time("When they were counted, or when the counters last changed."), required}}};
}

}  // namespace

std::vector<NamedSchema> ticket_schemas() {
  Schema shown{.type = "object", .properties = ticket_properties()};
  shown.properties.push_back({"data",
                              {.type = "object",
                               .description = "The ticket as it is stored, with what other programs have added.",
                               .elements = {{}}},
                              required});
  return {
      {"NewTicket", new_ticket()},
      {"TicketCreation",
       {.type = "object",
        .properties = {{"ticket_id", text(), required},
                       {"status", text(), required},
                       {"created_at", time(), required},
                       {"status_url", text("Where the ticket is shown: its path on this server."), required}}}},
      {"Ticket", {.type = "object", .properties = ticket_properties()}},
      {"ShownTicket", std::move(shown)},
      {"TicketList", {.type = "object", .properties = {{"data", list_of(like("Ticket")), required}}}},
      {"TicketPage", page_of_records("Ticket")},
      {"TicketCounts", ticket_counts()},
      {"TicketMove",
       change_of_ticket({{"status", ticket_status("What it is to become."), required}, engineer_property(optional)})},
      {"TicketEscalation", change_of_ticket({engineer_property(required)})},
      {"TicketDeescalation", change_of_ticket({})},
      {"TicketPriority",
       {.type = "object",
        .properties = {{"priority",
                        {.type = "string",
                         .description = "From P1, the most urgent, to P4.",
                         .choices = {"P1", "P2", "P3", "P4"}},
                        required},
                       change_properties()[1],
                       change_properties()[2],
                       by_property()},
        .closed = true}},
  };
}

}  // namespace postino::api
