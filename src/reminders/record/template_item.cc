#include "reminders/record/template_item.h"

#include <charconv>

#include "reminders/record/item_fields.h"

namespace postino::reminders {

namespace {

constexpr int last_version = 1'000'000'000;  // larger numbers are no versions

// What a partition key ends with: the id that the item names, or else what follows the last '#'.
std::string id_in(const std::string& partition, const std::string& named) {
  return !named.empty() && partition.ends_with("#" + named) ? named : partition.substr(partition.rfind('#') + 1);
}

}  // namespace

std::string_view name_of(TemplateStatus status) { return status == TemplateStatus::active ? "active" : "inactive"; }

std::string version_sort(int version) { return std::string(version_begin) + std::to_string(version); }

std::optional<int> version_of_sort(std::string_view sort) {
  if (!sort.starts_with(version_begin)) return std::nullopt;
  sort.remove_prefix(version_begin.size());
  int number = 0;
  const auto [end, error] = std::from_chars(sort.data(), sort.data() + sort.size(), number);
  const bool is_number = error == std::errc() && end == sort.data() + sort.size();
  // "VERSION#01" would be found under another key than it has.
  if (!is_number || number < 1 || number > last_version || std::to_string(number) != sort) return std::nullopt;
  return number;
}

std::string override_sort(std::string_view template_id) { return std::string(template_begin).append(template_id); }

std::string version_partition(const Keys& keys, std::string_view template_id, int version, TemplateStatus status) {
  return keys.status(name_of(status), std::string(template_id) + "#" + std::to_string(version));
}

item::Item template_item(const Keys& keys, const TemplateVersion& version) {
  const bool is_override = !version.customer_id.empty();
  item::Item item = is_override ? Keys::key(keys.customer(version.customer_id), override_sort(version.template_id))
                                : Keys::key(keys.of_template(version.template_id), version_sort(version.version));
  if (is_override) item.set("customer_id", version.customer_id);
  item.set("GSI1PK", is_override ? keys.status(name_of(version.status), version.customer_id + "#" + version.template_id)
                                 : version_partition(keys, version.template_id, version.version, version.status));
  item.set("GSI1SK", seed_time(version.created_at));
  item.set("version", is_override ? 1 : version.version);  // of an override there is one
  item.set("template_id", version.template_id);
  item.set("template_name", version.name);
  set_text(item, "template_type", version.type);
  item.set("subject_template", version.subject);
  item.set("body_template", version.body);
  set_text(item, "html_template", version.html);
  set_texts(item, "required_variables", version.required);
  set_text(item, "branding", version.branding);
  item.set("status", name_of(version.status));
  set_text(item, "created_by", version.created_by);
  item.set("created_date", seed_time(version.created_at));
  return item;
}

base::Result<TemplateVersion> read_template(const item::Item& item) {
  ItemFields fields(item);
  TemplateVersion version;
  const std::string sort = fields.text("SK");
  if (const auto number = version_of_sort(sort)) {
    version.version = *number;
    version.template_id = id_in(fields.text("PK"), fields.text("template_id"));
  } else {
    version.template_id = fields.sort_after(template_begin);
    version.customer_id = id_in(fields.text("PK"), fields.text("customer_id"));
  }
  version.name = fields.text("template_name");
  version.type = fields.text("template_type");
  version.subject = fields.text("subject_template");
  version.body = fields.text("body_template");
  version.html = fields.text("html_template");
  version.required = fields.texts("required_variables");
  version.branding = fields.text("branding");
  // An override that says nothing of its status is meant to be used.
  const std::string status = fields.text("status");
  const bool is_active = status == name_of(TemplateStatus::active) || (status.empty() && version.version == 0);
  version.status = is_active ? TemplateStatus::active : TemplateStatus::inactive;
  version.created_by = fields.text("created_by");
  version.created_at = fields.time("created_date").value_or(base::TimePoint());
  TRY_VOID(fields.check());
  return version;
}

item::Item numbers_item(const Keys& keys, const std::string& template_id, const TemplateNumbers& numbers) {
  item::Item item = Keys::key(keys.of_template(template_id), current_sort);
  item.set("template_id", template_id);
  item.set("active_version", numbers.active);
  item.set("latest_version", numbers.latest);
  item.set("changes", numbers.changes);
  return item;
}

base::Result<TemplateNumbers> read_numbers(const item::Item& item) {
  ItemFields fields(item);
  TemplateNumbers numbers;
  numbers.active = fields.count("active_version");
  numbers.latest = fields.count("latest_version");
  numbers.changes = fields.whole("changes");
  TRY_VOID(fields.check());
  return numbers;
}

item::Item branding_item(const Keys& keys, const Branding& branding) {
  item::Item item = Keys::key(keys.branding(branding.name), current_sort);
  item.set("GSI1PK", keys.listing(branding_list));
  item.set("GSI1SK", branding.name);
  item.set("branding", branding.name);
  set_text(item, "from_address", branding.from);
  set_text(item, "reply_to", branding.reply_to);
  set_text(item, "company_name", branding.company);
  set_text(item, "text_footer", branding.text_footer);
  set_text(item, "html_header", branding.html_header);
  set_text(item, "html_footer", branding.html_footer);
  item.set("updated_date", seed_time(branding.updated_at));
  return item;
}

base::Result<Branding> read_branding(const item::Item& item) {
  ItemFields fields(item);
  Branding branding;
  branding.name = fields.text("branding");
  branding.from = fields.text("from_address");
  branding.reply_to = fields.text("reply_to");
  branding.company = fields.text("company_name");
  branding.text_footer = fields.text("text_footer");
  branding.html_header = fields.text("html_header");
  branding.html_footer = fields.text("html_footer");
  branding.updated_at = fields.time("updated_date").value_or(base::TimePoint());
  TRY_VOID(fields.check());
  return branding;
}

}  // namespace postino::reminders
