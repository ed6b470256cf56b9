// Templates, overrides for single customers and branding as items of the table.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "item/value.h"
#include "reminders/record/keys.h"
#include "reminders/record/template.h"

namespace postino::reminders {

std::string_view name_of(TemplateStatus status);

std::string version_sort(int version);                      // "VERSION#1"
std::optional<int> version_of_sort(std::string_view sort);  // nullopt: no version's
std::string override_sort(std::string_view template_id);    // "TEMPLATE#reminder_first"
// GSI1PK of a version.
std::string version_partition(const Keys& keys, std::string_view template_id, int version, TemplateStatus status);

// A version, or an override if it has a customer.
item::Item template_item(const Keys& keys, const TemplateVersion& version);
// Also one that another program wrote. corrupt, with the attribute, when it cannot be read.
base::Result<TemplateVersion> read_template(const item::Item& item);

// Which versions a template has. What the versions say of themselves comes first: other programs do not know this.
struct TemplateNumbers {
  int active = 0;  // 0: none
  int latest = 0;
  std::int64_t changes = 0;  // one more with each change; 0: it is not stored
};
item::Item numbers_item(const Keys& keys, const std::string& template_id, const TemplateNumbers& numbers);
base::Result<TemplateNumbers> read_numbers(const item::Item& item);

inline constexpr std::string_view branding_list = "BRANDINGS";  // Keys::listing()
item::Item branding_item(const Keys& keys, const Branding& branding);
base::Result<Branding> read_branding(const item::Item& item);

}  // namespace postino::reminders
