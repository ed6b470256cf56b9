#include "json/fields.h"

#include <algorithm>

#include "base/timestamp.h"

namespace postino::json {

Fields::Fields(Element element, std::string path, FieldErrors& errors) : path_(std::move(path)), errors_(errors) {
  if (element.is_object())
    object_ = element;
  else
    errors_.add(path_, "must be an object");
}

std::string Fields::path_of(std::string_view name) const {
  std::string path = path_;
  if (!path.empty()) path += '.';
  return path.append(name);
}

std::optional<Element> Fields::take(std::string_view name, Need need) {
  asked_.emplace(name);
  if (!object_) return std::nullopt;
  const auto member = object_->member(name);
  if (member && !member->is_null()) return member;
  if (need == Need::required) refuse(name, "is required");
  return std::nullopt;
}

std::optional<std::string_view> Fields::text(std::string_view name, Need need, std::size_t max_bytes) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  const auto text = element->text();
  if (!text) {
    refuse(name, "must be a string");
    return std::nullopt;
  }
  if (text->size() > max_bytes) {
    refuse(name, "must not be longer than " + std::to_string(max_bytes) + " bytes");
    return std::nullopt;
  }
  if (text->empty() && need == Need::optional) return std::nullopt;
  return text;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, Need need, std::int64_t least, std::int64_t most) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  const auto number = element->integer();
  if (number && *number >= least && *number <= most) return number;
  refuse(name, "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view name, Need need) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  if (const auto value = element->boolean()) return value;
  refuse(name, "must be true or false");
  return std::nullopt;
}

std::optional<base::TimePoint> Fields::time(std::string_view name, Need need) {
  const auto text = this->text(name, need);
  if (!text) return std::nullopt;
  const auto time = base::parse_timestamp(*text);
  if (time) return *time;
  refuse(name, time.error().message);
  return std::nullopt;
}

std::optional<std::vector<Element>> Fields::list(std::string_view name, Need need, std::size_t most) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  if (!element->is_array()) {
    refuse(name, "must be an array");
    return std::nullopt;
  }
  const Elements elements = element->elements();
  if (elements.size() > most) {
    refuse(name, "must not have more than " + std::to_string(most) + " elements");
    return std::nullopt;
  }
  return std::vector<Element>(elements.begin(), elements.end());
}

std::optional<Element> Fields::any(std::string_view name, Need need) { return take(name, need); }

std::optional<std::vector<Members::Member>> Fields::map(std::string_view name, Need need, std::size_t most) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  if (!element->is_object()) {
    refuse(name, "must be an object");
    return std::nullopt;
  }
  const Members members = element->members();
  if (members.size() > most) {
    refuse(name, "must not have more than " + std::to_string(most) + " members");
    return std::nullopt;
  }
  return std::vector<Members::Member>(members.begin(), members.end());
}

void Fields::refuse_others() {
  if (!object_) return;
  std::vector<std::string_view> known;
  for (const auto& [key, value] : object_->members()) {
    if (asked_.contains(key))
      known.push_back(key);
    else
      refuse(key, "is an unknown field");
  }
  // Of two values one would be ignored, and another reader of the same text may take the other one.
  std::ranges::sort(known);
  for (auto each = known.begin(); (each = std::adjacent_find(each, known.end())) != known.end();) {
    refuse(*each, "must not be given twice");
    each = std::upper_bound(each, known.end(), *each);
  }
}

std::string element_path(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

}  // namespace postino::json
