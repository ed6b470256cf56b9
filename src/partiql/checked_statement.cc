#include "partiql/checked_statement.h"

#include "item/size.h"
#include "partiql/errors.h"
#include "partiql/syntax/parse.h"
#include "partiql/update_writer.h"

namespace postino::partiql {

namespace {

using store::refuse_invalid;

// Errors of the expression language lose the name of a parameter that the author of the statement did not give.
template <class T>
store::Answer<T> plainly(base::Result<T> result) {
  if (!result) return base::propagate(reworded(store::Error(std::move(result).error())));
  return *std::move(result);
}

store::Answer<void> check_condition(const std::optional<Expression>& where, const Parameters& parameters) {
  if (where) TRY_VOID(plainly(Filter::make(*where, parameters)));
  return {};
}

store::Answer<void> check_no_index(const TableReference& table) {
  if (table.index) return refuse_invalid("This operation is not supported on an index");
  return {};
}

base::Result<void> bind_update(const std::string& text, const expr::Placeholders& placeholders) {
  TRY(const expr::Update update, expr::cached_update(text));
  TRY_VOID(expr::Binder(placeholders).bind(update));
  return {};
}

store::Answer<void> check_update(const Update& update, CheckedStatement& checked) {
  TRY_VOID(check_no_index(update.table));
  TRY(checked.update, plainly(write_update(update.actions, *checked.parameters, checked.substitutions)));
  TRY_VOID(checked.substitutions.check_names());
  if (auto bound = bind_update(checked.update, checked.substitutions.placeholders()); !bound)
    return base::propagate(reworded(store::Error(std::move(bound).error())));
  return check_condition(update.where, *checked.parameters);
}

store::Answer<void> check_delete(const Delete& remove, const CheckedStatement& checked) {
  TRY_VOID(check_no_index(remove.from));
  if (remove.returning && (remove.returning->modified_only || remove.returning->new_image))
    return refuse_invalid("Invalid returning clause: " + to_string(*remove.returning) +
                          ". Only RETURNING ALL OLD * is allowed in DELETE statements.");
  return check_condition(remove.where, *checked.parameters);
}

store::Answer<void> check_body(CheckedStatement& checked) {
  const auto& body = checked.tree->body;
  if (const auto* select = std::get_if<Select>(&body); select != nullptr && select->where) {
    TRY(checked.filter, plainly(Filter::make(*select->where, *checked.parameters)));
  }
  if (const auto* exists = std::get_if<Exists>(&body))
    TRY_VOID(check_condition(exists->select.where, *checked.parameters));
  if (const auto* update = std::get_if<Update>(&body)) TRY_VOID(check_update(*update, checked));
  if (const auto* remove = std::get_if<Delete>(&body)) TRY_VOID(check_delete(*remove, checked));
  return {};
}

}  // namespace

store::Answer<void> check_parameters(const Statement& statement) {
  if (statement.parameter_fault) return refuse_invalid(*statement.parameter_fault);
  for (const item::AttributeValue& parameter : statement.parameters) TRY_VOID(item::check_nesting(parameter));
  return {};
}

store::Answer<ParsedStatement> parse(const Statement& statement) {
  TRY(ParsedStatement tree, cached_statement(statement.text));
  return tree;
}

store::Answer<void> check_not_exists(const StatementTree& tree) {
  if (!std::holds_alternative<Exists>(tree.body)) return {};
  return refuse_invalid("EXISTS can only be used in ExecuteTransaction write requests.");
}

store::Answer<CheckedStatement> check_statement(const Statement& statement, ParsedStatement tree) {
  CheckedStatement checked;
  checked.tree = std::move(tree);
  checked.parameters = &statement.parameters;
  // More parameters than the statement has are ignored.
  if (checked.tree->parameter_count > statement.parameters.size())
    return refuse_invalid("Number of parameters in request and statement don't match.");
  TRY_VOID(check_body(checked));
  return checked;
}

}  // namespace postino::partiql
