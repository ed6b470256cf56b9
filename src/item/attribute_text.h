// Attributes that a program keeps for itself, as text.
#pragma once

#include <string>
#include <string_view>

#include "item/value.h"

namespace postino::item {

// The string attribute of this name; empty when there is none or it is of another type.
inline std::string attribute_text(const Map& item, std::string_view name) {
  const AttributeValue* value = item.find(name);
  const std::string* text = value != nullptr ? value->get_if<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

}  // namespace postino::item
