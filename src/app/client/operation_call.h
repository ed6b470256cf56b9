// A request for an operation of the REST API, put together as its description has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/protocol/operation.h"
#include "app/client/request_object.h"

namespace postino::app {

// The operation, by its id; it is a fault of the program to ask for one that does not exist.
const api::Operation& operation_named(std::string_view id);

// It is a fault of the program to set a parameter that the operation does not have, and to leave one of the path out.
class OperationCall {
 public:
  explicit OperationCall(std::string_view operation_id);

  // Of the path, the query or the headers, wherever the operation has it. An empty value leaves it out, but for the
  // path.
  OperationCall& set(std::string_view parameter, std::string value);
  // For operations that take JSON.
  RequestObject& body() { return body_; }
  // For operations that take something else as well: sends this instead. `type` is one of theirs.
  OperationCall& set_content(std::string_view type, std::string content);

  const api::Operation& operation() const { return operation_; }
  std::string target() const;  // "/emails/7?limit=5"
  std::vector<std::pair<std::string, std::string>> headers() const;
  std::string body_text() const;
  std::string_view content_type() const { return content_type_; }

 private:
  const std::string* value_of(std::string_view parameter) const;

  const api::Operation& operation_;
  RequestObject body_;
  std::vector<std::pair<const api::Parameter*, std::string>> values_;
  std::string_view content_type_ = "application/json";
  std::optional<std::string> content_;
};

}  // namespace postino::app
