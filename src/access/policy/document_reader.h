// Reads the parts of a policy's JSON, and notes everything that is wrong with them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/policy/statement.h"
#include "json/document.h"
#include "json/field_errors.h"

namespace postino::access {

// One object of a document.
class ObjectReader {
 public:
  ObjectReader(json::Element object, std::string path, json::FieldErrors& errors)
      : object_(object), path_(std::move(path)), errors_(errors) {}

  // Notes members of other names, and names that occur twice: of two values one would be passed over.
  void only(std::initializer_list<std::string_view> names);
  void refuse_doubles();
  // Notes when the member is there and no text.
  std::optional<std::string_view> text(std::string_view name);
  // A text or a list of texts, which is not empty. Nothing, with a note, when it is something else.
  std::vector<std::string> texts(std::string_view name);
  // The same, with numbers and booleans as texts.
  std::vector<std::string> values(std::string_view name);

  std::string path_of(std::string_view name) const;
  void refuse(std::string_view name, std::string rule) { errors_.add(path_of(name), std::move(rule)); }

 private:
  std::vector<std::string> list(std::string_view name, bool texts_only);

  json::Element object_;
  const std::string path_;
  json::FieldErrors& errors_;
};

void read_statement(json::Element element, const std::string& path, PolicyKind kind, bool variables,
                    Statement& statement, json::FieldErrors& errors);

}  // namespace postino::access
