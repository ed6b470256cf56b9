// JSON of the types that DynamoDB's protocol wants, with the texts of its SerializationException where it is not.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::item {

// Every function returns false when the JSON is of the wrong type or no JSON at all; error() then says why, and
// nothing more can be read. A value must be read only once.
class JsonReader {
 public:
  using Json = simdjson::ondemand::value;
  using Type = simdjson::ondemand::json_type;

  bool type_of(Json json, Type& out);
  bool text(Json json, std::string_view& out);  // valid as long as the document
  bool bytes(Json json, std::string& out);      // from base64
  bool boolean(Json json, bool& out);
  bool null(Json json);
  // A fraction is cut off, and what is beyond the range becomes its end. `java_class` is "Integer" or "Long".
  bool integer(Json json, std::int64_t& out, std::string_view java_class);

  bool array(Json json, simdjson::ondemand::array& out);
  bool map(Json json, simdjson::ondemand::object& out);    // an object of any names
  bool value(Json json, simdjson::ondemand::object& out);  // an object {"type": ...}
  // The same for other maps and structures of the protocol: the classes of the map's values and of the structure. A
  // structure is found in a member of another one, or in a list or map.
  enum class Place { member, collection };
  bool map(Json json, simdjson::ondemand::object& out, std::string_view entry_class);
  bool structure(Json json, simdjson::ondemand::object& out, std::string_view name, Place place);

  template <class Field>
  bool field(Field&& json, std::string_view& name, Json& value) {
    return (!json.unescaped_key().get(name) && !json.value().get(value)) || broken();
  }
  template <class Element>
  bool element(Element&& json, Json& value) {
    return !json.get(value) || broken();
  }

  // Always false. JSON that does not parse has no message.
  bool broken() { return fail({}); }
  bool fail(std::string message);

  // Why the top of a text is not what it must be; type is anything but an object.
  bool not_a_map(Type type);
  bool not_a_value(Type type);

  base::Error error() && { return std::move(error_); }

 private:
  bool wrong_scalar(Json json, Type type, std::string_view java_class);

  base::Error error_;
};

}  // namespace postino::item
