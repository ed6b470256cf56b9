// Who may call an operation of the API.
#pragma once

#include <string_view>

namespace postino::api {

// Each may do what those before may. `anyone` needs no key.
enum class Role { anyone, readers, senders, operators };

constexpr std::string_view name_of(Role role) {
  switch (role) {
    case Role::anyone:
      return "anyone";
    case Role::readers:
      return "reader";
    case Role::senders:
      return "sender";
    case Role::operators:
      return "operator";
  }
  return "";
}

}  // namespace postino::api
