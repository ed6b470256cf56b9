// Reads what the REST API answers, field by field, as the schema of the answer has them. A server of another version
// may answer otherwise: what is missing or of another type is empty. It is a fault of the program to ask for a field
// that the schema does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/protocol/schema.h"
#include "base/result.h"
#include "json/document.h"

namespace postino::app {

// An object in an answer. Valid as long as the answer.
class AnswerObject {
 public:
  AnswerObject(json::Element element, const api::Schema& schema) : element_(element), schema_(&schema) {}

  bool has(std::string_view name) const { return member(name).has_value(); }
  std::string text(std::string_view name) const;      // made printable
  std::string raw_text(std::string_view name) const;  // as it is, to be sent back
  std::int64_t number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::optional<AnswerObject> object(std::string_view name) const;
  std::vector<AnswerObject> objects(std::string_view name) const;
  // All texts at a path, made printable: "tags[]", "recipients[].address".
  std::vector<std::string> texts(std::string_view path) const;
  // Numbers by the names of their members, made printable, in their order.
  std::vector<std::pair<std::string, std::int64_t>> numbers(std::string_view name) const;

  const api::Schema& schema() const { return *schema_; }

 private:
  std::optional<json::Element> member(std::string_view name) const;

  json::Element element_;
  const api::Schema* schema_;
};

class Answer {
 public:
  // The JSON that an operation answers with when it succeeds. Fails when the body is no object.
  static base::Result<Answer> parse(std::string_view operation_id, std::string_view body);
  // The same for an object of any schema.
  static base::Result<Answer> parse(const api::Schema& schema, std::string_view body);

  AnswerObject root() const { return {document_.root(), *schema_}; }

 private:
  explicit Answer(const api::Schema& schema) : schema_(&schema) {}

  json::Document document_;
  const api::Schema* schema_;
};

}  // namespace postino::app
