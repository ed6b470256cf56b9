// What PartiQL statements do, as policies know it: actions of their own, on what their plans read and write.
#include "partiql/statement_gate.h"
#include "wire/operations/statement_operations.h"

namespace postino::wire {

namespace {

constexpr access::Action statement_select = access::action_named("PartiQLSelect");
constexpr access::Action statement_insert = access::action_named("PartiQLInsert");
constexpr access::Action statement_update = access::action_named("PartiQLUpdate");
constexpr access::Action statement_delete = access::action_named("PartiQLDelete");

struct StatementActions {
  access::Action operator()(const partiql::Select&) const { return statement_select; }
  access::Action operator()(const partiql::Insert&) const { return statement_insert; }
  access::Action operator()(const partiql::Update&) const { return statement_update; }
  access::Action operator()(const partiql::Delete&) const { return statement_delete; }
  access::Action operator()(const partiql::Exists&) const { return statement_select; }
};

access::Action action_of(const partiql::WritePlan& plan) {
  using enum partiql::WritePlan::Action;
  switch (plan.action) {
    case insert:
      return statement_insert;
    case update:
      return statement_update;
    case remove:
      return statement_delete;
    case check:
      break;
  }
  return statement_select;
}

const std::string* pointer_to(const std::optional<std::string>& text) { return text ? &*text : nullptr; }

class Gate : public partiql::StatementGate {
 public:
  Gate(AccessCheck check, std::string_view enclosing, store::ReturnConsumedCapacity capacity)
      : check_(std::move(check)), enclosing_(enclosing), capacity_(capacity) {}

  store::Answer<void> check_read(const partiql::ReadPlan& plan) const override {
    ItemAccess access = begin(statement_select, plan.source.table_name);
    access.index = pointer_to(plan.source.index_name);
    for (const partiql::KeyRange& range : plan.ranges) access.partitions.push_back(&range.partition);
    for (const partiql::KeyAttribute* attribute : plan.source.key.all()) access.attributes.push_back(attribute->name);
    for (const std::string& name : plan.fetched) access.attributes.push_back(name);
    if (plan.filter)
      for (const std::string_view name : plan.filter->attributes()) access.attributes.push_back(name);
    access.select = selected(plan.columns.has_value(), access.index != nullptr);
    access.full_scan = plan.scan;
    return check_.items(access);
  }

  store::Answer<void> check_write(const partiql::WritePlan& plan, const partiql::Source& table,
                                  bool return_item_on_failure) const override {
    ItemAccess access = begin(action_of(plan), plan.table_name);
    if (const item::AttributeValue* partition = plan.subject.find(table.key.hash.name))
      access.partitions.push_back(partition);
    for (const item::Attribute& attribute : plan.subject) access.attributes.push_back(attribute.name);
    access.update = &plan.update;
    access.condition = &plan.condition;
    access.placeholders = &plan.placeholders;
    const bool shows_item = return_item_on_failure && !plan.inserts();  // an insert that fails shows none
    access.return_values = returned(plan.return_values, shows_item);
    if (plan.action == partiql::WritePlan::Action::check) access.full_scan = false;
    return check_.items(access);
  }

  store::Answer<void> check_missing(const partiql::StatementTree& statement) const override {
    const partiql::TableReference& table = partiql::table_of(statement);
    return check_.missing(std::visit(StatementActions(), statement.body), partiql::table_name_of(table),
                          pointer_to(table.index));
  }

 private:
  ItemAccess begin(access::Action action, const std::string& table) const {
    ItemAccess access{.action = action, .table = table, .enclosing = enclosing_};
    access.consumed_capacity = capacity_;
    return access;
  }

  AccessCheck check_;
  std::string_view enclosing_;
  store::ReturnConsumedCapacity capacity_;
};

template <class Request>
void set_gate(const AccessCheck& check, std::string_view enclosing, Request& request) {
  request.gate = std::make_shared<const Gate>(check, enclosing, request.return_consumed_capacity);
}

}  // namespace

store::Answer<void> ExecuteStatement::authorize(const AccessCheck& check, Request& request) {
  set_gate(check, "", request);
  return {};
}

store::Answer<void> BatchExecuteStatement::authorize(const AccessCheck& check, Request& request) {
  set_gate(check, name, request);
  return {};
}

store::Answer<void> ExecuteTransaction::authorize(const AccessCheck& check, Request& request) {
  set_gate(check, name, request);
  return {};
}

}  // namespace postino::wire
