#include "access/policy/actions.h"

#include "access/policy/glob.h"
#include "base/text.h"

namespace postino::access {

namespace {

bool is_service_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
}

bool is_action_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '*' || letter == '?' ||
         letter == '-' || letter == '_';
}

}  // namespace

std::optional<Action> find_action(std::string_view name) {
  if (base::equal_ignoring_case(name.substr(0, service_prefix.size()), service_prefix))
    name.remove_prefix(service_prefix.size());
  for (std::size_t i = 0; i < action_names.size(); ++i)
    if (base::equal_ignoring_case(action_names[i], name)) return Action{static_cast<std::uint8_t>(i)};
  return std::nullopt;
}

std::optional<ActionSet> actions_matching(std::string_view pattern) {
  if (pattern == "*") return ActionSet().set();
  const std::string text = base::lower_case(pattern);
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos) return std::nullopt;
  const std::string service = text.substr(0, colon);
  const std::string name = text.substr(colon + 1);
  if (!std::ranges::all_of(service, is_service_letter) || name.empty() || !std::ranges::all_of(name, is_action_letter))
    return std::nullopt;
  ActionSet actions;
  if (service != service_prefix.substr(0, service_prefix.size() - 1)) return actions;
  const Glob glob = Glob::parse(name);
  for (std::size_t i = 0; i < action_names.size(); ++i)
    if (glob.matches(base::lower_case(action_names[i]))) actions.set(i);
  if (actions.none()) return std::nullopt;
  return actions;
}

}  // namespace postino::access
