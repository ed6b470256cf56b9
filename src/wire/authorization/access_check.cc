#include "wire/authorization/access_check.h"

#include "base/timestamp.h"
#include "expr/attribute_names.h"
#include "store/words.h"
#include "wire/authorization/partition_keys.h"

namespace postino::wire {

namespace {

using access::ContextKey;

template <class Word>
void add_word(access::Context& context, ContextKey key, const std::optional<Word>& word) {
  if (word) context.add(key, std::string(store::word_for(*word)));
}

base::Result<void> add_expressions(const ItemAccess& access, expr::AttributeNames& names) {
  if (access.placeholders == nullptr) return {};
  const auto add = [&](const std::optional<store::ConditionExpression>* expression, expr::Kind kind) {
    return expression != nullptr && *expression
               ? expr::add_attribute_names((*expression)->text(), kind, *access.placeholders, names)
               : base::Result<void>();
  };
  TRY_VOID(add(access.key_condition, expr::Kind::key_condition));
  TRY_VOID(add(access.condition, expr::Kind::condition));
  TRY_VOID(add(access.filter, expr::Kind::filter));
  if (access.update != nullptr && *access.update)
    TRY_VOID(expr::add_attribute_names_of_update((*access.update)->text(), *access.placeholders, names));
  if (access.projection != nullptr && *access.projection)
    TRY_VOID(expr::add_attribute_names_of_projection((*access.projection)->text(), *access.placeholders, names));
  return {};
}

store::Answer<void> add_attributes(const ItemAccess& access, access::Context& context) {
  expr::AttributeNames names(access.attributes.begin(), access.attributes.end());
  for (const auto* maps : {&access.keys, &access.items})
    for (const item::Map* map : *maps)
      for (const item::Attribute& attribute : *map) names.insert(attribute.name);
  TRY_VOID(add_expressions(access, names));
  for (const std::string& name : names) context.add(ContextKey::attributes, name);
  return {};
}

}  // namespace

store::Select selected(bool has_projection, bool of_index, std::optional<store::Select> select) {
  if (select) return *select;
  if (has_projection) return store::Select::specific_attributes;
  return of_index ? store::Select::all_projected_attributes : store::Select::all_attributes;
}

store::ReturnValues returned(store::ReturnValues values, bool item_on_failure) {
  if (!item_on_failure || values == store::ReturnValues::all_new) return values;
  return store::ReturnValues::all_old;
}

std::string ResourceNames::table(std::string_view name) const {
  std::string arn = "arn:aws:dynamodb:";
  return arn.append(region).append(":").append(account).append(":table/").append(name);
}

std::string ResourceNames::table_or_index(std::string_view table_name, const std::string* index) const {
  std::string arn = table(table_name);
  return index == nullptr ? arn : arn.append("/index/").append(*index);
}

AccessCheck::AccessCheck(Caller caller, ResourceNames names, store::Store& store, ResourcePolicies& resource_policies)
    : caller_(std::make_shared<const Caller>(std::move(caller))),
      names_(std::move(names)),
      store_(store),
      resource_policies_(resource_policies) {
  store::ResourceSettings* const settings = store.resource_settings();
  if (settings != nullptr && settings->has_policies()) kept_policies_ = settings;
}
AccessCheck::~AccessCheck() = default;
AccessCheck::AccessCheck(const AccessCheck&) = default;

// What the policy of a resource asks for is not known before the resource is.
bool AccessCheck::ask_for(std::initializer_list<access::ContextKey> keys) const {
  return kept_policies_ != nullptr || caller_->policies->ask_for(keys);
}

// What does not depend on the operation; only what is asked for.
access::Context AccessCheck::begin_context() const {
  access::Context context(&caller_->policies->caller());
  if (ask_for({ContextKey::source_ip})) context.add(ContextKey::source_ip, caller_->address);
  if (ask_for({ContextKey::secure_transport}))
    context.add(ContextKey::secure_transport, caller_->request->secure ? "true" : "false");
  if (ask_for({ContextKey::user_agent}) && caller_->request->has_header("user-agent"))
    context.add(ContextKey::user_agent, std::string(caller_->request->header("user-agent")));
  if (ask_for({ContextKey::current_time})) context.add(ContextKey::current_time, base::format_timestamp(caller_->now));
  if (ask_for({ContextKey::epoch_time}))
    context.add(ContextKey::epoch_time, std::to_string(base::epoch_seconds(caller_->now)));
  if (ask_for({ContextKey::requested_region})) context.add(ContextKey::requested_region, names_.region);
  return context;
}

namespace {

// The owner of the account can always mend a policy that has shut everybody out.
bool is_about_policy(access::Action action) {
  return action == access::action_named("GetResourcePolicy") || action == access::action_named("PutResourcePolicy") ||
         action == access::action_named("DeleteResourcePolicy");
}

}  // namespace

store::Answer<void> AccessCheck::decide(const access::AccessRequest& request) const {
  const access::KeyPolicies& policies = *caller_->policies;
  if (caller_->is_owner && (kept_policies_ == nullptr || is_about_policy(request.action))) return {};
  std::shared_ptr<const access::Policy> of_resource;
  if (kept_policies_ != nullptr) of_resource = resource_policies_.of(*kept_policies_, request.resource);
  access::Decision decision;
  if (of_resource || caller_->is_owner) {
    access::PolicyList all = policies.policies();
    if (of_resource) all.push_back(of_resource.get());
    decision = access::decide(all, request, policies.principal(), caller_->is_owner);
  } else {
    decision = policies.decide(request);
  }
  const auto of_session = decision.allowed() ? policies.decide_session(request) : std::nullopt;
  if (of_session) decision = *of_session;
  if (decision.allowed()) return {};
  return store::refuse(
      store::ErrorType::access_denied,
      access::denial_text(decision, request.action, request.resource, policies.principal(), of_session.has_value()));
}

store::Answer<void> AccessCheck::resource(access::Action action, const std::string& arn) const {
  return decide({action, arn, begin_context()});
}

store::Answer<void> AccessCheck::table(access::Action action, std::string_view table_name) const {
  return resource(action, names_.table(table_name));
}

store::Answer<void> AccessCheck::table_or_index(access::Action action, std::string_view table_name,
                                                const std::string* index) const {
  return resource(action, names_.table_or_index(table_name, index));
}

store::Answer<void> AccessCheck::keeps_own_access(const access::Policy& policy, const std::string& arn) const {
  if (caller_->is_owner) return {};
  access::PolicyList all = caller_->policies->policies();
  all.push_back(&policy);
  const access::AccessRequest request{access::action_named("PutResourcePolicy"), arn, begin_context()};
  if (access::decide(all, request, caller_->policies->principal()).allowed()) return {};
  return store::refuse_invalid(
      "The policy would keep you from changing it again. If you want that, set ConfirmRemoveSelfResourceAccess to "
      "true");
}

store::Answer<void> AccessCheck::nothing(access::Action action) const { return resource(action, "*"); }

store::Answer<void> AccessCheck::missing(access::Action action, std::string_view table_name,
                                         const std::string* index) const {
  const std::string arn = names_.table_or_index(table_name, index);
  if (caller_->is_owner || caller_->policies->could_allow(action, arn)) return {};
  return store::refuse(store::ErrorType::access_denied,
                       access::denial_text({}, action, arn, caller_->policies->principal()));
}

store::Answer<void> AccessCheck::add_partition_keys(const ItemAccess& access, access::Context& context) const {
  using enum ContextKey;
  if (!ask_for({leading_keys, first_partition_key_values, second_partition_key_values, third_partition_key_values,
                fourth_partition_key_values}))
    return {};
  auto added = wire::add_partition_keys(access, store_, context);
  // Whether a table is there is told to those who may use it.
  if (!added) TRY_VOID(missing(access.action, access.table, access.index));
  return added;
}

store::Answer<void> AccessCheck::items(const ItemAccess& access) const {
  access::AccessRequest request{access.action, names_.table_or_index(access.table, access.index), begin_context()};
  access::Context& context = request.context;
  TRY_VOID(add_partition_keys(access, context));
  if (ask_for({ContextKey::attributes})) TRY_VOID(add_attributes(access, context));
  add_word(context, ContextKey::select, access.select);
  add_word(context, ContextKey::return_values, access.return_values);
  add_word(context, ContextKey::return_consumed_capacity, access.consumed_capacity);
  if (!access.enclosing.empty()) context.add(ContextKey::enclosing_operation, std::string(access.enclosing));
  if (access.full_scan) context.add(ContextKey::full_table_scan, *access.full_scan ? "true" : "false");
  return decide(request);
}

}  // namespace postino::wire
