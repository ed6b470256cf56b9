#include "app/settings/policy_question.h"

#include <algorithm>

#include "app/settings/policy_settings.h"
#include "json/writer.h"

namespace postino::app {

namespace {

using access::Decision;
using access::Explanation;
using access::Verdict;

struct PreparedQuestion {
  std::vector<access::Policy> policies;
  access::Principal principal;
  access::AccessRequest request;
  bool full_rights = false;
};

base::Result<void> read_all(const std::vector<std::string>& sources, access::PolicyKind kind,
                            std::vector<access::Policy>& policies) {
  for (const std::string& source : sources) {
    TRY(access::Policy policy, read_policy(source, kind));
    policies.push_back(std::move(policy));
  }
  return {};
}

// "KEY=VALUE". What is said of the caller takes the place of what is known without it.
base::Result<void> add_value(const std::string& text, PreparedQuestion& prepared) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return base::invalid("--context: must be KEY=VALUE");
  const std::string name = text.substr(0, equals);
  const auto key = access::KeyReference::parse(name);
  if (!key) return base::invalid("--context: \"" + name + "\" " + key.error().message);
  if (!access::has_several_values(key->key) && !prepared.request.context.values(*key).empty())
    return base::invalid("--context: \"" + name + "\" has one value");
  prepared.request.context.add(*key, text.substr(equals + 1));
  return {};
}

void add_caller(PreparedQuestion& prepared) {
  access::Context known;
  add_principal(known, prepared.principal);
  access::Context& context = prepared.request.context;
  for (const auto key :
       {access::ContextKey::principal_arn, access::ContextKey::principal_account, access::ContextKey::principal_type,
        access::ContextKey::user_id, access::ContextKey::user_name})
    if (context.values({key}).empty())
      for (const std::string& value : known.values({key})) context.add(key, value);
}

std::string arn_of(const PolicyQuestion& question) {
  if (question.resource == "*" || question.resource.starts_with("arn:")) return question.resource;
  return "arn:aws:dynamodb:" + question.region + ":" + question.account + ":table/" + question.resource;
}

base::Result<PreparedQuestion> prepare(const PolicyQuestion& question) {
  PreparedQuestion prepared;
  TRY_VOID(read_all(question.policies, access::PolicyKind::identity, prepared.policies));
  TRY_VOID(read_all(question.resource_policies, access::PolicyKind::resource, prepared.policies));
  prepared.full_rights = question.policies.empty();
  const auto action = access::find_action(question.action);
  if (!action) return base::invalid("--action: \"" + question.action + "\" is no action of DynamoDB");
  prepared.principal = {question.account, question.user, question.user};
  prepared.request = {*action, arn_of(question)};
  for (const std::string& value : question.context) TRY_VOID(add_value(value, prepared));
  add_caller(prepared);
  return prepared;
}

std::string list_of(std::span<const std::string> texts) {
  std::string list;
  for (const std::string& text : texts) list.append(list.empty() ? "\"" : ", \"").append(text).append("\"");
  return list.empty() ? "nothing" : list;
}

std::string reason_of(const Explanation& explanation, const access::AccessRequest& request) {
  switch (explanation.verdict.verdict) {
    case Verdict::applies:
      return explanation.statement->effect == access::Effect::deny ? "denies it" : "allows it";
    case Verdict::other_action:
      return "is not about this action";
    case Verdict::other_resource:
      return "is not about this resource";
    case Verdict::other_principal:
      return "is not about this caller";
    case Verdict::condition_failed:
      break;
  }
  const access::Condition& failed = *explanation.verdict.failed;
  return "has a condition that is not met: " + failed.operator_name() + " " + failed.key().text() + " wants " +
         list_of(failed.texts()) + " and the request has " + list_of(request.context.values(failed.key()));
}

std::string_view word_for(Decision::Kind kind) {
  if (kind == Decision::Kind::allowed) return "allowed";
  return kind == Decision::Kind::denied ? "denied" : "not allowed";
}

// Keys that conditions ask for, and of which the question says nothing: a real call may have them. Without its key a
// condition with ForAllValues or IfExists is met.
std::vector<std::string> absent_keys(const std::vector<Explanation>& explanations, const access::Context& context) {
  std::vector<std::string> absent;
  for (const Explanation& each : explanations) {
    if (each.verdict.verdict != Verdict::applies && each.verdict.verdict != Verdict::condition_failed) continue;
    for (const access::Condition& condition : each.statement->conditions) {
      std::string name = condition.key().text();
      if (context.values(condition.key()).empty() && std::ranges::find(absent, name) == absent.end())
        absent.push_back(std::move(name));
    }
  }
  return absent;
}

std::string text_of(const Decision& decision, const std::vector<Explanation>& explanations,
                    const PreparedQuestion& prepared) {
  const access::AccessRequest& request = prepared.request;
  std::string text(word_for(decision.kind));
  text.append(": ").append(access::service_prefix).append(request.action.name()).append(" on ");
  text.append(request.resource).append("\n");
  if (prepared.full_rights) text += "without a --policy, a caller may do everything that nothing denies\n";
  for (const Explanation& each : explanations)
    text.append(each.policy->name)
        .append(", ")
        .append(each.statement->name())
        .append(": ")
        .append(reason_of(each, request))
        .append("\n");
  std::string absent;
  for (const std::string& key : absent_keys(explanations, request.context))
    absent.append(absent.empty() ? "" : ", ").append(key);
  if (!absent.empty())
    text.append("taken as absent, because no --context gives it: ")
        .append(absent)
        .append("; the answer may be another for a call that has it\n");
  if (!decision.allowed())
    text.append(access::denial_text(decision, request.action, request.resource, prepared.principal)).append("\n");
  return text;
}

void write(json::Writer& json, const Explanation& explanation, const access::AccessRequest& request) {
  json.begin_object().key("policy").string(explanation.policy->name);
  json.key("statement").integer(static_cast<std::int64_t>(explanation.statement->number));
  if (!explanation.statement->id.empty()) json.key("sid").string(explanation.statement->id);
  json.key("effect").string(explanation.statement->effect == access::Effect::deny ? "Deny" : "Allow");
  json.key("applies").boolean(explanation.verdict.verdict == Verdict::applies);
  json.key("reason").string(reason_of(explanation, request)).end_object();
}

std::string json_of(const Decision& decision, const std::vector<Explanation>& explanations,
                    const PreparedQuestion& prepared) {
  const access::AccessRequest& request = prepared.request;
  std::string text;
  json::Writer json(text);
  json.begin_object().key("allowed").boolean(decision.allowed());
  json.key("decision").string(word_for(decision.kind));
  json.key("action").string(std::string(access::service_prefix).append(request.action.name()));
  json.key("resource").string(request.resource).key("statements").begin_array();
  for (const Explanation& each : explanations) write(json, each, request);
  json.end_array().key("absent").begin_array();
  for (const std::string& key : absent_keys(explanations, request.context)) json.string(key);
  json.end_array();
  if (!decision.allowed())
    json.key("message").string(access::denial_text(decision, request.action, request.resource, prepared.principal));
  json.end_object();
  return text + "\n";
}

}  // namespace

base::Result<PolicyAnswer> answer(const PolicyQuestion& question) {
  TRY(const PreparedQuestion prepared, prepare(question));
  access::PolicyList list;
  for (const access::Policy& policy : prepared.policies) list.push_back(&policy);
  const Decision decision = decide(list, prepared.request, prepared.principal, prepared.full_rights);
  const auto explanations = explain(list, prepared.request, prepared.principal);
  return PolicyAnswer{decision.allowed(), text_of(decision, explanations, prepared),
                      json_of(decision, explanations, prepared)};
}

}  // namespace postino::app
