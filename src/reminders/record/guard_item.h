// The guard of a customer as an item of the table.
#pragma once

#include <string_view>

#include "base/result.h"
#include "item/value.h"
#include "reminders/record/guard.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

item::Item guard_item(const Keys& keys, std::string_view customer_id, const Guard& guard);
base::Result<Guard> read_guard(const item::Item& item);

}  // namespace postino::reminders
