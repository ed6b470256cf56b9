#include "item/json_sets.h"

#include "base/base64.h"
#include "item/json_codec.h"

namespace postino::item {
namespace {

template <class Member, class Text>
std::string listed(const std::vector<Member>& members, Text text) {
  std::string list = "One or more parameter values were invalid: Input collection [";
  for (const Member& member : members) {
    if (&member != &members.front()) list.append(", ");
    list.append(text(member));
  }
  return list.append("]");
}

}  // namespace

std::string duplicates_message(const std::vector<std::string>& members) {
  return listed(members, [](const std::string& member) -> const std::string& { return member; })
      .append(" contains duplicates.");
}

std::string duplicates_message(const std::vector<Number>&) { return "Input collection contains duplicates"; }

std::string duplicates_message(const std::vector<Binary>& members) {
  return listed(members, [](const Binary& member) { return base::to_base64(member.bytes); })
      .append("of type BS contains duplicates.");
}

}  // namespace postino::item
