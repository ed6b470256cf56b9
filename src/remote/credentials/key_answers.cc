#include "remote/credentials/key_answers.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "base/timestamp.h"
#include "json/document.h"

namespace postino::remote {

namespace {

constexpr std::size_t longest_told = 300;  // bytes of what a service says

tl::unexpected<base::Error> unlike_keys() {
  return base::fail(base::ErrorCode::corrupt, "the answer has no access keys in the expected form");
}

// Keys that cannot stand in a header would break every request.
bool is_key_text(std::string_view text) {
  for (const char letter : text)
    if (!base::is_printable_ascii(letter) || letter == ' ') return false;
  return true;
}

base::Result<ExpiringKeys> checked_keys(signature::AccessKeys keys, std::string_view expiration) {
  if (keys.id.empty() || keys.secret.empty() || !is_key_text(keys.id) || !is_key_text(keys.secret) ||
      !is_key_text(keys.session_token))
    return unlike_keys();
  ExpiringKeys expiring{std::move(keys), std::nullopt};
  if (expiration.empty()) return expiring;
  const auto time = base::parse_timestamp(expiration);
  if (!time) return base::fail(base::ErrorCode::corrupt, "the time at which the access keys expire cannot be read");
  expiring.expires = *time;
  return expiring;
}

std::string member_text(const json::Element& object, std::string_view name) {
  const auto member = object.member(name);
  return member ? std::string(member->text().value_or("")) : std::string();
}

base::Result<ExpiringKeys> keys_of_members(const json::Element& object, std::string_view token_name) {
  return checked_keys(
      {member_text(object, "AccessKeyId"), member_text(object, "SecretAccessKey"), member_text(object, token_name)},
      member_text(object, "Expiration"));
}

// The text of the first element of this name, wherever it is. An answer of the token service has each once.
std::optional<std::string_view> element_text(std::string_view xml, std::string_view name) {
  const std::string begin = "<" + std::string(name) + ">";
  const std::size_t at = xml.find(begin);
  if (at == std::string_view::npos) return std::nullopt;
  xml.remove_prefix(at + begin.size());
  const std::size_t end = xml.find("</" + std::string(name) + ">");
  if (end == std::string_view::npos) return std::nullopt;
  return base::trim(xml.substr(0, end));
}

std::string decoded_entities(std::string_view text) {
  constexpr std::pair<std::string_view, char> named[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string decoded;
  while (!text.empty()) {
    bool is_entity = false;
    for (const auto& [entity, letter] : named) {
      if (!text.starts_with(entity)) continue;
      decoded += letter;
      text.remove_prefix(entity.size());
      is_entity = true;
      break;
    }
    if (is_entity) continue;
    decoded += text.front();
    text.remove_prefix(1);
  }
  return decoded;
}

std::string xml_text(std::string_view xml, std::string_view name) {
  return decoded_entities(element_text(xml, name).value_or(""));
}

}  // namespace

base::Result<ExpiringKeys> parse_role_keys(std::string_view json) {
  json::Document document;
  json::FieldErrors ignored;
  if (!document.parse(json, ignored) || !document.root().is_object()) return unlike_keys();
  const std::string code = member_text(document.root(), "Code");
  if (!code.empty() && code != "Success") {
    std::string told;
    base::append_printable(told, code, longest_told);
    return base::fail(base::ErrorCode::io, "there are no access keys for the role: " + told);
  }
  return keys_of_members(document.root(), "Token");
}

base::Result<ExpiringKeys> parse_process_keys(std::string_view json) {
  json::Document document;
  json::FieldErrors ignored;
  if (!document.parse(json, ignored) || !document.root().is_object()) return unlike_keys();
  const auto version = document.root().member("Version");
  if (!version || version->integer() != 1)
    return base::fail(base::ErrorCode::corrupt, "the program has not printed access keys of version 1");
  return keys_of_members(document.root(), "SessionToken");
}

base::Result<ExpiringKeys> parse_assumed_role(std::string_view xml) {
  const auto credentials = element_text(xml, "Credentials");
  if (!credentials) return unlike_keys();
  return checked_keys({xml_text(*credentials, "AccessKeyId"), xml_text(*credentials, "SecretAccessKey"),
                       xml_text(*credentials, "SessionToken")},
                      xml_text(*credentials, "Expiration"));
}

std::string told_by_token_service(std::string_view xml) {
  const auto error = element_text(xml, "Error");
  std::string told;
  if (!error) return told;
  const std::string message = xml_text(*error, "Message");
  base::append_printable(told, xml_text(*error, "Code"), longest_told);
  if (!told.empty() && !message.empty()) base::append_printable(told, ": " + message, longest_told);
  return told;
}

base::Result<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = '\0';
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char letter = command[i];
    const bool is_blank = letter == ' ' || letter == '\t';
    if (quote == '\0' && is_blank) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    const char next = i + 1 < command.size() ? command[i + 1] : '\0';
    if (letter == '\\' && next != '\0' && (quote == '\0' || (quote == '"' && (next == '"' || next == '\\')))) {
      *word += next;
      ++i;
    } else if (quote == '\0' && (letter == '"' || letter == '\'')) {
      quote = letter;
    } else if (quote != '\0' && letter == quote) {
      quote = '\0';
    } else {
      *word += letter;
    }
  }
  if (quote != '\0') return base::invalid("a quotation mark in the command is not closed");
  if (word) words.push_back(*std::move(word));
  if (words.empty()) return base::invalid("the command is empty");
  return words;
}

}  // namespace postino::remote
