// An item as people read it: plain JSON without types, numbers exact. Pure code.
#pragma once

#include <string>

#include "item/value.h"

namespace postino::reminders {

// Binary values are in base64, sets are arrays.
std::string plain_json(const item::Item& item);

}  // namespace postino::reminders
