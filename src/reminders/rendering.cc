#include "reminders/rendering.h"

#include <algorithm>
#include <set>

#include "mail/address.h"
#include "mail/text_rules.h"
#include "outbox/outbox.h"
#include "reminders/record/customer.h"

namespace postino::reminders {

namespace {

constexpr std::size_t longest_template_name = 200;  // in bytes
constexpr std::size_t most_required = 100;
constexpr std::string_view type_ending = "_reminder";
constexpr std::string_view company_variable = "company_name";  // of the branding

// Notes the rule that each field breaks.
class FaultList {
 public:
  explicit FaultList(std::string prefix = "") : prefix_(std::move(prefix)) {}

  void add(std::string_view field, std::string rule) {
    faults_.push_back({prefix_ + std::string(field), std::move(rule)});
  }

  void check_id(std::string_view field, const std::string& id) {
    if (!is_record_id(id)) add(field, std::string(record_id_rule));
  }

  // Blanks say nothing.
  void check_words(std::string_view field, const std::string& text) {
    if (mail::folded(text).empty()) add(field, text.empty() ? "must not be empty" : "must not be blank");
  }

  void check_line(std::string_view field, const std::string& text, std::size_t most) {
    if (text.size() > most)
      add(field, "must not be longer than " + std::to_string(most) + " bytes");
    else if (const auto line = mail::check_line(text); !line)
      add(field, line.error().message);
  }

  void check_mailbox(std::string_view field, const std::string& text) {
    if (text.empty()) return;
    if (const auto mailbox = mail::parse_mailbox(text); !mailbox) add(field, mailbox.error().message);
  }

  // Of a text with placeholders. Their names, if it can be read.
  std::vector<std::string> check_template(std::string_view field, const std::string& text) {
    if (!mail::is_utf8(text)) {
      add(field, "must be UTF-8 without NUL");
      return {};
    }
    const auto parsed = TemplateText::parse(text);
    if (!parsed) add(field, parsed.error().message);
    return parsed ? parsed->names() : std::vector<std::string>();
  }

  std::vector<FieldFault> take() { return std::move(faults_); }

 private:
  const std::string prefix_;
  std::vector<FieldFault> faults_;
};

// The texts that come together, in the order in which they are written.
struct RenderedPart {
  const char* field;
  const std::string* text;
  TextKind kind;
};

std::string with_footer(std::string body, const std::string& footer) {
  if (footer.empty()) return body;
  if (!body.ends_with('\n')) body += '\n';
  return body + "\n" + footer;
}

}  // namespace

const Variables& sample_variables() {
  static const Variables sample = {
      {"company_name", "Example Company"},
      {"customer_email", "ada@example.com"},
      {"customer_id", "cust_001"},
      {"customer_name", "Ada Lovelace"},
      {"days_overdue", "14"},
      {"due_date", "2026-01-31"},
      {"invoice_id", "INV-001"},
      {"invoice_ids", "INV-001, INV-002"},
      {"overdue_amount", "1500.00 USD"},
      {"reminder_type", "first"},
  };
  return sample;
}

bool is_known_variable(std::string_view name) { return sample_variables().contains(name); }

bool fits_type(const TemplateVersion& version, std::string_view reminder_type) {
  std::string_view type = version.type;
  if (type.empty() || type == reminder_type) return true;
  if (!type.ends_with(type_ending)) return false;
  type.remove_suffix(type_ending.size());
  return type == reminder_type;
}

bool needs_company(const TemplateVersion& version) {
  if (std::ranges::find(version.required, company_variable) != version.required.end()) return false;
  for (const std::string* const text : {&version.subject, &version.body, &version.html}) {
    const auto parsed = TemplateText::parse(*text);
    const std::vector<std::string> names = parsed ? parsed->names() : std::vector<std::string>();
    if (std::ranges::find(names, company_variable) != names.end()) return true;
  }
  return false;
}

std::vector<FieldFault> faults_of(const TemplateVersion& version) {
  FaultList faults;
  faults.check_id("template_id", version.template_id);
  faults.check_line("name", version.name, longest_template_name);
  faults.check_line("type", version.type, longest_record_id);
  if (!version.branding.empty()) faults.check_id("branding", version.branding);
  if (version.subject.empty()) faults.add("subject", "must not be empty");
  if (version.body.empty()) faults.add("body", "must not be empty");
  faults.check_line("subject", version.subject, outbox::PayloadLimits::subject_bytes);
  if (version.subject.size() + version.body.size() + version.html.size() > most_text_bytes)
    faults.add("body", "must not be longer than " + std::to_string(most_text_bytes) + " bytes with subject and html");

  const std::set<std::string> required(version.required.begin(), version.required.end());
  if (version.required.size() > most_required)
    faults.add("required", "must not have more than " + std::to_string(most_required) + " names");
  for (const std::string& name : required)
    if (const auto parsed = TemplateText::parse("{{" + name + "}}"); !parsed || parsed->names() != std::vector{name})
      faults.add("required", "must have names of 1 to 64 lower-case letters, digits and _, with a letter first");
  // A name that is written wrong would be found out when the first draft is made. It is better found out now.
  for (const auto& [field, text] :
       {std::pair{"subject", &version.subject}, std::pair{"body", &version.body}, std::pair{"html", &version.html}})
    for (const std::string& name : faults.check_template(field, *text))
      if (!is_known_variable(name) && !required.contains(name))
        faults.add(field, "has {{" + name + "}}, which is neither known nor one of `required`");
  if (version.branding.empty() && needs_company(version))
    faults.add("branding", "is required, because the template has {{company_name}}, which is of a branding");
  return faults.take();
}

std::vector<FieldFault> faults_of(const Branding& branding) {
  FaultList faults;
  faults.check_id("name", branding.name);
  faults.check_mailbox("from", branding.from);
  faults.check_mailbox("reply_to", branding.reply_to);
  faults.check_line("company", branding.company, longest_template_name);
  if (branding.text_footer.size() + branding.html_header.size() + branding.html_footer.size() > most_text_bytes)
    faults.add("html_header",
               "must not be longer than " + std::to_string(most_text_bytes) + " bytes with both footers");
  for (const auto& [field, text] :
       {std::pair{"text_footer", &branding.text_footer}, std::pair{"html_header", &branding.html_header},
        std::pair{"html_footer", &branding.html_footer}})
    for (const std::string& name : faults.check_template(field, *text))
      if (!is_known_variable(name))
        faults.add(field, "has {{" + name + "}}, which is not known");
      else if (name == company_variable && branding.company.empty())
        faults.add("company", "is required, because " + std::string(field) + " has {{company_name}}");
  return faults.take();
}

std::vector<FieldFault> faults_of(const DraftText& text, const std::string& prefix) {
  FaultList faults(prefix);
  faults.check_words("subject", text.subject);
  faults.check_line("subject", text.subject, outbox::PayloadLimits::subject_bytes);
  faults.check_words("body", text.body);
  if (text.subject.size() + text.body.size() + text.html.size() > most_text_bytes)
    faults.add("body", "must not be longer than " + std::to_string(most_text_bytes) + " bytes with subject and html");
  if (!mail::is_utf8(text.body)) faults.add("body", "must be UTF-8 without NUL");
  if (!mail::is_utf8(text.html)) faults.add("html", "must be UTF-8 without NUL");
  return faults.take();
}

std::vector<FieldFault> faults_of(const Draft& draft, const std::string& address) {
  FaultList faults;
  if (!may_be_customer(draft.customer_id)) faults.add("customer_id", std::string(customer_id_rule));
  if (const auto mailbox = mail::parse_mailbox(address); !mailbox)
    faults.add("customer_email", mailbox.error().message);
  faults.check_words("email_subject", draft.text.subject);
  faults.check_line("email_subject", draft.text.subject, outbox::PayloadLimits::subject_bytes);
  if (draft.text.html.empty()) faults.check_words("email_content", draft.text.body);
  if (!mail::is_utf8(draft.text.body)) faults.add("email_content", "must be UTF-8 without NUL");
  if (!mail::is_utf8(draft.text.html)) faults.add("email_html", "must be UTF-8 without NUL");
  faults.check_mailbox("email_from", draft.from);
  faults.check_mailbox("email_reply_to", draft.reply_to);
  return faults.take();
}

std::vector<FieldFault> faults_of(const Variables& given) {
  FaultList faults;
  if (given.size() > most_variables) faults.add("variables", "must not be more than " + std::to_string(most_variables));
  for (const auto& [name, value] : given)
    if (value.size() > longest_variable)
      faults.add("variables." + name, "must not be longer than " + std::to_string(longest_variable) + " bytes");
    else if (!mail::is_utf8(value))
      faults.add("variables." + name, "must be UTF-8 without NUL");
  return faults.take();
}

OrRefusal<void> refuse_faults(std::vector<FieldFault> faults) {
  if (faults.empty()) return {};
  Refusal refusal;
  refusal.message = faults.front().field + " " + faults.front().rule;
  refusal.faults = std::move(faults);
  return base::propagate(std::move(refusal));
}

OrRefusal<Rendered> render_text(const TemplateVersion& version, const std::optional<Branding>& branding,
                                const Variables& known, const Variables& given, KnownValues kind) {
  TRY_VOID(refuse_faults(faults_of(given)));
  const Branding brand = branding.value_or(Branding());
  const bool has_html = !version.html.empty();
  const std::string none;
  const std::vector<RenderedPart> parts = {
      {"subject", &version.subject, TextKind::line},
      {"body", &version.body, TextKind::plain},
      {"html", &version.html, TextKind::html},
      {"text_footer", &brand.text_footer, TextKind::plain},
      {"html_header", has_html ? &brand.html_header : &none, TextKind::html},
      {"html_footer", has_html ? &brand.html_footer : &none, TextKind::html},
  };

  FaultList faults;
  std::vector<TemplateText> texts;
  std::set<std::string> names(version.required.begin(), version.required.end());
  for (const RenderedPart& part : parts) {
    auto parsed = TemplateText::parse(*part.text);
    if (!parsed) {
      // Only of another program's template: ours were checked when they came.
      faults.add("template_id", "is a template whose " + std::string(part.field) + " " + parsed.error().message);
      continue;
    }
    for (const std::string& name : parsed->names()) names.insert(name);
    texts.push_back(*std::move(parsed));
  }
  Variables values = known;
  if (!brand.company.empty()) values[std::string(company_variable)] = brand.company;
  for (const auto& [name, value] : given) {
    if (!names.contains(name))
      faults.add("variables." + name, "is not in the template");
    else if (kind == KnownValues::of_customer && values.contains(name))
      faults.add("variables." + name, "must not be given: Postino knows it");
    values[name] = value;
  }
  for (const std::string& name : names)
    if (!values.contains(name)) faults.add("variables." + name, "must be given: the template needs it");
  TRY_VOID(refuse_faults(faults.take()));

  std::vector<std::string> written;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto text = texts[i].render(values, parts[i].kind);
    if (!text) return refuse_field("variables", text.error().message);
    written.push_back(*std::move(text));
  }
  Rendered rendered;
  rendered.text.subject = written[0];
  rendered.text.body = with_footer(written[1], written[3]);
  if (has_html) rendered.text.html = written[4] + written[2] + written[5];
  rendered.template_id = version.template_id;
  rendered.template_version = version.version;
  rendered.branding = version.branding;
  rendered.from = brand.from;
  rendered.reply_to = brand.reply_to;
  TRY_VOID(refuse_faults(faults_of(rendered.text, "text.")));
  return rendered;
}

}  // namespace postino::reminders
