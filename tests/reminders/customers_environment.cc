#include "customers_environment.h"

#include "item/json_codec.h"

namespace postino::reminders {

bool CustomersEnvironment::has_anywhere(const std::string& table, const std::string& text) {
  for (const item::Item& item : scan(table))
    if (item::to_json(item).find(text) != std::string::npos) return true;
  return false;
}

}  // namespace postino::reminders
