#include "json/fields.h"

#include "base/timestamp.h"

namespace postino::json {

namespace {

constexpr std::size_t deepest = 64;

}  // namespace

void FieldErrors::add(std::string field, std::string rule) {
  if (errors_.size() < most) errors_.push_back({std::move(field), std::move(rule)});
}

bool Document::parse(std::string_view text, FieldErrors& errors) {
  // An empty text may have no bytes to point to.
  simdjson::error_code error = text.empty() ? simdjson::EMPTY : parser_.allocate(text.size(), deepest);
  if (error == simdjson::SUCCESS) error = parser_.parse(text.data(), text.size()).get(root_);
  if (error == simdjson::SUCCESS) return true;
  std::string rule = "must be JSON";
  if (error == simdjson::DEPTH_ERROR) rule = "must not be nested deeper than " + std::to_string(deepest);
  if (error == simdjson::UTF8_ERROR) rule = "must be valid UTF-8";
  if (error == simdjson::MEMALLOC) rule = "is too large";
  errors.add("", std::move(rule));
  return false;
}

Fields::Fields(Element element, std::string path, FieldErrors& errors) : path_(std::move(path)), errors_(errors) {
  simdjson::dom::object object;
  if (element.get(object) == simdjson::SUCCESS)
    object_ = object;
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
  Element element;
  if (object_->at_key(name).get(element) == simdjson::SUCCESS && !element.is_null()) return element;
  if (need == Need::required) refuse(name, "is required");
  return std::nullopt;
}

std::optional<std::string_view> Fields::text(std::string_view name, Need need, std::size_t max_bytes) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  std::string_view text;
  if (element->get(text) != simdjson::SUCCESS) {
    refuse(name, "must be a string");
    return std::nullopt;
  }
  if (text.size() > max_bytes) {
    refuse(name, "must not be longer than " + std::to_string(max_bytes) + " bytes");
    return std::nullopt;
  }
  return text;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, Need need, std::int64_t least, std::int64_t most) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  std::int64_t number = 0;
  if (element->get(number) == simdjson::SUCCESS && number >= least && number <= most) return number;
  refuse(name, "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view name, Need need) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  bool value = false;
  if (element->get(value) == simdjson::SUCCESS) return value;
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
  simdjson::dom::array array;
  if (element->get(array) != simdjson::SUCCESS) {
    refuse(name, "must be an array");
    return std::nullopt;
  }
  std::vector<Element> elements;
  for (const Element each : array) {
    if (elements.size() == most) {
      refuse(name, "must not have more than " + std::to_string(most) + " elements");
      return std::nullopt;
    }
    elements.push_back(each);
  }
  return elements;
}

std::optional<Element> Fields::any(std::string_view name, Need need) { return take(name, need); }

std::optional<std::vector<std::pair<std::string_view, Element>>> Fields::map(std::string_view name, Need need,
                                                                             std::size_t most) {
  const auto element = take(name, need);
  if (!element) return std::nullopt;
  simdjson::dom::object object;
  if (element->get(object) != simdjson::SUCCESS) {
    refuse(name, "must be an object");
    return std::nullopt;
  }
  std::vector<std::pair<std::string_view, Element>> members;
  for (const auto [key, value] : object) {
    if (members.size() == most) {
      refuse(name, "must not have more than " + std::to_string(most) + " members");
      return std::nullopt;
    }
    members.emplace_back(key, value);
  }
  return members;
}

void Fields::refuse_others() {
  if (!object_) return;
  for (const auto [key, value] : *object_)
    if (!asked_.contains(key)) refuse(key, "is not a field that is known here");
}

std::string element_path(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

}  // namespace postino::json
