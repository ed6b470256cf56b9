// What callers say about reminders, read from the bodies of their requests. Everything that is wrong is noted, with its
// field; rules that concern the contents are those of the services.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/protocol/call.h"

namespace postino::api {

struct ReminderLimits {
  static constexpr std::size_t id_bytes = reminders::longest_record_id;
  static constexpr std::size_t draft_id_bytes = 256;
  static constexpr std::size_t name_bytes = reminders::longest_customer_name;  // also of templates, companies
  static constexpr std::size_t person_bytes = reminders::longest_record_id;
  static constexpr std::size_t address_bytes = 320;
  static constexpr std::size_t subject_bytes = 998;
  static constexpr std::size_t text_bytes = 100 << 10;
  static constexpr std::size_t html_bytes = reminders::most_text_bytes;  // with all other texts
  static constexpr std::size_t frame_bytes = 50 << 10;                   // each footer or header of a branding
  static constexpr std::size_t variables = reminders::most_variables;
  static constexpr std::size_t variable_bytes = reminders::longest_variable;
  static constexpr std::size_t amount_bytes = 40;
  static constexpr std::size_t reference_bytes = reminders::longest_reference;
  static constexpr std::size_t reason_bytes = reminders::longest_reason;  // of a rejection
  static constexpr std::int64_t versions = 1'000'000;
};

// The name of a person or program: nothing, or not only blanks.
inline constexpr std::string_view person_pattern =
    R"(^([^\u0000-\u001f\u007f]*[^\u0000-\u0020\u007f\u00a0\u2000-\u200f\u3000][^\u0000-\u001f\u007f]*)?$)";

// Refused when the server has no reminders.
base::Result<reminders::Reminders*, Problem> reminders_of(const Call& call);
// Something has happened to this e-mail: what follows for a reminder is found out at once.
void note_email(const Call& call, const std::string& id);
// Who calls; `name` is the person or program that the caller acts for, empty: the key's.
reminders::Actor actor_of(const Call& call, std::string name = "");
base::Result<reminders::PageRequest, Problem> reminder_page(const Call& call);
// `reminder_type` of a query; empty: any. There may be records of types that have no rule any more.
base::Result<std::string, Problem> type_in_query(const Call& call);

// How the API calls a field that the services call otherwise.
struct FieldName {
  std::string_view ours;
  std::string_view of_api;
};
inline constexpr FieldName draft_fields[] = {
    {"subject", "email_subject"}, {"body", "email_content"}, {"html", "email_html"}};
inline constexpr FieldName template_fields[] = {{"name", "template_name"},
                                                {"type", "template_type"},
                                                {"subject", "subject_template"},
                                                {"body", "body_template"},
                                                {"html", "html_template"}};
inline constexpr FieldName payment_fields[] = {{"paid_at", "paid_date"}};

// The last part of each field: "text.subject" -> "email_subject". Names of variables stay.
void rename_fields(reminders::Refusal& refusal, std::span<const FieldName> names);

// What a request names in a field, and what need not be there, or not be so any more.
struct NamedThing {
  reminders::RefusalKind kind;
  std::string_view field;
  std::string_view rule;
};
inline constexpr NamedThing named_customer[] = {
    {reminders::RefusalKind::unknown_customer, "customer_id", "must be the id of a customer"}};
inline constexpr NamedThing named_in_draft[] = {
    named_customer[0], {reminders::RefusalKind::unknown_template, "template_id", "must be the id of a template"}};
inline constexpr NamedThing named_revision[] = {
    {reminders::RefusalKind::other_revision, "revision", "must be the current revision"}};
inline constexpr NamedThing named_in_approval[] = {
    named_revision[0], {reminders::RefusalKind::unknown_draft, "draft_id", "must be the id of a draft"}};

// A refusal about one of these says in which field it was named.
void name_field(reminders::Refusal& refusal, std::span<const NamedThing> things);

// The answer of a service, with the fields as the API calls them.
template <class T>
base::Result<T, Problem> answered_in(std::span<const FieldName> names, reminders::OrRefusal<T> answer,
                                     std::span<const NamedThing> things = {}) {
  if (!answer) rename_fields(answer.error(), names);
  if (!answer) name_field(answer.error(), things);
  return answered(std::move(answer));
}
template <class T>
base::Result<T, Problem> answered_about(std::span<const NamedThing> things, reminders::OrRefusal<T> answer) {
  return answered_in({}, std::move(answer), things);
}

// What an answer under an idempotency key keeps of reminders that were called back, and back.
std::string told_of(const reminders::Recalled& recalled);
reminders::Recalled read_told(const std::string& told_of);

// Of a draft: the current revision is a new text.
struct RevisionRequest {
  int seen = 0;
  reminders::DraftText text;
  std::string by;
};
// Of one that is approved or rejected.
struct DecisionRequest {
  std::string draft_id;  // where the path does not name it
  int seen = 0;
  std::string reason;
  std::string by;
};
struct PreviewRequest {
  std::optional<int> version;
  std::string customer_id;    // empty: sample values
  std::string reminder_type;  // of a customer's
  reminders::Variables variables;
};

base::Result<reminders::NewDraft, Problem> read_new_draft(std::string_view body);
base::Result<std::vector<reminders::NewDraft>, Problem> read_new_drafts(std::string_view body);
base::Result<RevisionRequest, Problem> read_revision(std::string_view body);
base::Result<DecisionRequest, Problem> read_approval(std::string_view body);
base::Result<DecisionRequest, Problem> read_named_approval(std::string_view body);  // with draft_id
base::Result<DecisionRequest, Problem> read_rejection(std::string_view body);

base::Result<reminders::Customer, Problem> read_customer(std::string_view body, const std::string& id);
base::Result<reminders::Invoice, Problem> read_invoice(std::string_view body, const std::string& customer_id,
                                                       const std::string& id);
base::Result<reminders::Payment, Problem> read_payment(std::string_view body);
// Whether unpaid invoices go as well.
base::Result<bool, Problem> read_erasure(std::string_view body);

base::Result<reminders::TemplateVersion, Problem> read_template(std::string_view body, const std::string& id);
base::Result<int, Problem> read_version(std::string_view body);
base::Result<PreviewRequest, Problem> read_preview(std::string_view body);
base::Result<reminders::Branding, Problem> read_branding(std::string_view body, const std::string& name);

}  // namespace postino::api
