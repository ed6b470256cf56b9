// Random policies and requests: decisions are those of a plain evaluator that knows nothing of prepared patterns.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "access/policy/decision.h"
#include "access/policy/document.h"
#include "base/effort_testing.h"
#include "base/random.h"
#include "base/text.h"

namespace postino::access {
namespace {

using Texts = std::vector<std::string>;
using Values = std::map<std::string, Texts>;  // of a request, by key

struct ModelCondition {
  std::string quantifier, name, suffix, key;
  Texts values;
};
struct ModelStatement {
  bool allow = true, not_action = false, not_resource = false;
  Texts actions, resources;
  std::vector<ModelCondition> conditions;
};
struct ModelRequest {
  std::string action, resource;
  Values values;
};

// The texts and patterns to choose from: few letters, so that much matches.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_.next() % count); }
  bool flip() { return below(2) == 0; }
  const std::string& one_of(const Texts& texts) { return texts[below(texts.size())]; }

  std::string text() {
    std::string text;
    for (std::size_t i = below(4); i > 0; --i) text += "ab"[below(2)];
    return text;
  }
  std::string pattern() {
    static const Texts parts = {"a", "b", "*", "?", "${aws:PrincipalTag/t}", "${aws:username, 'b'}", "${*}"};
    std::string text;
    for (std::size_t i = below(4); i > 0; --i) text += one_of(parts);
    return text;
  }
  template <class Make>
  Texts list(Make make) {
    Texts all;
    for (std::size_t i = 1 + below(3); i > 0; --i) all.push_back(make());
    return all;
  }

 private:
  base::SeededRandom random_;
};

const Texts single_keys = {"aws:username", "aws:PrincipalTag/t", "aws:PrincipalTag/u", "dynamodb:Select"};
const Texts several_keys = {"dynamodb:LeadingKeys", "dynamodb:Attributes"};
const Texts text_operators = {"StringEquals", "StringNotEquals", "StringEqualsIgnoreCase",
                              "StringLike",   "StringNotLike",   "StringNotEqualsIgnoreCase"};
const Texts number_operators = {"NumericEquals",         "NumericNotEquals",   "NumericLessThan",
                                "NumericLessThanEquals", "NumericGreaterThan", "NumericGreaterThanEquals"};

ModelCondition make_condition(Dice& dice) {
  ModelCondition condition;
  const bool several = dice.flip();
  condition.key = dice.one_of(several ? several_keys : single_keys);
  if (dice.below(6) == 0) {
    condition.name = "Null";
    condition.values = {dice.flip() ? "true" : "false"};
    return condition;
  }
  if (several || dice.below(4) == 0) condition.quantifier = dice.flip() ? "ForAllValues:" : "ForAnyValue:";
  if (dice.below(3) == 0) condition.suffix = "IfExists";
  const bool numbers = dice.below(4) == 0;
  condition.name = dice.one_of(numbers ? number_operators : text_operators);
  condition.values = dice.list([&] { return numbers ? std::to_string(dice.below(4)) : dice.pattern(); });
  return condition;
}

ModelStatement make_statement(Dice& dice) {
  static const Texts actions = {"dynamodb:GetItem", "dynamodb:*Item", "dynamodb:Q*",  "dynamodb:PutItem", "*",
                                "s3:GetObject",     "dynamodb:?uery", "dynamodb:Scan"};
  ModelStatement statement;
  statement.allow = dice.below(3) != 0;
  statement.not_action = dice.below(4) == 0;
  statement.not_resource = dice.below(4) == 0;
  statement.actions = dice.list([&] { return dice.one_of(actions); });
  statement.resources = dice.list([&]() -> std::string {
    if (dice.below(5) == 0) return "*";
    return (dice.flip() ? "arn:aws:dynamodb:*:123456789012:table/x" : "arn:aws:dynamodb:us-east-1:*:table/x") +
           dice.pattern();
  });
  // The same key under the same operator twice would be refused.
  std::set<std::string> used;
  for (std::size_t i = dice.below(3); i > 0; --i) {
    ModelCondition condition = make_condition(dice);
    if (used.insert(condition.quantifier + condition.name + condition.suffix).second)
      statement.conditions.push_back(std::move(condition));
  }
  return statement;
}

ModelRequest make_request(Dice& dice) {
  ModelRequest request;
  request.action = dice.one_of({"GetItem", "PutItem", "Query", "Scan"});
  request.resource = "arn:aws:dynamodb:us-east-1:123456789012:table/x" + dice.text();
  const auto text = [&] { return dice.below(3) == 0 ? std::to_string(dice.below(4)) : dice.text(); };
  for (const std::string& key : single_keys)
    if (dice.below(3) != 0) request.values[key] = {text()};
  for (const std::string& key : several_keys)
    if (dice.below(3) != 0) request.values[key] = dice.list(text);
  return request;
}

std::string json_of(const Texts& texts) {
  std::string json = "[";
  for (const std::string& text : texts) json += (json.size() > 1 ? ",\"" : "\"") + text + "\"";
  return json + "]";
}

std::string json_of(const std::vector<ModelStatement>& statements) {
  std::string json = R"({"Version":"2012-10-17","Statement":[)";
  for (const ModelStatement& statement : statements) {
    if (json.back() == '}') json += ",";
    json += std::string(R"({"Effect":")") + (statement.allow ? "Allow" : "Deny") + "\",";
    json += std::string(statement.not_action ? "\"NotAction\":" : "\"Action\":") + json_of(statement.actions) + ",";
    json += std::string(statement.not_resource ? "\"NotResource\":" : "\"Resource\":") + json_of(statement.resources);
    json += ",\"Condition\":{";
    for (const ModelCondition& each : statement.conditions) {
      if (json.back() == '}') json += ",";
      json +=
          "\"" + each.quantifier + each.name + each.suffix + "\":{\"" + each.key + "\":" + json_of(each.values) + "}";
    }
    json += "}}";
  }
  return json + "]}";
}

// The reference. A pattern becomes a list of letters, in which these stand for wildcards.
constexpr int any_letter = -1;
constexpr int any_letters = -2;
using Letters = std::vector<int>;

std::optional<Letters> expand(const std::string& pattern, const Values& values, bool wildcards) {
  Letters letters;
  const auto add = [&](const std::string& text) { letters.insert(letters.end(), text.begin(), text.end()); };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.compare(i, 2, "${") == 0) {
      const std::size_t end = pattern.find('}', i);
      const std::string inside = pattern.substr(i + 2, end - i - 2);
      i = end;
      if (inside == "*") {
        add("*");
        continue;
      }
      const auto found = values.find(inside.substr(0, inside.find(',')));
      if (found != values.end())
        add(found->second.front());
      else if (inside.find('\'') != std::string::npos)
        add("b");
      else
        return std::nullopt;
    } else if (wildcards && pattern[i] == '*') {
      letters.push_back(any_letters);
    } else if (wildcards && pattern[i] == '?') {
      letters.push_back(any_letter);
    } else {
      letters.push_back(pattern[i]);
    }
  }
  return letters;
}

bool matches(const Letters& letters, std::size_t at, std::string_view text) {
  if (at == letters.size()) return text.empty();
  if (letters[at] == any_letters)
    return matches(letters, at + 1, text) || (!text.empty() && matches(letters, at, text.substr(1)));
  if (text.empty()) return false;
  return (letters[at] == any_letter || letters[at] == text.front()) && matches(letters, at + 1, text.substr(1));
}

enum class Three { no, yes, unknown };

Three matches_one(const std::string& name, const std::string& wanted, const std::string& value, const Values& values) {
  const auto as_three = [](bool is) { return is ? Three::yes : Three::no; };
  if (name.starts_with("Numeric")) {
    if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) return Three::no;
    const int a = std::stoi(value), b = std::stoi(wanted);
    if (name == "NumericLessThan") return as_three(a < b);
    if (name == "NumericLessThanEquals") return as_three(a <= b);
    if (name == "NumericGreaterThan") return as_three(a > b);
    if (name == "NumericGreaterThanEquals") return as_three(a >= b);
    return as_three(a == b);
  }
  auto letters = expand(wanted, values, name.ends_with("Like"));
  if (!letters) return Three::unknown;
  if (!name.ends_with("IgnoreCase")) return as_three(matches(*letters, 0, value));
  return as_three(matches(*letters, 0, value));  // all letters are small
}

// Of one value of the request and all of the policy.
Three holds_for(const ModelCondition& condition, const std::string& value, const Values& values) {
  const bool negated = condition.name.find("Not") != std::string::npos;
  bool any = false, unknown = false;
  for (const std::string& wanted : condition.values) {
    const Three one = matches_one(condition.name, wanted, value, values);
    any = any || one == Three::yes;
    unknown = unknown || one == Three::unknown;
  }
  if (!negated) return any ? Three::yes : Three::no;
  if (any) return Three::no;
  return unknown ? Three::unknown : Three::yes;
}

Three holds(const ModelCondition& condition, const Values& values) {
  const auto found = values.find(condition.key);
  const bool there = found != values.end();
  if (condition.name == "Null") return (condition.values.front() == "true") != there ? Three::yes : Three::no;
  const bool negated = condition.name.find("Not") != std::string::npos;
  if (!there) {
    const bool met = condition.quantifier == "ForAllValues:" || !condition.suffix.empty() ||
                     (negated && condition.quantifier.empty());
    return met ? Three::yes : Three::no;
  }
  std::size_t yes = 0, unknown = 0;
  for (const std::string& value : found->second) {
    const Three one = holds_for(condition, value, values);
    yes += one == Three::yes ? 1 : 0;
    unknown += one == Three::unknown ? 1 : 0;
  }
  if (condition.quantifier == "ForAllValues:") {
    if (yes == found->second.size()) return Three::yes;
    return yes + unknown == found->second.size() ? Three::unknown : Three::no;
  }
  if (yes > 0) return Three::yes;
  return unknown > 0 ? Three::unknown : Three::no;
}

bool names_action(const ModelStatement& statement, const std::string& action) {
  for (const std::string& each : statement.actions)
    if (matches(*expand(each, {}, true), 0, "dynamodb:" + action)) return true;
  return false;
}

// The table's name behind "...:table/", the rest of each ARN being one that matches.
Three names_resource(const ModelStatement& statement, const ModelRequest& request) {
  const std::string table = request.resource.substr(request.resource.find('/') + 1);
  bool yes = false, unknown = false;
  for (const std::string& each : statement.resources) {
    const auto letters =
        each == "*" ? Letters{any_letters} : expand(each.substr(each.find("table/") + 6), request.values, true);
    yes = yes || (letters && matches(*letters, 0, table));
    unknown = unknown || !letters;
  }
  if (yes) return Three::yes;
  return unknown ? Three::unknown : Three::no;
}

bool applies(const ModelStatement& statement, const ModelRequest& request) {
  if (names_action(statement, request.action) == statement.not_action) return false;
  const Three resource = names_resource(statement, request);
  if (!statement.not_resource && resource != Three::yes) return false;
  if (statement.not_resource && (resource == Three::yes || (resource == Three::unknown && statement.allow)))
    return false;
  for (const ModelCondition& condition : statement.conditions) {
    const Three met = holds(condition, request.values);
    if (met == Three::no || (met == Three::unknown && statement.allow)) return false;
  }
  return true;
}

Decision::Kind expected(const std::vector<ModelStatement>& statements, const ModelRequest& request) {
  bool allowed = false;
  for (const ModelStatement& statement : statements) {
    if (!applies(statement, request)) continue;
    if (!statement.allow) return Decision::Kind::denied;
    allowed = true;
  }
  return allowed ? Decision::Kind::allowed : Decision::Kind::not_allowed;
}

AccessRequest request_of(const ModelRequest& model) {
  AccessRequest request{*find_action(model.action), model.resource};
  for (const auto& [key, values] : model.values)
    for (const std::string& value : values) request.context.add(*KeyReference::parse(key), value);
  return request;
}

TEST(PolicyModel, DecidesAsAPlainEvaluatorDoes) {
  constexpr std::uint64_t seed = 20'261'118;
  Dice dice(seed);
  std::map<Decision::Kind, int> counts;
  for (int round = 0; round < 2'000 * base::test_effort(); ++round) {
    std::vector<ModelStatement> statements(1 + dice.below(3));
    for (ModelStatement& statement : statements) statement = make_statement(dice);
    const std::string text = json_of(statements);
    const auto policy = parse_policy(text, PolicyKind::identity, "random");
    ASSERT_TRUE(policy) << "seed " << seed << ", round " << round << ": " << policy.error().message << " in " << text;
    for (int i = 0; i < 5; ++i) {
      const ModelRequest request = make_request(dice);
      const Decision::Kind kind = decide({&*policy}, request_of(request), {"123456789012", "x", "x"}).kind;
      ASSERT_EQ(kind, expected(statements, request)) << "seed " << seed << ", round " << round << ", " << request.action
                                                     << " on " << request.resource << ": " << text;
      ++counts[kind];
    }
  }
  // Otherwise it would show little.
  for (const auto kind : {Decision::Kind::allowed, Decision::Kind::denied, Decision::Kind::not_allowed})
    EXPECT_GT(counts[kind], 500);
}

}  // namespace
}  // namespace postino::access
