#include "api/routes/reminder_requests.h"

#include "api/routes/object_body.h"
#include "base/text.h"
#include "mail/text_rules.h"

namespace postino::api {

namespace {

using Need = json::Fields::Need;
using Sizes = ReminderLimits;

std::string text_field(json::Fields& fields, std::string_view name, std::size_t most, Need need = Need::optional) {
  return std::string(fields.text(name, need, most).value_or(""));
}

// One line, for people.
std::string line_field(json::Fields& fields, std::string_view name, std::size_t most, Need need = Need::optional) {
  std::string line = text_field(fields, name, most, need);
  if (base::has_control_character(line)) fields.refuse(name, "must not contain control characters");
  return line;
}

// A name of blanks alone is no name.
std::string person_field(json::Fields& fields, std::string_view name) {
  std::string person = line_field(fields, name, Sizes::person_bytes);
  if (!person.empty() && mail::folded(person).empty()) fields.refuse(name, "must not be blank");
  return person;
}

int number_field(json::Fields& fields, std::string_view name, std::int64_t most, Need need) {
  return static_cast<int>(fields.integer(name, need, 1, most).value_or(0));
}

reminders::Variables variables_field(json::Fields& fields) {
  reminders::Variables variables;
  const auto members = fields.map("variables", Need::optional, Sizes::variables);
  if (!members) return variables;
  for (const auto& [name, element] : *members) {
    const std::string field = "variables." + std::string(name);
    const auto value = element.text();
    if (!value || value->size() > Sizes::variable_bytes)
      fields.refuse(field, "must be a string of at most " + std::to_string(Sizes::variable_bytes) + " bytes");
    else if (!variables.emplace(name, *value).second)
      fields.refuse(field, "must occur once");
  }
  return variables;
}

reminders::DraftText text_fields(json::Fields& fields, Need need) {
  reminders::DraftText text;
  text.subject = line_field(fields, "email_subject", Sizes::subject_bytes, need);
  text.body = text_field(fields, "email_content", Sizes::text_bytes, need);
  text.html = text_field(fields, "email_html", Sizes::html_bytes);
  return text;
}

// Something that is not empty, whether it can be taken or not.
bool is_given(json::Fields& fields, std::string_view name) {
  const auto element = fields.any(name, Need::optional);
  return element && element->text() != "";
}

reminders::NewDraft new_draft(json::Fields& fields) {
  reminders::NewDraft draft;
  draft.customer_id = line_field(fields, "customer_id", Sizes::id_bytes, Need::required);
  if (const auto id = fields.any("customer_id", Need::optional); id && id->text() == "")
    fields.refuse("customer_id", "must not be empty");
  draft.reminder_type = line_field(fields, "reminder_type", Sizes::id_bytes, Need::required);
  draft.template_id = line_field(fields, "template_id", Sizes::id_bytes);
  reminders::DraftText text = text_fields(fields, Need::optional);
  draft.variables = variables_field(fields);
  draft.created_by = person_field(fields, "created_by");
  const bool has_subject = is_given(fields, "email_subject");
  const bool has_body = is_given(fields, "email_content");
  const bool has_text = has_subject || has_body || is_given(fields, "email_html");
  const bool has_template = is_given(fields, "template_id");
  if (has_text && has_template)
    fields.refuse("template_id", "must not be given together with email_subject, email_content or email_html");
  else if (!has_text && !has_template)
    fields.refuse("template_id", "is required, or email_subject and email_content in its place");
  if (has_text && !has_subject) fields.refuse("email_subject", "is required");
  if (has_text && !has_body) fields.refuse("email_content", "is required");
  if (has_text && !draft.variables.empty()) fields.refuse("variables", "must not be given without template_id");
  if (has_text) draft.text = std::move(text);
  return draft;
}

int seen_revision(json::Fields& fields) {
  return number_field(fields, "revision", reminders::largest_revision, Need::required);
}

DecisionRequest approval(json::Fields& fields) {
  DecisionRequest request;
  request.seen = seen_revision(fields);
  request.by = person_field(fields, "approved_by");
  return request;
}

}  // namespace

base::Result<reminders::Reminders*, Problem> reminders_of(const Call& call) {
  if (call.services.reminders == nullptr) return refuse(problems::no_reminders, "The server runs with --no-reminders.");
  return call.services.reminders;
}

void note_email(const Call& call, const std::string& id) {
  if (call.services.reminders != nullptr) call.services.reminders->note_email(id);
}

void rename_fields(reminders::Refusal& refusal, std::span<const FieldName> names) {
  constexpr std::string_view of_text = "text.";
  for (reminders::FieldFault& fault : refusal.faults) {
    if (fault.field.starts_with("variables.")) continue;
    if (fault.field.starts_with(of_text)) fault.field.erase(0, of_text.size());
    const std::size_t last = fault.field.rfind('.') + 1;  // 0 when there is no dot
    for (const FieldName& name : names)
      if (std::string_view(fault.field).substr(last) == name.ours) {
        fault.field.replace(last, std::string::npos, name.of_api);
        break;
      }
  }
}

void name_field(reminders::Refusal& refusal, std::span<const NamedThing> things) {
  for (const NamedThing& thing : things) {
    if (thing.kind != refusal.kind) continue;
    std::string rule(thing.rule);
    if (refusal.current_revision) rule += ", which is " + std::to_string(*refusal.current_revision);
    refusal.faults.push_back({std::string(thing.field), std::move(rule)});
  }
}

reminders::Actor actor_of(const Call& call, std::string name) {
  return {.tenant = call.caller.tenant,
          .name = std::move(name),
          .key = call.caller.name,
          .from = std::string(call.request.peer),
          .note_answer = call.note_answer,
          .note_progress = call.note_progress};
}

base::Result<reminders::PageRequest, Problem> reminder_page(const Call& call) {
  TRY(Page page, call.page());
  return reminders::PageRequest{std::move(page.cursor), page.limit};
}

base::Result<std::string, Problem> type_in_query(const Call& call) {
  std::string type = call.text("reminder_type");
  if (type.empty() || reminders::is_type_name(type)) return type;
  return refuse_field("reminder_type", std::string(reminders::type_name_rule));
}

base::Result<reminders::NewDraft, Problem> read_new_draft(std::string_view body) {
  return read_object(body, new_draft);
}

base::Result<std::vector<reminders::NewDraft>, Problem> read_new_drafts(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    std::vector<reminders::NewDraft> drafts;
    const auto elements = fields.list("drafts", Need::required, reminders::most_in_bulk);
    if (elements && elements->empty()) fields.refuse("drafts", "must have at least one element");
    for (std::size_t i = 0; elements && i < elements->size(); ++i) {
      json::Fields each((*elements)[i], json::element_path("drafts", i), fields.errors());
      if (!(*elements)[i].is_object()) continue;
      drafts.push_back(new_draft(each));
      each.refuse_others();
    }
    return drafts;
  });
}

base::Result<RevisionRequest, Problem> read_revision(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    RevisionRequest request;
    request.seen = seen_revision(fields);
    request.text = text_fields(fields, Need::required);
    request.by = person_field(fields, "revised_by");
    return request;
  });
}

base::Result<DecisionRequest, Problem> read_approval(std::string_view body) { return read_object(body, approval); }

base::Result<DecisionRequest, Problem> read_named_approval(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    std::string draft_id = line_field(fields, "draft_id", Sizes::draft_id_bytes, Need::required);
    DecisionRequest request = approval(fields);
    request.draft_id = std::move(draft_id);
    return request;
  });
}

base::Result<DecisionRequest, Problem> read_rejection(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    DecisionRequest request;
    request.seen = seen_revision(fields);
    request.reason = line_field(fields, "reason", Sizes::reason_bytes, Need::required);
    request.by = person_field(fields, "rejected_by");
    return request;
  });
}

base::Result<reminders::Customer, Problem> read_customer(std::string_view body, const std::string& id) {
  return read_object(body, [&id](json::Fields& fields) {
    reminders::Customer customer;
    customer.id = id;
    customer.name = line_field(fields, "customer_name", Sizes::name_bytes, Need::required);
    customer.email = line_field(fields, "customer_email", Sizes::address_bytes, Need::required);
    return customer;
  });
}

base::Result<reminders::Invoice, Problem> read_invoice(std::string_view body, const std::string& customer_id,
                                                       const std::string& id) {
  return read_object(body, [&](json::Fields& fields) {
    reminders::Invoice invoice;
    invoice.customer_id = customer_id;
    invoice.id = id;
    const auto amount = fields.text("amount", Need::required, Sizes::amount_bytes);
    const auto currency = fields.text("currency", Need::required, Sizes::amount_bytes);
    if (currency && !reminders::is_currency(*currency)) {
      fields.refuse("currency", "must be the three capital letters of a currency, such as EUR");
    } else if (amount && currency) {
      auto money = reminders::Money::parse(*amount, *currency);
      if (money)
        invoice.amount = *std::move(money);
      else
        fields.refuse("amount", money.error().message);
    }
    invoice.due_date = text_field(fields, "due_date", Sizes::amount_bytes, Need::required);
    return invoice;
  });
}

base::Result<reminders::Payment, Problem> read_payment(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    reminders::Payment payment;
    payment.amount = text_field(fields, "amount", Sizes::amount_bytes);
    payment.currency = text_field(fields, "currency", Sizes::amount_bytes);
    payment.paid_at = fields.time("paid_date", Need::optional);
    payment.reference = line_field(fields, "reference", Sizes::reference_bytes);
    return payment;
  });
}

base::Result<bool, Problem> read_erasure(std::string_view body) {
  return read_object(
      body, [](json::Fields& fields) { return fields.boolean("also_unpaid", Need::optional).value_or(false); });
}

base::Result<reminders::TemplateVersion, Problem> read_template(std::string_view body, const std::string& id) {
  return read_object(body, [&id](json::Fields& fields) {
    reminders::TemplateVersion version;
    version.template_id = id;
    version.name = line_field(fields, "template_name", Sizes::name_bytes);
    version.type = line_field(fields, "template_type", Sizes::id_bytes);
    version.subject = text_field(fields, "subject_template", Sizes::subject_bytes, Need::required);
    version.body = text_field(fields, "body_template", Sizes::text_bytes, Need::required);
    version.html = text_field(fields, "html_template", Sizes::html_bytes);
    if (const auto names = fields.list("required", Need::optional, Sizes::variables))
      for (std::size_t i = 0; i < names->size(); ++i) {
        const auto name = (*names)[i].text();
        if (name && name->size() <= reminders::TemplateText::max_name_bytes)
          version.required.emplace_back(*name);
        else
          fields.refuse(json::element_path("required", i), "must be the name of a variable");
      }
    version.branding = line_field(fields, "branding", Sizes::id_bytes);
    version.created_by = person_field(fields, "created_by");
    return version;
  });
}

base::Result<int, Problem> read_version(std::string_view body) {
  return read_object(
      body, [](json::Fields& fields) { return number_field(fields, "version", Sizes::versions, Need::required); });
}

base::Result<PreviewRequest, Problem> read_preview(std::string_view body) {
  return read_object(body, [](json::Fields& fields) {
    PreviewRequest request;
    if (const int version = number_field(fields, "version", Sizes::versions, Need::optional)) request.version = version;
    request.customer_id = line_field(fields, "customer_id", Sizes::id_bytes);
    request.reminder_type = line_field(fields, "reminder_type", Sizes::id_bytes);
    request.variables = variables_field(fields);
    if (request.version && !request.customer_id.empty())
      fields.refuse("version", "must not be given together with customer_id");
    if (request.customer_id.empty() != request.reminder_type.empty())
      fields.refuse(
          request.customer_id.empty() ? "customer_id" : "reminder_type",
          "is required together with " + std::string(request.customer_id.empty() ? "reminder_type" : "customer_id"));
    return request;
  });
}

base::Result<reminders::Branding, Problem> read_branding(std::string_view body, const std::string& name) {
  return read_object(body, [&name](json::Fields& fields) {
    reminders::Branding branding;
    branding.name = name;
    branding.from = line_field(fields, "from", Sizes::address_bytes);
    branding.reply_to = line_field(fields, "reply_to", Sizes::address_bytes);
    branding.company = line_field(fields, "company", Sizes::name_bytes);
    branding.text_footer = text_field(fields, "text_footer", Sizes::frame_bytes);
    branding.html_header = text_field(fields, "html_header", Sizes::frame_bytes);
    branding.html_footer = text_field(fields, "html_footer", Sizes::frame_bytes);
    return branding;
  });
}

// A line for each.
std::string told_of(const reminders::Recalled& recalled) {
  std::string lines;
  for (const std::string& id : recalled.cancelled) lines.append("-").append(id).append("\n");
  for (const std::string& id : recalled.being_sent) lines.append("+").append(id).append("\n");
  for (const std::string& id : recalled.perhaps_sent) lines.append("?").append(id).append("\n");
  for (const std::string& id : recalled.not_recalled) lines.append("!").append(id).append("\n");
  return lines;
}

reminders::Recalled read_told(const std::string& told_of) {
  reminders::Recalled recalled;
  for (std::size_t begin = 0, end = told_of.find('\n'); end != std::string::npos;
       begin = end + 1, end = told_of.find('\n', begin)) {
    std::vector<std::string>& ids = told_of[begin] == '-'   ? recalled.cancelled
                                    : told_of[begin] == '?' ? recalled.perhaps_sent
                                    : told_of[begin] == '!' ? recalled.not_recalled
                                                            : recalled.being_sent;
    ids.push_back(told_of.substr(begin + 1, end - begin - 1));
  }
  return recalled;
}

}  // namespace postino::api
