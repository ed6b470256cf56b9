#include "access/policy/document_reader.h"

#include <algorithm>
#include <set>

#include "access/policy/document.h"

namespace postino::access {

namespace {

bool is_member_of(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::optional<std::string> text_of(json::Element element, bool texts_only) {
  if (const auto text = element.text()) return std::string(*text);
  using enum json::Element::Type;
  const auto type = element.type();
  if (texts_only || type == null || type == array || type == object) return std::nullopt;
  return element.compact();
}

}  // namespace

void ObjectReader::only(std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : object_.members())
    if (!is_member_of(names, name)) refuse(name, "is no element that is known here");
  refuse_doubles();
}

void ObjectReader::refuse_doubles() {
  std::set<std::string_view> seen;
  for (const auto& [name, value] : object_.members())
    if (!seen.insert(name).second) refuse(name, "is there twice");
}

std::optional<std::string_view> ObjectReader::text(std::string_view name) {
  const auto element = object_.member(name);
  if (!element) return std::nullopt;
  if (!element->is_string()) refuse(name, "must be a text");
  return element->text();
}

std::vector<std::string> ObjectReader::texts(std::string_view name) { return list(name, true); }
std::vector<std::string> ObjectReader::values(std::string_view name) { return list(name, false); }

std::vector<std::string> ObjectReader::list(std::string_view name, bool texts_only) {
  const std::string rule = texts_only ? "must be a text, or a list of texts that is not empty"
                                      : "must be a value, or a list of values that is not empty";
  const json::Element element = *object_.member(name);
  std::vector<std::string> texts;
  const auto add = [&](json::Element each) {
    auto text = text_of(each, texts_only);
    if (text) texts.push_back(*std::move(text));
    return text.has_value();
  };
  bool right = true;
  if (!element.is_array()) {
    right = add(element);
  } else {
    for (const json::Element each : element.elements()) right = add(each) && right;
    right = right && !texts.empty();
  }
  if (texts.size() > max_values)
    refuse(name, "has more than 1,000 values");
  else if (!right)
    refuse(name, rule);
  else
    return texts;
  return {};
}

std::string ObjectReader::path_of(std::string_view name) const {
  if (path_.empty() || name.empty()) return path_ + std::string(name);
  return path_ + "." + std::string(name);
}

namespace {

// Reads the elements of one statement.
class StatementReader {
 public:
  StatementReader(json::Element element, const std::string& path, PolicyKind kind, bool variables, Statement& statement,
                  json::FieldErrors& errors)
      : reader_(element, path, errors),
        element_(element),
        kind_(kind),
        variables_(variables),
        statement_(statement),
        errors_(errors) {}

  void run() {
    if (!element_.is_object()) return reader_.refuse("", "must be an object");
    if (kind_ == PolicyKind::identity)
      reader_.only({"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition"});
    else
      reader_.only({"Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource",
                    "Condition"});
    read_id();
    read_effect();
    read_actions();
    read_resources();
    if (kind_ == PolicyKind::resource) read_principal();
    if (element_.member("Condition")) read_conditions();
  }

 private:
  void read_id() {
    const auto id = reader_.text("Sid");
    if (!id) return;
    statement_.id = *id;
    const auto allowed = [this](char letter) {
      const bool is_plain =
          (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
      return is_plain || (kind_ == PolicyKind::resource && (letter == ' ' || letter == '-' || letter == '_'));
    };
    if (!std::ranges::all_of(*id, allowed)) reader_.refuse("Sid", "must have letters and digits only");
  }

  void read_effect() {
    const auto effect = reader_.text("Effect");
    if (!element_.member("Effect")) return reader_.refuse("Effect", "is missing: it must be \"Allow\" or \"Deny\"");
    if (!effect) return;
    if (*effect != "Allow" && *effect != "Deny") return reader_.refuse("Effect", "must be \"Allow\" or \"Deny\"");
    statement_.effect = *effect == "Deny" ? Effect::deny : Effect::allow;
  }

  // Which of two elements is there. Nothing, with a note, when it is not one of them.
  std::optional<std::string_view> one_of(std::string_view name, std::string_view opposite) {
    const bool has = element_.member(name).has_value();
    const bool has_opposite = element_.member(opposite).has_value();
    if (has && has_opposite) reader_.refuse(name, "must not stand beside " + std::string(opposite));
    if (!has && !has_opposite) reader_.refuse(name, "is missing");
    if (has == has_opposite) return std::nullopt;
    return has ? name : opposite;
  }

  void read_actions() {
    const auto name = one_of("Action", "NotAction");
    if (!name) return;
    for (const std::string& each : reader_.texts(*name)) {
      const auto actions = actions_matching(each);
      if (!actions) reader_.refuse(*name, "\"" + each + "\" is no action of DynamoDB");
      if (actions) statement_.actions |= *actions;
    }
    if (*name == "NotAction") statement_.actions.flip();
  }

  void read_resources() {
    const auto name = one_of("Resource", "NotResource");
    if (!name) return;
    statement_.all_but_resources = *name == "NotResource";
    for (const std::string& each : reader_.texts(*name)) {
      auto pattern = ArnPattern::parse_resource(each, variables_);
      if (pattern)
        statement_.resources.push_back(*std::move(pattern));
      else
        reader_.refuse(*name, "\"" + each + "\" " + pattern.error().message);
    }
  }

  void read_principal() {
    const auto name = one_of("Principal", "NotPrincipal");
    if (!name) return;
    PrincipalElement principal;
    principal.negated = *name == "NotPrincipal";
    const json::Element element = *element_.member(*name);
    if (element.is_object()) {
      read_principals(element, *name, principal);
    } else {
      if (element.text() != "*") reader_.refuse(*name, "must be \"*\", or an object such as {\"AWS\": \"ARN\"}");
      principal.everybody = true;
    }
    statement_.principal = std::move(principal);
  }

  // Services and federated users do not call here: they are named, and never meant.
  void read_principals(json::Element element, std::string_view name, PrincipalElement& principal) {
    ObjectReader reader(element, reader_.path_of(name), errors_);
    reader.only({"AWS", "Service", "Federated", "CanonicalUser"});
    if (element.members().empty()) reader_.refuse(name, "names nobody");
    for (const auto& [kind, value] : element.members()) {
      const std::vector<std::string> texts = reader.texts(kind);
      if (kind != "AWS") continue;
      for (const std::string& each : texts) add_principal_text(each, reader, principal);
    }
  }

  static void add_principal_text(const std::string& text, ObjectReader& reader, PrincipalElement& principal) {
    const bool is_account = text.size() == 12 && text.find_first_not_of("0123456789") == std::string::npos;
    const auto parts = split_arn(text);
    if (text == "*")
      principal.everybody = true;
    else if (is_account)
      principal.arns.push_back("arn:aws:iam::" + text + ":root");
    else if (parts && ((*parts)[2] == "iam" || (*parts)[2] == "sts") && text.find('*') == std::string::npos)
      principal.arns.push_back(text);
    else
      reader.refuse("AWS", "\"" + text + "\" must be *, an account, or the whole ARN of a user or a role");
  }

  void read_conditions() {
    const json::Element conditions = *element_.member("Condition");
    if (!conditions.is_object()) return reader_.refuse("Condition", "must be an object");
    ObjectReader(conditions, reader_.path_of("Condition"), errors_).refuse_doubles();
    for (const auto& [operator_name, keys] : conditions.members()) {
      const std::string path = reader_.path_of("Condition") + "." + std::string(operator_name);
      ObjectReader reader(keys, path, errors_);
      if (!keys.is_object() || keys.members().empty()) {
        reader.refuse("", "must be an object of condition keys and their values");
        continue;
      }
      reader.refuse_doubles();
      if (const auto known = Operator::parse(operator_name); !known) {
        reader.refuse("", known.error().message);
        continue;
      }
      for (const auto& [key, value] : keys.members()) {
        auto values = reader.values(key);
        if (!values.empty()) add_condition(operator_name, key, std::move(values), reader);
      }
    }
  }

  void add_condition(std::string_view operator_name, std::string_view key, std::vector<std::string> values,
                     ObjectReader& reader) {
    auto condition = Condition::make(operator_name, key, std::move(values), variables_);
    if (condition)
      statement_.conditions.push_back(*std::move(condition));
    else
      reader.refuse(key, condition.error().message);
  }

  ObjectReader reader_;
  json::Element element_;
  const PolicyKind kind_;
  const bool variables_;
  Statement& statement_;
  json::FieldErrors& errors_;
};

}  // namespace

void read_statement(json::Element element, const std::string& path, PolicyKind kind, bool variables,
                    Statement& statement, json::FieldErrors& errors) {
  StatementReader(element, path, kind, variables, statement, errors).run();
}

}  // namespace postino::access
