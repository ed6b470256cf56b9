#include "access/policy/document.h"

#include <algorithm>
#include <set>

#include "access/policy/document_reader.h"
#include "base/text.h"
#include "json/fault.h"

namespace postino::access {

namespace {

constexpr std::string_view present_version = "2012-10-17";
constexpr std::string_view first_version = "2008-10-17";  // has no variables

base::Result<void> check_size(std::string_view text, PolicyKind kind) {
  if (text.size() > max_document_bytes) return base::invalid("the policy has more than 65,536 bytes");
  if (kind == PolicyKind::resource && text.size() > max_resource_policy_bytes)
    return base::invalid("the policy has more than 20,480 bytes");
  const auto is_blank = [](char letter) { return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t'; };
  const auto blanks = static_cast<std::size_t>(std::ranges::count_if(text, is_blank));
  if (kind == PolicyKind::identity && text.size() - blanks > max_identity_policy_characters)
    return base::invalid("the policy has more than 6,144 characters that are no blanks");
  return {};
}

base::Error no_json(std::string_view text) {
  const auto fault = json::find_fault(text);
  std::string message = "the policy is no JSON";
  if (fault) message += ": " + fault->place();
  return {base::ErrorCode::invalid, std::move(message)};
}

base::Error error_of(const json::FieldErrors& errors) {
  std::string message;
  for (const json::FieldError& each : errors.list()) {
    if (!message.empty()) message += "; ";
    message.append(each.field).append(each.field.empty() ? "" : ": ").append(each.rule);
  }
  return {base::ErrorCode::invalid, std::move(message)};
}

// Reads the elements around the statements.
class DocumentParser {
 public:
  DocumentParser(json::Element root, Policy& policy, json::FieldErrors& errors)
      : reader_(root, "", errors), root_(root), policy_(policy), errors_(errors) {}

  void run() {
    if (!root_.is_object()) return reader_.refuse("", "must be an object");
    const bool alone = policy_.kind == PolicyKind::identity && root_.member("Effect") && !root_.member("Statement");
    if (alone) return add(root_, "", true);
    reader_.only({"Version", "Id", "Statement"});
    const std::string_view version = reader_.text("Version").value_or(first_version);
    if (version != present_version && version != first_version)
      reader_.refuse("Version", "must be \"2012-10-17\" or \"2008-10-17\"");
    if (root_.member("Id")) reader_.text("Id");
    const auto statements = root_.member("Statement");
    if (!statements) return reader_.refuse("Statement", "is missing");
    if (statements->is_object()) return add(*statements, "Statement", version == present_version);
    if (!statements->is_array() || statements->elements().empty())
      return reader_.refuse("Statement", "must be a statement, or a list of them");
    std::size_t index = 0;
    for (const json::Element each : statements->elements())
      add(each, "Statement[" + std::to_string(index++) + "]", version == present_version);
  }

 private:
  void add(json::Element element, const std::string& path, bool variables) {
    Statement& statement = policy_.statements.emplace_back();
    statement.number = policy_.statements.size();
    read_statement(element, path, policy_.kind, variables, statement, errors_);
    if (!statement.id.empty() && !ids_.insert(statement.id).second)
      errors_.add(path.empty() ? "Sid" : path + ".Sid", "is that of an earlier statement");
  }

  ObjectReader reader_;
  json::Element root_;
  Policy& policy_;
  json::FieldErrors& errors_;
  std::set<std::string> ids_;
};

}  // namespace

base::Result<Policy> parse_policy(std::string_view text, PolicyKind kind, std::string name) {
  TRY_VOID(check_size(text, kind));
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(text, errors)) return base::propagate(no_json(text));
  Policy policy;
  policy.kind = kind;
  policy.name = std::move(name);
  DocumentParser(document.root(), policy, errors).run();
  if (!errors.empty()) return base::propagate(error_of(errors));
  return policy;
}

}  // namespace postino::access
