#include "access/policy/arn.h"

#include <algorithm>

namespace postino::access {

namespace {

using Match = Pattern::Match;

enum Part { prefix, partition, service, region, account, resource };

constexpr std::size_t longest_arn = 2'048;

// What DynamoDB's resources begin with.
constexpr auto resource_kinds = std::to_array<std::string_view>({"table/", "global-table/", "import/"});

// Behind the name of a table.
constexpr auto table_parts = std::to_array<std::string_view>({"index/", "stream/", "backup/", "export/", "import/"});

bool has_wildcard(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }
bool has_variable(std::string_view text) { return text.find("${") != std::string_view::npos; }
bool is_open(std::string_view text) { return has_wildcard(text) || has_variable(text); }

// Could the text, as far as it is certain, go on to be one that begins like this?
bool agrees(std::string_view certain, std::string_view beginning) {
  return certain.starts_with(beginning) || beginning.starts_with(certain);
}

bool is_account(std::string_view text) {
  return text.size() == 12 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_region(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

// The part of a table that a whole name refers to.
base::Result<void> check_table_part(std::string_view behind_table) {
  const std::size_t slash = behind_table.find('/');
  const std::string_view name = behind_table.substr(0, slash);
  if (name.empty()) return base::invalid("names no table");
  if (slash == std::string_view::npos || is_open(name)) return {};
  const std::string_view part = behind_table.substr(slash + 1);
  const std::string_view certain = part.substr(0, part.find_first_of("*?$"));
  const bool known = std::ranges::any_of(table_parts, [&](std::string_view each) { return agrees(certain, each); }) &&
                     (is_open(part) || part.find('/') + 1 < part.size());
  if (!known || (!is_open(part) && part.find('/') == std::string_view::npos))
    return base::invalid("must have /index/, /stream/, /backup/, /export/ or /import/ and a name behind the table");
  return {};
}

base::Result<void> check_dynamodb(const ArnParts& parts, const Pattern& resource_pattern) {
  if (!is_open(parts[region]) && !is_region(parts[region])) return base::invalid("must name a region, or *");
  const bool words = parts[account] == "account";
  if (!is_open(parts[account]) && !words && !is_account(parts[account]))
    return base::invalid("must name an account of 12 digits, or *");
  const std::string_view certain = resource_pattern.certain_beginning();
  if (!is_open(parts[resource]) && parts[resource].empty()) return base::invalid("names no resource");
  if (std::ranges::none_of(resource_kinds, [&](std::string_view kind) { return agrees(certain, kind); }))
    return base::invalid("names nothing of DynamoDB: its resources begin with table/");
  if (!is_open(parts[resource]) &&
      std::ranges::none_of(resource_kinds, [&](std::string_view kind) { return parts[resource].starts_with(kind); }))
    return base::invalid("names nothing of DynamoDB: its resources begin with table/");
  if (parts[resource].starts_with(resource_kinds[0]))
    return check_table_part(parts[resource].substr(resource_kinds[0].size()));
  return {};
}

}  // namespace

std::optional<ArnParts> split_arn(std::string_view text) {
  ArnParts parts;
  std::size_t count = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size() && count + 1 < arn_part_count; ++i) {
    if (text.substr(i).starts_with("${")) {
      i = std::min(text.find('}', i), text.size());
    } else if (text[i] == ':') {
      parts[count++] = text.substr(begin, i - begin);
      begin = i + 1;
    }
  }
  if (count + 1 != arn_part_count || parts[prefix] != "arn") return std::nullopt;
  parts[count] = text.substr(begin);
  return parts;
}

base::Result<ArnPattern> ArnPattern::parse(std::string_view text, bool variables) {
  if (text.size() > longest_arn) return base::invalid("is longer than 2,048 letters");
  const auto parts = split_arn(text);
  if (!parts) return base::invalid("is no ARN: it must be like arn:aws:dynamodb:us-east-1:123456789012:table/NAME");
  ArnPattern pattern;
  for (const std::string_view part : *parts) {
    TRY(Pattern each, Pattern::parse(part, {.wildcards = true, .variables = variables}));
    pattern.parts_.push_back(std::move(each));
  }
  return pattern;
}

base::Result<ArnPattern> ArnPattern::parse_resource(std::string_view text, bool variables) {
  ArnPattern pattern;
  pattern.everything_ = text == "*";
  if (pattern.everything_) return pattern;
  TRY(pattern, parse(text, variables));
  const ArnParts parts = *split_arn(text);
  if (!agrees(pattern.parts_[partition].certain_beginning(), "aws") || parts[partition].empty())
    return base::invalid("must name the partition aws behind arn:");
  if (parts[service].empty()) return base::invalid("must name a service");
  if (parts[service] == "dynamodb") TRY_VOID(check_dynamodb(parts, pattern.parts_[resource]));
  const Pattern any = *Pattern::parse("*", {.wildcards = true});
  if (parts[region] == "region") pattern.parts_[region] = any;
  if (parts[account] == "account") pattern.parts_[account] = any;
  return pattern;
}

void ArnPattern::add_keys(ContextKeySet& keys) const {
  for (const Pattern& each : parts_) each.add_keys(keys);
}

Match ArnPattern::match(std::string_view text, const Context& context) const {
  if (everything_) return Match::yes;
  const auto parts = split_arn(text);
  if (!parts) return Match::no;
  Match worst = Match::yes;
  for (std::size_t i = 0; i < arn_part_count; ++i) {
    const Match each = parts_[i].match((*parts)[i], context);
    if (each == Match::no) return Match::no;
    if (each == Match::unknown) worst = Match::unknown;
  }
  return worst;
}

}  // namespace postino::access
