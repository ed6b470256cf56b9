#include "support/field_rules.h"

#include <algorithm>

#include "base/text.h"
#include "item/size.h"
#include "json/string.h"
#include "mail/address.h"
#include "support/page.h"

namespace postino::support {

namespace {

bool has_forbidden(std::string_view text, bool is_line) {
  return base::has_control_character(text, is_line ? "" : base::line_controls);
}

bool has_forbidden(const item::AttributeValue& value) {
  if (const auto* const text = value.get_if<std::string>()) return has_forbidden(*text, false);
  if (const auto* const list = value.get_if<item::List>())
    return std::ranges::any_of(*list, [](const item::AttributeValue& each) { return has_forbidden(each); });
  if (const auto* const map = value.get_if<item::Map>())
    return std::ranges::any_of(
        *map, [](const item::Attribute& each) { return has_forbidden(each.name, true) || has_forbidden(each.value); });
  return false;
}

std::string range_text(std::size_t least, std::size_t most) {
  return least == 0 ? "must have at most " + std::to_string(most) + " characters"
                    : "must have " + std::to_string(least) + " to " + std::to_string(most) + " characters";
}

}  // namespace

void FieldRules::add(std::string field, std::string rule) {
  constexpr std::size_t most_faults = 50;
  if (faults_.size() < most_faults) faults_.push_back({std::move(field), std::move(rule)});
}

void FieldRules::characters(const std::string& field, std::string_view value, std::size_t least, std::size_t most,
                            bool is_line) {
  if (!json::is_utf8(value)) return add(field, "must be UTF-8");
  if (has_forbidden(value, is_line))
    return add(field, is_line ? "must be one line without control characters"
                              : "must not have control characters other than line ends and tabs");
  const std::size_t count = base::character_count(value);
  if (count < least || count > most) add(field, range_text(least, most));
}

void FieldRules::text(const std::string& field, std::string_view value, std::size_t least, std::size_t most) {
  characters(field, value, least, most, false);
  if (least > 0 && !value.empty() && base::trim(value).empty()) add(field, "must not be blank");
}

void FieldRules::line(const std::string& field, std::string_view value, std::size_t least, std::size_t most) {
  characters(field, value, least, most, true);
  if (least > 0 && !value.empty() && base::trim(value).empty()) add(field, "must not be blank");
}

void FieldRules::name(const std::string& field, std::string_view value, std::size_t most_bytes) {
  if (value.empty() || value.size() > most_bytes)
    return add(field, "must have 1 to " + std::to_string(most_bytes) + " bytes");
  characters(field, value, 1, most_bytes, true);
}

void FieldRules::one_of(const std::string& field, std::string_view value,
                        std::initializer_list<std::string_view> allowed) {
  if (std::ranges::find(allowed, value) != allowed.end()) return;
  std::string rule = "must be one of";
  for (const std::string_view each : allowed) rule.append(each == *allowed.begin() ? " " : ", ").append(each);
  add(field, rule);
}

void FieldRules::whole(const std::string& field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    add(field, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

void FieldRules::word(const std::string& field, std::string_view value, std::size_t most_bytes) {
  const auto is_allowed = [](char letter) {
    const char low = base::lower(letter);
    return (low >= 'a' && low <= 'z') || (letter >= '0' && letter <= '9') || letter == '_' || letter == '.' ||
           letter == '-';
  };
  if (value.empty() || value.size() > most_bytes || !std::ranges::all_of(value, is_allowed))
    add(field, "must be 1 to " + std::to_string(most_bytes) + " letters, digits, and _ . -");
}

void FieldRules::address(const std::string& field, std::string_view value) {
  const auto mailbox = mail::parse_mailbox(value);
  if (!mailbox) return add(field, mailbox.error().message);
  if (mailbox->address != value) add(field, "must be an address such as ann@example.com");
}

void FieldRules::details(const std::string& field, const item::Map& value, std::size_t most_bytes) {
  if (item::size_of(value) > most_bytes)
    return add(field, "must not take more than " + std::to_string(most_bytes) + " bytes");
  if (!item::check_nesting(value)) return add(field, "must not be nested so deeply");
  if (std::ranges::any_of(value, [](const item::Attribute& each) {
        return has_forbidden(each.name, true) || has_forbidden(each.value);
      }))
    add(field, "must not have control characters other than line ends and tabs");
}

OrRefusal<void> FieldRules::outcome() const {
  if (faults_.empty()) return {};
  Refusal refusal;
  for (const FieldFault& fault : faults_)
    refusal.message.append(refusal.message.empty() ? "" : "; ").append(fault.field + " " + fault.rule);
  refusal.faults = faults_;
  return tl::unexpected<Refusal>(std::move(refusal));
}

OrRefusal<int> page_limit(int limit, int usual) {
  if (limit == 0) return usual;
  if (limit < 1 || limit > largest_page)
    return refuse_field("limit", "must be from 1 to " + std::to_string(largest_page));
  return limit;
}

}  // namespace postino::support
