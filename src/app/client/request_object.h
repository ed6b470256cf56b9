// A JSON object to be sent, whose fields are those of a schema of the REST API.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/protocol/schema.h"

namespace postino::app {

// Fields are written in the order they are first set in; objects within come by themselves. It is a fault of the
// program to set a field that the schema does not have.
class RequestObject {
 public:
  // The schema must outlive it.
  explicit RequestObject(const api::Schema& schema) : schema_(schema) {}

  // By the path of the field: "settings.batchSize".
  void set_text(std::string_view path, std::string_view text);
  void set_number(std::string_view path, std::int64_t number);
  void set_flag(std::string_view path, bool flag);
  void set_texts(std::string_view path, const std::vector<std::string>& texts);
  void set_json(std::string_view path, std::string json);

  bool empty() const { return members_.empty(); }
  std::string json() const;

 private:
  struct Member {
    std::string name;
    std::string json;  // empty: an object of these
    std::vector<Member> members;
  };
  static void append(std::string& out, const std::vector<Member>& members);

  const api::Schema& schema_;
  std::vector<Member> members_;
};

}  // namespace postino::app
