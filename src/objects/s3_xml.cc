#include "objects/s3_xml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/text.h"
#include "base/timestamp.h"

namespace postino::objects {

namespace {

constexpr std::size_t deepest_element = 16;
constexpr std::size_t longest_problem = 300;  // bytes that are told of a message

// "amp", "#38", "#x26"
bool append_entity(std::string& out, std::string_view name) {
  if (const auto code = base::referred_character(name)) {
    base::append_character(out, *code);
    return true;
  }
  constexpr std::pair<std::string_view, char> entities[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, letter] : entities)
    if (known == name) {
      out += letter;
      return true;
    }
  return false;
}

std::string decode_xml_text(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    const std::size_t mark = std::min(text.find('&'), text.size());
    decoded += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) break;
    const std::size_t end = text.find(';');
    if (end != std::string_view::npos && append_entity(decoded, text.substr(1, end - 1))) {
      text.remove_prefix(end + 1);
    } else {
      decoded += '&';
      text.remove_prefix(1);
    }
  }
  return decoded;
}

// Walks over elements. Attributes, comments, declarations and name spaces do not matter.
class XmlWalk {
 public:
  // Called at the end of each element, with the names of those that it is in, and with its own text.
  using AtEnd = std::function<void(const std::vector<std::string_view>& path, std::string text)>;

  // False when it is not well formed, as far as that can be told here, or nested too deep.
  static bool walk(std::string_view xml, const AtEnd& at_end) {
    std::vector<std::string_view> path;
    std::string_view text;
    bool has_element = false;
    while (true) {
      const std::size_t begin = xml.find('<');
      if (begin == std::string_view::npos) break;
      text = xml.substr(0, begin);
      xml.remove_prefix(begin);
      if (xml.starts_with("<!--")) {
        if (!skip_past(xml, "-->")) return false;
        continue;
      }
      const std::size_t end = xml.find('>');
      if (end == std::string_view::npos) return false;
      std::string_view tag = xml.substr(1, end - 1);
      xml.remove_prefix(end + 1);
      if (tag.starts_with('?') || tag.starts_with('!')) continue;
      if (tag.starts_with('/')) {
        if (path.empty() || path.back() != base::trim(tag.substr(1))) return false;
        at_end(path, decode_xml_text(text));
        path.pop_back();
        continue;
      }
      const bool is_empty = tag.ends_with('/');
      if (is_empty) tag.remove_suffix(1);
      has_element = true;
      path.push_back(tag.substr(0, tag.find_first_of(" \t\r\n")));
      if (path.size() > deepest_element || path.back().empty()) return false;
      if (!is_empty) continue;
      at_end(path, "");
      path.pop_back();
    }
    return path.empty() && has_element;
  }

 private:
  static bool skip_past(std::string_view& text, std::string_view end) {
    const std::size_t found = text.find(end);
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + end.size());
    return true;
  }
};

std::string decode_url_text(std::string text) {
  for (char& letter : text)
    if (letter == '+') letter = ' ';
  return base::decode_percent(text);
}

}  // namespace

base::Result<S3Listing> parse_s3_listing(std::string_view xml) {
  S3Listing listing;
  ObjectInfo object;
  bool is_sound = true;
  bool is_listing = false;
  bool is_encoded = false;
  const auto at_end = [&](const std::vector<std::string_view>& path, std::string text) {
    if (path.size() == 1) is_listing = path[0] == "ListBucketResult";
    if (path.size() == 2 && path[1] == "IsTruncated") listing.is_truncated = text == "true";
    if (path.size() == 2 && path[1] == "EncodingType") is_encoded = text == "url";
    if (path.size() < 2 || path[1] != "Contents") return;
    if (path.size() == 2) {
      is_sound = is_sound && !object.name.empty();
      listing.objects.push_back(std::exchange(object, {}));
    } else if (path.size() == 3 && path[2] == "Key") {
      object.name = std::move(text);
    } else if (path.size() == 3 && path[2] == "Size") {
      is_sound = is_sound && std::from_chars(text.data(), text.data() + text.size(), object.size).ec == std::errc();
    } else if (path.size() == 3 && path[2] == "LastModified") {
      const auto time = base::parse_timestamp(text);
      is_sound = is_sound && time.has_value();
      if (time) object.modified = *time;
    }
  };
  if (!XmlWalk::walk(xml, at_end) || !is_listing || !is_sound)
    return base::fail(base::ErrorCode::corrupt, "the object store has answered something else than a list of objects");
  if (is_encoded)
    for (ObjectInfo& each : listing.objects) each.name = decode_url_text(std::move(each.name));
  return listing;
}

S3Problem parse_s3_problem(std::string_view text) {
  S3Problem problem;
  const auto at_end = [&](const std::vector<std::string_view>& path, const std::string& value) {
    if (path.size() != 2 || path[0] != "Error") return;
    if (path[1] == "Code") base::append_printable(problem.code, value, longest_problem);
    if (path[1] == "Message") base::append_printable(problem.message, value, longest_problem);
  };
  if (!XmlWalk::walk(text, at_end)) return {};
  return problem;
}

}  // namespace postino::objects
