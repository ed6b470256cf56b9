#include "remote/protocol/request_writer.h"

namespace postino::remote {

RequestWriter& RequestWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  key(name).begin_array();
  for (const std::string& value : values) string(value);
  return end_array();
}

RequestWriter& RequestWriter::placeholders(const expr::Placeholders& placeholders) {
  if (placeholders.names) {
    key("ExpressionAttributeNames").begin_object();
    for (const auto& [placeholder, name] : *placeholders.names) any_key(placeholder).string(name);
    end_object();
  }
  if (placeholders.values) key("ExpressionAttributeValues").item(*placeholders.values);
  return *this;
}

}  // namespace postino::remote
