#include "app/client/request_object.h"

#include <algorithm>

#include "base/check.h"
#include "json/writer.h"

namespace postino::app {

void RequestObject::set_text(std::string_view path, std::string_view text) {
  std::string json;
  json::append_string(json, text);
  set_json(path, std::move(json));
}

void RequestObject::set_number(std::string_view path, std::int64_t number) { set_json(path, std::to_string(number)); }

void RequestObject::set_flag(std::string_view path, bool flag) { set_json(path, flag ? "true" : "false"); }

void RequestObject::set_texts(std::string_view path, const std::vector<std::string>& texts) {
  std::string json;
  json::Writer writer(json);
  writer.begin_array();
  for (const std::string& text : texts) writer.string(text);
  writer.end_array();
  set_json(path, std::move(json));
}

void RequestObject::set_json(std::string_view path, std::string json) {
  CHECK(api::find_property(schema_, path) != nullptr);
  std::vector<Member>* members = &members_;
  while (true) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view name = path.substr(0, end);
    auto member = std::ranges::find(*members, name, &Member::name);
    if (member == members->end()) member = members->insert(members->end(), {std::string(name), "", {}});
    if (end == path.size()) {
      member->json = std::move(json);
      return;
    }
    members = &member->members;
    path.remove_prefix(end + 1);
  }
}

std::string RequestObject::json() const {
  std::string text;
  append(text, members_);
  return text;
}

void RequestObject::append(std::string& out, const std::vector<Member>& members) {
  out += '{';
  for (const Member& member : members) {
    if (&member != &members.front()) out += ',';
    json::append_string(out, member.name);
    out += ':';
    if (member.json.empty())
      append(out, member.members);
    else
      out += member.json;
  }
  out += '}';
}

}  // namespace postino::app
