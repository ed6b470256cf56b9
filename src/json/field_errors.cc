#include "json/field_errors.h"

namespace postino::json {

void FieldErrors::add(std::string field, std::string rule) {
  if (errors_.size() < most) errors_.push_back({std::move(field), std::move(rule)});
}

}  // namespace postino::json
