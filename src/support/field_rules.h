// Rules for what callers send. Markup is text like any other; control characters but line ends and tabs are refused.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "item/value.h"
#include "support/refusal.h"

namespace postino::support {

// Collects every rule that is broken, with its field.
class FieldRules {
 public:
  void add(std::string field, std::string rule);

  // UTF-8 of so many characters; several lines.
  void text(const std::string& field, std::string_view value, std::size_t least, std::size_t most);
  // The same in one line.
  void line(const std::string& field, std::string_view value, std::size_t least, std::size_t most);
  // A name that becomes part of a key: one line, and not longer than this many bytes.
  void name(const std::string& field, std::string_view value, std::size_t most_bytes);
  void one_of(const std::string& field, std::string_view value, std::initializer_list<std::string_view> allowed);
  void whole(const std::string& field, std::int64_t value, std::int64_t least, std::int64_t most);
  // Letters, digits, and "_.-".
  void word(const std::string& field, std::string_view value, std::size_t most_bytes);
  // An address such as ann@example.com.
  void address(const std::string& field, std::string_view value);
  // Texts anywhere in it, and its size.
  void details(const std::string& field, const item::Map& value, std::size_t most_bytes);

  // Fails with everything that was found.
  OrRefusal<void> outcome() const;

 private:
  void characters(const std::string& field, std::string_view value, std::size_t least, std::size_t most, bool is_line);

  std::vector<FieldFault> faults_;
};

// invalid, with the field `limit`, when there are no such pages. The limit to be used otherwise.
OrRefusal<int> page_limit(int limit, int usual);

}  // namespace postino::support
