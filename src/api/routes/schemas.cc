#include "api/protocol/schemas.h"

#include <algorithm>

#include "api/protocol/limits.h"
#include "api/routes/schema_parts.h"
#include "base/check.h"
#include "net/url.h"
#include "outbox/outbox.h"

namespace postino::api {

namespace {

using outbox::PayloadLimits;
using enum Presence;

Schema url(std::string description, std::int64_t most = limit_of(net::Url::most_bytes)) {
  return {.type = "string", .description = std::move(description), .format = "uri", .most = most};
}

// --- E-mails as they are handed in

Schema mailboxes(std::string_view single, std::optional<std::int64_t> least = std::nullopt) {
  const auto most = limit_of(PayloadLimits::recipients);
  return {
      .description = "One address, or an array of them. to, cc and bcc have at most " + std::to_string(most) +
                     " addresses together.",
      .alternatives = {like(single), {.type = "array", .least = least, .most = most, .elements = {like("Mailbox")}}}};
}

Schema payload() {
  return {
      .type = "object",
      .description =
          "An e-mail as it is submitted. At least one of body_text and body_html is required. An optional field that "
          "is an empty string counts as missing.",
      .example = R"({"from":"Shop <shop@example.com>","to":"ann@example.com","subject":"Hello","body_text":"Hello."})",
      .properties =
          {
              {"id",
               {.type = "string",
                .description = "Id of the e-mail, not of version 8; a new one by default.",
                .format = "uuid"}},
              {"from", like("Mailbox", "The sender."), required},
              {"reply_to", like("OptionalMailbox", "Address for replies.")},
              {"to", like("RequiredMailboxes", "A recipient."), required},
              {"cc", like("Mailboxes", "A recipient of a copy.")},
              {"bcc", like("Mailboxes", "A recipient of a blind copy.")},
              {"subject",
               {.type = "string",
                .description = "The subject.",
                .pattern = without_control_characters,
                .most = limit_of(PayloadLimits::subject_bytes)},
               required},
              {"body_text",
               {.type = "string", .description = "The plain text.", .most = limit_of(PayloadLimits::body_bytes)}},
              {"body_html",
               {.type = "string",
                .description = "The HTML text. Images in data: URLs become parts of the message.",
                .most = limit_of(PayloadLimits::body_bytes)}},
              {"attachments",
               {.type = "array",
                .description = "Files to attach.",
                .most = limit_of(PayloadLimits::attachments),
                .elements = {like("Attachment")}}},
              {"custom_headers",
               {.type = "object",
                .description =
                    "Further headers of the message, except those that Postino writes itself. Names have 1 to " +
                    std::to_string(PayloadLimits::header_name_bytes) + " printable ASCII characters.",
                .most = limit_of(PayloadLimits::headers),
                .elements = {{.type = "string", .most = limit_of(PayloadLimits::header_bytes)}}}},
              {"send_at", time("Do not send before this time (RFC 3339), at most a year from now.")},
              {"callback_url", url("URL notified of the outcome.")},
              {"tags",
               {.type = "array",
                .description = "Tags of the e-mail.",
                .most = limit_of(PayloadLimits::tags),
                .elements = {{.type = "string",
                              .pattern = without_control_characters,
                              .least = 1,
                              .most = limit_of(PayloadLimits::tag_bytes)}}}},
              {"unsubscribe", like("Unsubscribe")},
          },
      .one_required = {"body_text", "body_html"},
      .closed = true,
  };
}

Schema unsubscribe() {
  return {
      .type = "object",
      .description = "For the header List-Unsubscribe.",
      .properties =
          {
              {"url", url("Must begin with https.", limit_of(PayloadLimits::unsubscribe_bytes))},
              {"mailto", like("OptionalMailbox")},
          },
      .closed = true,
  };
}

// Without `least`, an empty one counts as missing.
Schema mailbox(std::optional<std::int64_t> least = std::nullopt) {
  return {.type = "string",
          .description = "An address, with or without a name. The name has at most " +
                         std::to_string(PayloadLimits::display_name_bytes) + " bytes.",
          .pattern = without_control_characters,
          .least = least,
          .most = limit_of(PayloadLimits::address_bytes),
          .example = R"("Ann <ann@example.com>")"};
}

Schema attachment() {
  const Property name{"name",
                      {.type = "string",
                       .description = "The name of the file in the message, without slashes.",
                       .pattern = without_control_characters,
                       .least = 1,
                       .most = limit_of(PayloadLimits::attachment_name_bytes)}};
  const Property named{name.name, name.schema, required};
  const Property content_type{"content_type",
                              {.type = "string",
                               .description = "At most " + std::to_string(PayloadLimits::content_type_half_bytes) +
                                              " bytes on each side of the slash.",
                               .most = limit_of(PayloadLimits::content_type_bytes),
                               .example = R"("application/pdf")"}};
  const Schema path{.type = "string",
                    .description = "A path below the configured directory, relative and without \"..\".",
                    .pattern = without_control_characters,
                    .least = 1,
                    .most = limit_of(PayloadLimits::attachment_path_bytes)};
  return {.description = "A file below the configured directory, by its path, or the content itself.",
          .alternatives = {
              path,
              {.type = "object", .properties = {{"path", path, required}, name, content_type}, .closed = true},
              {.type = "object",
               .properties =
                   {named,
                    content_type,
                    {"content_base64",
                     {.type = "string", .content_encoding = "base64", .most = limit_of(PayloadLimits::inline_bytes)},
                     required}},
               .closed = true}}};
}

Schema email_batch() {
  return {
      .type = "object",
      .properties =
          {{"data",
            {.type = "array", .least = 1, .most = limit_of(Limits::emails_in_a_request), .elements = {like("Payload")}},
            required}},
      .closed = true};
}

Schema submission() {
  return {.description = "E-mails in `data`, or one e-mail as it is.",
          .alternatives = {like("EmailBatch"), like("Payload")}};
}

Schema acceptance() {
  const Schema error{
      .type = "object",
      .description = "Why the e-mail was rejected, or why it is not known whether it was accepted.",
      .properties = {
          {"code",
           {.type = "string", .choices = {"DUPLICATED_ID", "STORAGE_ERROR", "DATABASE_ERROR", "OUTCOME_UNKNOWN"}},
           required},
          {"message", text(), required}}};
  const Schema result{
      .type = "object",
      .properties = {{"id", text(), required},
                     {"status", {.type = "string", .choices = {"ACCEPTED", "REJECTED", "UNKNOWN"}}, required},
                     {"error", error}}};
  return {.type = "object",
          .properties = {{"summary",
                          {.type = "object",
                           .properties = {{"total", count(), required},
                                          {"successful", count(), required},
                                          {"failed", count(), required}}},
                          required},
                         {"results", list_of(result, "In the order of the elements."), required}}};
}

// --- E-mails as they are shown

Schema state() {
  Schema schema{.type = "string", .description = "The state of an e-mail."};
  for (const outbox::State state : outbox::all_states()) schema.choices.emplace_back(name_of(state));
  return schema;
}

Schema callback() {
  return {.type = "object",
          .properties = {{"url", text()},
                         {"attempts", count(), required},
                         {"dead", flag("The callback was given up; it can be replayed."), required},
                         {"last_error", text()}}};
}

Schema email() {
  return {
      .type = "object",
      .description = "Members without a value are absent.",
      .properties =
          {
              {"id", text(), required},
              {"status", like("State"), required},
              {"reason", text("Reason for the state; may be empty."), required},
              {"version", count("Grows by one with each change of state."), required},
              {"created_at", time(), required},
              {"updated_at", time(), required},
              {"attempts", count("Attempts at sending that were started."), required},
              {"from", text(), required},
              {"subject",
               text("Its first " + std::to_string(outbox::most_subject_bytes) + " bytes; empty if it is not known."),
               required},
              {"recipients", list_of(like("Recipient")), required},
              {"tags", list_of(text()), required},
              {"send_at", time()},
              {"next_attempt_at", time("Time of the next attempt, while the e-mail waits to be sent.")},
              {"tenant", text()},
              {"partly_sent",
               flag("The e-mail was sent to some recipients and not to others: see the `status` of each.")},
              {"outcome_unknown", flag("The e-mail may have been sent: the last reply of the mail server was lost. Not "
                                       "told during an attempt.")},
              {"held_from", like("State")},
              {"callback", callback()},
              {"bounces", list_of(like("Bounce"))},
              {"payload_path", text(), required},
              {"message_path", text()},
          },
  };
}

Schema recipient() {
  return {
      .type = "object",
      .properties = {
          {"address", text(), required},
          {"status",
           {.type = "string",
            .description = "`sent`: the mail server has taken the e-mail for this recipient. Whether it is delivered "
                           "is known to that server alone; if it is not, a bounce may come back.",
            .choices = {"pending", "sent", "refused", "suppressed"}},
           required},
          {"reply", text("Reply of the mail server, or why the address is suppressed.")}}};
}

Schema bounce() {
  return {.type = "object",
          .properties = {
              {"recipient", text(), required},
              {"status", {.type = "string", .description = "Enhanced status code.", .example = R"("5.1.1")"}, required},
              {"diagnostic", text(), required},
              {"permanent", flag(), required},
              {"at", time()}}};
}

Schema email_with_history() {
  const Schema entry{
      .type = "object",
      .properties = {
          {"status", text("A state, or BOUNCED."), required}, {"at", time(), required}, {"reason", text(), required}}};
  return {.parts = {like("Email"),
                    {.type = "object", .properties = {{"history", list_of(entry, "Oldest first."), required}}}}};
}

Schema counts() {
  Schema by_state{.type = "object"};
  for (const outbox::State state : outbox::all_states())
    by_state.properties.push_back({name_of(state), count(), required});
  return {.type = "object", .properties = {{"counts", by_state, required}, {"total", count(), required}}};
}

// --- The rest

Schema reason() {
  return {.type = "object",
          .properties = {{"reason",
                          {.type = "string",
                           .description = "Reason for the change, kept with what it changes.",
                           .pattern = without_control_characters,
                           .most = limit_of(Limits::reason_bytes)}}},
          .closed = true};
}

Schema bounce_message() {
  return {.type = "object",
          .properties = {{"message", text("The report as it was received, with its headers."), required}},
          .closed = true};
}

Schema bounce_outcome() {
  return {
      .type = "object",
      .properties = {{"email_id", text(), required},
                     {"bounces", list_of(like("Bounce")), required},
                     {"suppressed", list_of(text(), "Addresses that were added to the suppression list."), required}}};
}

Schema suppression() {
  return {.type = "object",
          .properties = {{"address", text(), required}, {"reason", text(), required}, {"since", time(), required}}};
}

Schema mailbox_entry() {
  return {.type = "object",
          .properties = {{"id", text("Id of the e-mail."), required},
                         {"received_at", time(), required},
                         {"from", text(), required},
                         {"to", list_of(text(), "Envelope recipients."), required},
                         {"subject", text(), required},
                         {"size", count("Size in bytes."), required}}};
}

Schema problem() {
  const Schema error{.type = "object",
                     .properties = {{"field", {.type = "string", .example = R"("data[0].to[0]")"}, required},
                                    {"rule", {.type = "string", .example = R"("is required")"}, required}}};
  const Schema endpoint{
      .type = "object",
      .properties = {{"endpoint", {.type = "string", .example = R"("broker.example.org:5671")"}, required},
                     {"reason", {.type = "string", .example = R"("connection refused")"}, required}}};
  return {
      .type = "object",
      .description = "An error, as defined by RFC 9457.",
      .properties = {
          {"type", {.type = "string", .format = "uri", .example = R"("urn:postino:problem:WRONG_STATE")"}, required},
          {"title", text(), required},
          {"status", {.type = "integer", .least = 400, .most = 599}, required},
          {"detail", text("Explanation for people."), required},
          {"code",
           {.type = "string", .description = "Error code for programs.", .example = R"("WRONG_STATE")"},
           required},
          {"errors", list_of(error)},
          {"endpoints", list_of(endpoint, "Endpoints of the broker that could not be reached.")},
          {"current_revision",
           {.type = "integer", .description = "Of a draft: the revision that it has now.", .least = 1}},
          {"current_version", count("Of a ticket: the version that it has now.")},
          {"current_status", text("Of a ticket: the status that it has now.")},
          {"rule", text("Of a reminder: what refuses it, such as too_soon.")},
          {"allowed_from", time("Of a reminder: when that rule will allow it.")},
          {"request_id", text(), required}}};
}

std::vector<NamedSchema> outbox_schemas() {
  return {
      {"Payload", payload()},
      {"Unsubscribe", unsubscribe()},
      {"Mailbox", mailbox(1)},
      {"OptionalMailbox", mailbox()},
      {"Mailboxes", mailboxes("OptionalMailbox")},
      {"RequiredMailboxes", mailboxes("Mailbox", 1)},
      {"Attachment", attachment()},
      {"EmailBatch", email_batch()},
      {"Submission", submission()},
      {"Acceptance", acceptance()},
      {"State", state()},
      {"Email", email()},
      {"Recipient", recipient()},
      {"Bounce", bounce()},
      {"EmailWithHistory", email_with_history()},
      {"EmailList", {.type = "object", .properties = {{"data", list_of(like("Email")), required}}}},
      {"EmailPage", page_of("Email")},
      {"Counts", counts()},
      {"Reason", reason()},
      {"Nothing", {.type = "object", .closed = true}},
      {"BounceMessage", bounce_message()},
      {"BounceOutcome", bounce_outcome()},
      {"Suppression", suppression()},
      {"SuppressionPage", page_of("Suppression")},
      {"MailboxEntry", mailbox_entry()},
      {"MailboxPage", page_of("MailboxEntry")},
      {"Removal", {.type = "object", .properties = {{"removed", count(), required}}}},
      {"Health", {.type = "object", .properties = {{"status", {.type = "string", .choices = {"ok"}}, required}}}},
      {"Description", {.type = "object"}},
      {"Problem", problem()},
  };
}

}  // namespace

const std::vector<NamedSchema>& all_schemas() {
  static const std::vector<NamedSchema> schemas = [] {
    std::vector<NamedSchema> all = outbox_schemas();
    for (const auto group : {message_schemas, draft_schemas, customer_schemas, reminder_template_schemas,
                             capacity_schemas, observation_schemas, ticket_schemas, ticket_record_schemas,
                             figure_schemas, session_schemas, audit_schemas, backup_schemas, key_schemas})
      for (NamedSchema& schema : group()) all.push_back(std::move(schema));
    return all;
  }();
  return schemas;
}

const Schema& schema_named(std::string_view name) {
  const auto found = std::ranges::find(all_schemas(), name, &NamedSchema::name);
  CHECK(found != all_schemas().end());
  return found->schema;
}

}  // namespace postino::api
