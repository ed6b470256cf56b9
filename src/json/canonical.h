// JSON in one form: equal values give equal texts.
#pragma once

#include <string>

#include "json/document.h"

namespace postino::json {

// Members sorted by name, no spaces, numbers in their shortest form.
void append_canonical(std::string& out, Element element);

// Of an object, as if it had this member, in place of one of the same name.
std::string canonical_with(Element object, const std::string& name, const std::string& value);

}  // namespace postino::json
