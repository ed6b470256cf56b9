#include "signature/signature_v4.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace postino::signature {

namespace {

// Cuts off and returns what stands before the first of the separator, or everything.
std::string_view cut_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void append_encoded(std::string& out, std::string_view text, bool keep_slashes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slashes && c == '/')) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 0xF]);
  }
}

// Without empty, "." and ".." segments.
std::string normalize_path(std::string_view path) {
  std::vector<std::string_view> segments;
  const bool ends_open = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment == ".." && !segments.empty()) segments.pop_back();
    if (!segment.empty() && segment != "." && segment != "..") segments.push_back(segment);
  }
  std::string normal;
  for (const std::string_view segment : segments) normal.append("/").append(segment);
  if (normal.empty() || ends_open) normal += "/";
  return normal;
}

// Both are encoded already, so that the order of their bytes is the order wanted.
void append_query(std::string& out, const QueryParameters& query) {
  std::vector<std::pair<std::string, std::string>> encoded;
  for (const auto& [name, value] : query) {
    auto& [encoded_name, encoded_value] = encoded.emplace_back();
    append_encoded(encoded_name, name, false);
    append_encoded(encoded_value, value, false);
  }
  std::ranges::sort(encoded);
  for (std::size_t i = 0; i < encoded.size(); ++i)
    out.append(i > 0 ? "&" : "").append(encoded[i].first).append("=").append(encoded[i].second);
}

// Trims, and makes one space of several.
void append_header_value(std::string& out, std::string_view value) {
  const std::size_t begin = out.size();
  for (const char c : value)
    if (c != ' ' || (out.size() > begin && out.back() != ' ')) out.push_back(c);
  if (out.size() > begin && out.back() == ' ') out.pop_back();
}

void append_headers(std::string& out, const RequestParts& request, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    out.append(name).append(":");
    bool first = true;
    for (const auto& [sent_name, value] : request.headers) {
      if (!base::equal_ignoring_case(sent_name, name)) continue;
      if (!first) out.push_back(',');
      first = false;
      append_header_value(out, value);
    }
    out.push_back('\n');
  }
}

}  // namespace

QueryParameters parse_query(std::string_view query) {
  QueryParameters parameters;
  while (!query.empty()) {
    std::string_view value = cut_part(query, '&');
    if (value.empty()) continue;
    const std::string_view name = cut_part(value, '=');
    parameters.emplace_back(base::decode_percent(name), base::decode_percent(value));
  }
  return parameters;
}

std::optional<Credential> parse_credential(std::string_view text) {
  if (std::ranges::count(text, '/') != 4) return std::nullopt;
  Credential credential;
  for (std::string_view* part :
       {&credential.key_id, &credential.date, &credential.region, &credential.service, &credential.terminator})
    *part = cut_part(text, '/');
  return credential;
}

HeaderNames::HeaderNames(std::string_view list) : text_(base::lower_case(list)) {
  names_.reserve(8);
  std::string_view rest = text_;
  while (!rest.empty()) names_.push_back(cut_part(rest, ';'));
  std::ranges::sort(names_);
  const auto repeated = std::ranges::unique(names_);
  names_.erase(repeated.begin(), repeated.end());
}

bool HeaderNames::contains(std::string_view name) const { return std::ranges::binary_search(names_, name); }

std::string canonical_path(std::string_view path) {
  std::string encoded;
  append_encoded(encoded, normalize_path(path), true);
  return encoded;
}

std::string canonical_request(const RequestParts& request, const HeaderNames& signed_names,
                              std::string_view payload_hash) {
  std::string text;
  text.reserve(512);
  text.append(request.method).append("\n").append(request.path).append("\n");
  append_query(text, request.query);
  text += "\n";
  const std::vector<std::string_view>& names = signed_names.names();
  append_headers(text, request, names);
  text += "\n";
  for (std::size_t i = 0; i < names.size(); ++i) text.append(i > 0 ? ";" : "").append(names[i]);
  return text.append("\n").append(payload_hash);
}

std::string string_to_sign(std::string_view date, const Credential& credential, std::string_view canonical) {
  std::string text(signature_algorithm);
  text.append("\n").append(date).append("\n").append(credential.date).append("/").append(credential.region);
  text.append("/").append(credential.service).append("/").append(credential.terminator).append("\n");
  return text.append(base::to_hex(base::sha256(canonical)));
}

std::string derive_signing_key(std::string_view secret, const Credential& credential) {
  const std::string day_key = base::hmac_sha256(std::string("AWS4").append(secret), credential.date);
  return base::hmac_sha256(base::hmac_sha256(base::hmac_sha256(day_key, credential.region), credential.service),
                           credential.terminator);
}

std::string sign(std::string_view signing_key, std::string_view text) {
  return base::to_hex(base::hmac_sha256(signing_key, text));
}

}  // namespace postino::signature
