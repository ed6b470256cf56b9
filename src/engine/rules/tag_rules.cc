#include "engine/rules/tag_rules.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace postino::engine {

namespace {

constexpr std::size_t max_key_characters = 128;
constexpr std::size_t max_value_characters = 256;
constexpr std::string_view reserved_prefix = "aws:";
constexpr std::string_view allowed_punctuation = " +-=._:/@";

// Letters, digits and spaces of any script, and some punctuation of ASCII.
bool has_allowed_characters(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) {
    const auto character = static_cast<unsigned char>(byte);
    return character >= 0x80 || (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || allowed_punctuation.find(byte) != std::string_view::npos;
  });
}

store::Answer<void> check_key(const std::string& key) {
  if (key.starts_with(reserved_prefix))
    return store::refuse_invalid("Tag Key cannot be prefixed with aws:, Key: " + key);
  if (key.empty() || base::character_count(key) > max_key_characters || !has_allowed_characters(key))
    return store::refuse_invalid("The Tag Key provided is invalid, Key: " + key);
  return {};
}

store::Answer<void> check_tag_value(const std::string& value) {
  if (base::character_count(value) > max_value_characters || !has_allowed_characters(value))
    return store::refuse_invalid("The Tag Value provided is invalid, Value: " + value);
  return {};
}

}  // namespace

store::Answer<void> check_tags(const std::vector<store::Tag>& tags) {
  std::set<std::string_view> keys;
  for (const store::Tag& tag : tags) {
    TRY_VOID(check_key(tag.key));
    TRY_VOID(check_tag_value(tag.value));
    if (!keys.insert(tag.key).second)
      return store::refuse_invalid("Duplicate Tag Keys provided as input: Duplicate Tag Key found " + tag.key);
  }
  return check_tag_count(tags.size());
}

store::Answer<void> check_tag_keys(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) TRY_VOID(check_key(key));
  return check_tag_count(keys.size());
}

store::Answer<void> check_tag_count(std::size_t count) {
  if (count > max_tags)
    return store::refuse_invalid("Number of Tags exceed the current limit for the provided ResourceArn");
  return {};
}

}  // namespace postino::engine
