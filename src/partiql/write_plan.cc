#include "partiql/write_plan.h"

#include "base/check.h"
#include "partiql/condition_writer.h"
#include "partiql/errors.h"
#include "partiql/keyed_where.h"
#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

using store::refuse_invalid;
using Action = WritePlan::Action;

constexpr std::string_view incomplete_key = "Where clause does not contain a mandatory equality on all key attributes";

// Puts a plan together for one table.
class Planner {
 public:
  Planner(CheckedStatement checked, const Source& table, bool transaction)
      : checked_(std::move(checked)), table_(table), transaction_(transaction) {
    plan_.table_name = table.table_name;
  }

  store::Answer<WritePlan> run() {
    struct Visitor {
      Planner& planner;
      store::Answer<void> operator()(const Select&) const { return refuse_invalid(std::string(incomplete_key)); }
      store::Answer<void> operator()(const Insert& insert) const { return planner.plan(insert); }
      store::Answer<void> operator()(const Update& update) const { return planner.plan(update); }
      store::Answer<void> operator()(const Delete& remove) const { return planner.plan(remove); }
      store::Answer<void> operator()(const Exists& exists) const { return planner.plan(exists); }
    };
    TRY_VOID(std::visit(Visitor{*this}, checked_.tree->body));
    plan_.placeholders = std::move(checked_.substitutions).take();
    return std::move(plan_);
  }

 private:
  store::Answer<void> plan(const Insert& insert) {
    plan_.action = Action::insert;
    std::vector<item::Attribute> attributes;
    for (const Insert::Member& member : insert.members)
      attributes.push_back({member.name, *constant_of(member.value, *checked_.parameters)});
    plan_.subject = item::Item(std::move(attributes));
    if (transaction_) TRY_VOID(check_item_key());
    return require({item_exists(false)});
  }

  store::Answer<void> plan(const Update& update) {
    plan_.action = Action::update;
    plan_.update = checked_.update;
    if (update.returning) plan_.return_values = return_values(*update.returning);
    TRY(std::vector<ConditionText> conditions, take_key(update.where));
    conditions.insert(conditions.begin(), item_exists(true));
    return require(conditions);
  }

  // Deleting what is not there succeeds, whatever is asked of it.
  store::Answer<void> plan(const Delete& remove) {
    plan_.action = Action::remove;
    if (remove.returning) plan_.return_values = return_values(*remove.returning);
    TRY(const std::vector<ConditionText> conditions, take_key(remove.where));
    if (conditions.empty()) return {};
    TRY(ConditionText wanted, all_of(conditions));
    TRY(ConditionText condition, any_of({item_exists(false), std::move(wanted)}));
    plan_.condition = std::move(condition.text);
    return {};
  }

  store::Answer<void> plan(const Exists& exists) {
    plan_.action = Action::check;
    KeyedWhere where = split_where(exists.select.where, table_.key, *checked_.parameters);
    plan_.subject = std::move(where.key);
    TRY_VOID(check_key_types(plan_.subject, table_.key));
    TRY(std::vector<ConditionText> conditions, write(where.conditions));
    conditions.insert(conditions.begin(), item_exists(true));
    return require(conditions);
  }

  // The key goes into the plan, what else is asked for comes back.
  store::Answer<std::vector<ConditionText>> take_key(const std::optional<Expression>& clause) {
    KeyedWhere where = split_where(clause, table_.key, *checked_.parameters);
    if (where.conflicting_key)
      return refuse_invalid("Multiple conditions on same key " + *where.conflicting_key +
                            ". Only single item Update/Insert/Delete are supported");
    if (!is_complete(where.key, table_.key))
      return refuse_invalid(std::string(transaction_ ? key_mismatch : incomplete_key));
    plan_.subject = std::move(where.key);
    if (transaction_) TRY_VOID(check_key_types(plan_.subject, table_.key));
    return write(where.conditions);
  }

  store::Answer<std::vector<ConditionText>> write(const std::vector<const Expression*>& conditions) {
    std::vector<ConditionText> texts;
    ConditionWriter writer(*checked_.parameters, checked_.substitutions);
    for (const Expression* condition : conditions) {
      TRY(ConditionText text, writer.write(*condition));
      texts.push_back(std::move(text));
    }
    return texts;
  }

  ConditionText item_exists(bool exists) {
    const std::string key = checked_.substitutions.name(table_.key.hash.name);
    return {(exists ? "attribute_exists(" : "attribute_not_exists(") + key + ")"};
  }

  store::Answer<void> require(const std::vector<ConditionText>& conditions) {
    TRY(ConditionText condition, all_of(conditions));
    plan_.condition = std::move(condition.text);
    return {};
  }

  store::Answer<void> check_item_key() const {
    for (const KeyAttribute* attribute : table_.key.all()) {
      const item::AttributeValue* value = plan_.subject.find(attribute->name);
      if (value == nullptr) return store::refuse_parameter("Missing the key " + attribute->name + " in the item");
      if (value->type() != attribute->type)
        return store::refuse_parameter("Type mismatch for key " + attribute->name +
                                       " expected: " + std::string(item::type_name(attribute->type)) +
                                       " actual: " + std::string(item::type_name(value->type())));
    }
    return {};
  }

  static store::ReturnValues return_values(Returning returning) {
    if (returning.modified_only)
      return returning.new_image ? store::ReturnValues::updated_new : store::ReturnValues::updated_old;
    return returning.new_image ? store::ReturnValues::all_new : store::ReturnValues::all_old;
  }

  CheckedStatement checked_;
  const Source& table_;
  bool transaction_;
  WritePlan plan_;
};

template <class Request>
Request filled(WritePlan&& plan, bool return_item_on_failure) {
  Request request;
  request.table_name = std::move(plan.table_name);
  if constexpr (requires { request.item; })
    request.item = std::move(plan.subject);
  else
    request.key = std::move(plan.subject);
  if constexpr (requires { request.update; }) request.update = std::move(plan.update);
  request.condition = std::move(plan.condition);
  request.placeholders = std::move(plan.placeholders);
  request.return_item_on_failure = return_item_on_failure;
  return request;
}

template <class Request>
Request write_request(WritePlan plan, store::ReturnConsumedCapacity return_consumed_capacity,
                      bool return_item_on_failure) {
  const store::ReturnValues return_values = plan.return_values;
  Request request = filled<Request>(std::move(plan), return_item_on_failure);
  request.return_values = return_values;
  request.report.consumed_capacity = return_consumed_capacity;
  return request;
}

}  // namespace

store::Answer<WritePlan> plan_write(CheckedStatement checked, const Source& table) {
  return Planner(std::move(checked), table, false).run();
}

store::Answer<WritePlan> plan_transaction_write(CheckedStatement checked, const Source& table) {
  return Planner(std::move(checked), table, true).run();
}

store::Answer<void> check_transaction_write(const CheckedStatement& checked, const Source& table) {
  const auto& body = checked.tree->body;
  const auto* update = std::get_if<Update>(&body);
  const auto* remove = std::get_if<Delete>(&body);
  if ((update != nullptr && update->returning) || (remove != nullptr && remove->returning))
    return refuse_invalid("RETURNING clause is not supported in ExecuteTransaction.");
  const auto* exists = std::get_if<Exists>(&body);
  if (exists == nullptr) return {};
  if (exists->select.from.index) return refuse_invalid("Reads on indices are not supported within transactions.");
  const KeyedWhere where = split_where(exists->select.where, table.key, *checked.parameters);
  if (!is_complete(where.key, table.key) || where.conditions.empty())
    return refuse_invalid("EXISTS() must contain a single item read with additional condition");
  return {};
}

item::Key key_of(const WritePlan& plan, const Source& table) {
  if (!plan.inserts()) return plan.subject;
  item::Key key;
  for (const KeyAttribute* attribute : table.key.all())
    if (const item::AttributeValue* value = plan.subject.find(attribute->name)) key.set(attribute->name, *value);
  return key;
}

store::TransactAction transact_action(WritePlan plan, bool return_item_on_failure) {
  switch (plan.action) {
    case Action::insert:
      return filled<store::TransactPut>(std::move(plan), return_item_on_failure);
    case Action::update:
      return filled<store::TransactUpdate>(std::move(plan), return_item_on_failure);
    case Action::remove:
      return filled<store::TransactDelete>(std::move(plan), return_item_on_failure);
    case Action::check:
      break;
  }
  return filled<store::TransactConditionCheck>(std::move(plan), return_item_on_failure);
}

void run_write(store::Store& store, WritePlan plan, store::ReturnConsumedCapacity return_consumed_capacity,
               bool return_item_on_failure, store::Completion<store::WriteItemResponse> done) {
  const auto answer = [done = std::move(done),
                       inserts = plan.inserts()](store::Answer<store::WriteItemResponse> given) {
    if (given)
      done(std::move(given));
    else
      done(base::propagate(write_error(std::move(given).error(), inserts)));
  };
  switch (plan.action) {
    case Action::insert:
      return store.put_item(write_request<store::PutItemRequest>(std::move(plan), return_consumed_capacity, false),
                            answer);
    case Action::update:
      return store.update_item(
          write_request<store::UpdateItemRequest>(std::move(plan), return_consumed_capacity, return_item_on_failure),
          answer);
    case Action::remove:
      return store.delete_item(
          write_request<store::DeleteItemRequest>(std::move(plan), return_consumed_capacity, return_item_on_failure),
          answer);
    case Action::check:
      break;
  }
  CHECK(false);
}

}  // namespace postino::partiql
