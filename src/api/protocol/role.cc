#include "api/protocol/role.h"

#include <vector>

namespace postino::api {

std::string roles_with(Right right, std::string_view before_last) {
  std::vector<std::string_view> names;
  for (const Role role : all_roles)
    if (has_right(role, right)) names.push_back(name_of(role));
  std::string text;
  for (const std::string_view name : names)
    text.append(text.empty() ? "" : name == names.back() ? before_last : ", ").append(name);
  return text;
}

}  // namespace postino::api
