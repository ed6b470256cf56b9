#include "mail/mime_part.h"

#include <gmime/gmime.h>

#include "base/text.h"
#include "mail/gmime.h"

namespace postino::mail {

namespace {

constexpr std::size_t parts_limit = 20;
constexpr std::size_t content_type_limit = 2'000;  // no honest Content-Type is longer

std::string parameter(GMimeContentType* type, const char* name) {
  const char* value = g_mime_content_type_get_parameter(type, name);
  return value == nullptr ? std::string() : value;
}

enum class Delimiter { none, next, last };

Delimiter delimiter(std::string_view line, std::string_view boundary) {
  if (!line.starts_with("--") || !line.substr(2).starts_with(boundary)) return Delimiter::none;
  const std::string_view rest = base::trim(line.substr(2 + boundary.size()));
  if (rest.empty()) return Delimiter::next;
  return rest == "--" ? Delimiter::last : Delimiter::none;
}

}  // namespace

MimePart::MimePart(std::string_view text) : fields_(HeaderFields::take(text)), body_(text) {
  const std::string_view value = fields_.value("Content-Type");
  if (value.empty() || value.size() > content_type_limit) return;
  start_gmime();
  const Owned<GMimeContentType> type(g_mime_content_type_parse(nullptr, std::string(value).c_str()));
  type_ = base::lower_case(g_mime_content_type_get_media_type(type.get())) + "/" +
          base::lower_case(g_mime_content_type_get_media_subtype(type.get()));
  boundary_ = parameter(type.get(), "boundary");
  report_type_ = base::lower_case(parameter(type.get(), "report-type"));
  charset_ = parameter(type.get(), "charset");
}

std::vector<MimePart> MimePart::parts() const {
  std::vector<MimePart> parts;
  if (!type_.starts_with("multipart/") || boundary_.empty()) return parts;
  std::string_view rest = body_;
  const char* begin = nullptr;  // of the part that is being read
  auto found = Delimiter::none;
  while (parts.size() < parts_limit && found != Delimiter::last) {
    const char* const line_begin = rest.data();
    // What ends without its last boundary was cut; the part counts.
    found = rest.empty() ? Delimiter::last : delimiter(take_line(rest), boundary_);
    if (found == Delimiter::none) continue;
    if (begin != nullptr) parts.emplace_back(std::string_view(begin, static_cast<std::size_t>(line_begin - begin)));
    begin = rest.data();
  }
  return parts;
}

std::string MimePart::content() const {
  const std::string name(fields_.value("Content-Transfer-Encoding"));
  const GMimeContentEncoding kind = g_mime_content_encoding_from_string(name.c_str());
  if (kind != GMIME_CONTENT_ENCODING_BASE64 && kind != GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE)
    return std::string(body_);
  GMimeEncoding encoding;
  g_mime_encoding_init_decode(&encoding, kind);
  std::string decoded(g_mime_encoding_outlen(&encoding, body_.size()), '\0');
  decoded.resize(g_mime_encoding_flush(&encoding, body_.data(), body_.size(), decoded.data()));
  return decoded;
}

}  // namespace postino::mail
