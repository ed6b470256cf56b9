// Requests the way DynamoDB, a Java program, prints them into some of its error messages.
#pragma once

#include <string>

#include "item/value.h"

namespace postino::wire {

// "{pk=AttributeValue(s=a, n=null, ...)}"
std::string java_text(const item::Map& map);
std::string java_text(const item::AttributeValue& value);

}  // namespace postino::wire
