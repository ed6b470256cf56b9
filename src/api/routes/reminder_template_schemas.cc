// The shapes of what is said about templates of reminders, and about branding.
#include "api/protocol/schemas.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/schema_parts.h"

namespace postino::api {

namespace {

using enum Presence;

Schema template_line(std::size_t most, std::string description) {
  return {.type = "string",
          .description = std::move(description),
          .pattern = without_control_characters,
          .most = limit_of(most)};
}

Schema template_text(std::size_t most, std::string description) {
  return {.type = "string", .description = std::move(description), .most = limit_of(most)};
}

Schema version_number(std::string description) {
  return {.type = "integer", .description = std::move(description), .least = 1, .most = ReminderLimits::versions};
}

Schema template_details() {
  return {
      .type = "object",
      .properties = {{"template_name", template_line(ReminderLimits::name_bytes, "A name for people.")},
                     {"template_type",
                      template_line(ReminderLimits::id_bytes, "The type of reminder that it is for; any by default.")},
                     {"subject_template",
                      {.type = "string",
                       .description = "The subject, with {{placeholders}}.",
                       .most = limit_of(ReminderLimits::subject_bytes),
                       .example = R"("Payment Reminder: Invoice {{invoice_id}}")"},
                      required},
                     {"body_template",
                      template_text(ReminderLimits::text_bytes, "The plain text, with {{placeholders}}."), required},
                     {"html_template", template_text(ReminderLimits::html_bytes,
                                                     "The HTML, with {{placeholders}}, whose values are escaped.")},
                     {"required",
                      {.type = "array",
                       .description = "Variables that a draft must give.",
                       .most = limit_of(ReminderLimits::variables),
                       .elements = {{.type = "string", .most = limit_of(reminders::TemplateText::max_name_bytes)}}}},
                     {"branding", template_line(ReminderLimits::id_bytes, "The name of a branding.")},
                     {"created_by",
                      {.type = "string",
                       .description = "Who writes it; the name of the API key by default.",
                       .pattern = person_pattern,
                       .most = limit_of(ReminderLimits::person_bytes)}}},
      .closed = true};
}

Schema template_schema() {
  return {.type = "object",
          .properties = {{"template_id", text(), required},
                         {"version", count("Absent: the template of a customer's own.")},
                         {"customer_id", text("Whose own template it is.")},
                         {"template_name", text(), required},
                         {"template_type", text()},
                         {"subject_template", text(), required},
                         {"body_template", text(), required},
                         {"html_template", text()},
                         {"required", list_of(text()), required},
                         {"branding", text()},
                         {"status", {.type = "string", .choices = {"active", "inactive"}}, required},
                         {"created_by", text(), required},
                         {"created_date", time(), required}}};
}

Schema template_summary() {
  return {.type = "object",
          .properties = {{"template_id", text(), required},
                         {"template_name", text(), required},
                         {"template_type", text()},
                         {"active_version", count("Absent: none is active.")},
                         {"latest_version", count(), required}}};
}

std::vector<Property> branding_properties() {
  return {
      {"from", template_line(ReminderLimits::address_bytes, "Address of the sender; the configured one by default.")},
      {"reply_to", template_line(ReminderLimits::address_bytes, "Address for replies.")},
      {"company", template_line(ReminderLimits::name_bytes, "Name of the company: {{company_name}}.")},
      {"text_footer", template_text(ReminderLimits::frame_bytes, "Below each plain text.")},
      {"html_header", template_text(ReminderLimits::frame_bytes, "Before each HTML body.")},
      {"html_footer", template_text(ReminderLimits::frame_bytes, "After each HTML body.")}};
}

Schema branding_schema() {
  std::vector<Property> properties{{"name", text(), required}};
  for (const Property& property : branding_properties()) properties.push_back({property.name, text()});
  properties.push_back({"updated_date", time(), required});
  return {.type = "object", .properties = std::move(properties)};
}

Schema preview_request() {
  return {.type = "object",
          .properties = {{"version", version_number("The version; the active one by default.")},
                         {"customer_id", template_line(ReminderLimits::id_bytes, "With the values of this customer.")},
                         {"reminder_type",
                          template_line(ReminderLimits::id_bytes, "The type of the reminder, with customer_id.")},
                         {"variables", like("Variables", "Values of placeholders.")}},
          .closed = true};
}

Schema preview() {
  return {.type = "object",
          .properties = {{"email_subject", text(), required},
                         {"email_content", text(), required},
                         {"email_html", text()},
                         {"template_id", text()},
                         {"template_version", count()},
                         {"branding", text()},
                         {"from", text()},
                         {"reply_to", text()}}};
}

}  // namespace

std::vector<NamedSchema> reminder_template_schemas() {
  return {
      {"TemplateDetails", template_details()},
      {"Template", template_schema()},
      {"TemplateSummary", template_summary()},
      {"TemplatePage", page_of("TemplateSummary")},
      {"TemplateVersionPage", page_of("Template")},
      {"VersionChoice",
       {.type = "object",
        .properties = {{"version", version_number("The version to activate."), required}},
        .closed = true}},
      {"PreviewRequest", preview_request()},
      {"Preview", preview()},
      {"BrandingDetails", {.type = "object", .properties = branding_properties(), .closed = true}},
      {"Branding", branding_schema()},
      {"BrandingPage", page_of_records("Branding")},
  };
}

}  // namespace postino::api
