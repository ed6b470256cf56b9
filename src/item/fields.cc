#include "item/fields.h"

namespace postino::item {

void Fields::fault(std::string_view name, std::string_view must_be) {
  if (fault_.empty()) fault_.append(name).append(" must be ").append(must_be);
}

template <class T>
const T* Fields::get(std::string_view name, std::string_view must_be) {
  const AttributeValue* const value = item_.find(name);
  if (value == nullptr || value->type() == Type::null) return nullptr;
  const T* const found = value->get_if<T>();
  if (found == nullptr) fault(name, must_be);
  return found;
}

std::string Fields::text(std::string_view name) {
  const auto* const value = get<std::string>(name, "a string");
  return value != nullptr ? *value : std::string();
}

std::int64_t Fields::whole(std::string_view name) {
  const auto* const value = get<Number>(name, "a number");
  if (value == nullptr) return 0;
  const auto whole = value->to_int64();
  if (whole && Number(*whole) == *value) return *whole;
  fault(name, "a whole number");
  return 0;
}

std::int64_t Fields::count(std::string_view name) {
  const std::int64_t value = whole(name);
  if (value >= 0) return value;
  fault(name, "a whole number from 0 on");
  return 0;
}

bool Fields::flag(std::string_view name) {
  const bool* const value = get<bool>(name, "true or false");
  return value != nullptr && *value;
}

const Map* Fields::map(std::string_view name) { return get<Map>(name, "a map"); }

base::Result<void> Fields::check(std::string_view record) const {
  if (fault_.empty()) return {};
  return base::fail(base::ErrorCode::corrupt, "the record " + std::string(record) + " cannot be read: " + fault_);
}

}  // namespace postino::item
