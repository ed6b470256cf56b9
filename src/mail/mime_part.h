// Reading of MIME that comes from strangers. Takes time in proportion to the text whatever is in it, and looks at one
// level at a time: the parser of GMime does neither, and runs out of stack on headers that are nested deeply enough.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mail/header_fields.h"

namespace postino::mail {

// A message, or a part of one. Points into the text that it was read from.
class MimePart {
 public:
  explicit MimePart(std::string_view text);

  const HeaderFields& fields() const { return fields_; }
  // "multipart/report", in lower case; "text/plain" when it does not say.
  const std::string& type() const { return type_; }
  // Of the Content-Type; empty when there is none.
  const std::string& boundary() const { return boundary_; }
  const std::string& report_type() const { return report_type_; }
  const std::string& charset() const { return charset_; }

  // The parts of a multipart, of which the first 20 count; none for others.
  std::vector<MimePart> parts() const;
  // Decoded from base64 or quoted-printable.
  std::string content() const;

 private:
  HeaderFields fields_;
  std::string_view body_;
  std::string type_ = "text/plain";
  std::string boundary_;
  std::string report_type_;
  std::string charset_;
};

}  // namespace postino::mail
