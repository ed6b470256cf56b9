// Fields of the form "Name: value" as strangers send them: the header of a message, or a group of a report's fields.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postino::mail {

// Its names point into the text that it was read from.
class HeaderFields {
 public:
  // Reads the fields up to the next empty line, and cuts them and that line off the text. At most 1,000 are kept; lines
  // that are no fields are passed over.
  static HeaderFields take(std::string_view& text);

  bool empty() const { return fields_.empty(); }
  // The first of that name, unfolded; empty when there is none. Letters may differ in case.
  std::string_view value(std::string_view name) const;

 private:
  std::vector<std::pair<std::string_view, std::string>> fields_;
};

// Cuts off and returns the first line, without its end, which may be CRLF or LF.
std::string_view take_line(std::string_view& text);

}  // namespace postino::mail
