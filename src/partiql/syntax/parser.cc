#include "partiql/syntax/parser.h"

#include "base/text.h"
#include "partiql/syntax/columns.h"
#include "partiql/syntax/literal.h"
#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

constexpr std::string_view no_table = "Expected identifier for simple path";
constexpr std::string_view no_data_manipulation = "Expected data manipulation";

// What DynamoDB calls an expression that stands where a statement should.
std::string_view operation_name(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::parameter:
      return "Parameter";
    case ExpressionKind::path:
      return expression.path.size() == 1 ? "Id" : "Path";
    case ExpressionKind::function:
      return "Call";
    case ExpressionKind::missing:
      return "Missing";
    case ExpressionKind::logical_and:
      return "And";
    case ExpressionKind::logical_or:
      return "Or";
    case ExpressionKind::logical_not:
      return "Not";
    case ExpressionKind::between:
      return "Between";
    case ExpressionKind::in:
      return "InCollection";
    case ExpressionKind::is:
      return "IsType";
    case ExpressionKind::list:
      return "List";
    case ExpressionKind::structure:
      return "Struct";
    case ExpressionKind::bag:
      return "Bag";
    case ExpressionKind::comparison:
    case ExpressionKind::arithmetic:
      return symbol_of(expression.operation);
    default:
      return "Lit";
  }
}

base::Result<void> fold_actions(std::vector<UpdateAction>& actions) {
  for (UpdateAction& action : actions)
    if (action.value) TRY_VOID(fold_literals(*action.value));
  return {};
}

// Literals become values. What is wrong with them is reported after everything else.
base::Result<void> fold_statement(StatementTree& statement) {
  struct Visitor {
    base::Result<void> operator()(Select& select) const {
      if (select.where) return fold_literals(*select.where);
      return {};
    }
    base::Result<void> operator()(Insert& insert) const {
      for (Insert::Member& member : insert.members) TRY_VOID(fold_item_member(member.value));
      return {};
    }
    base::Result<void> operator()(Update& update) const {
      TRY_VOID(fold_actions(update.actions));
      if (update.where) return fold_literals(*update.where);
      return {};
    }
    base::Result<void> operator()(Delete& remove) const {
      if (remove.where) return fold_literals(*remove.where);
      return {};
    }
    base::Result<void> operator()(Exists& exists) const { return (*this)(exists.select); }
  };
  return std::visit(Visitor{}, statement.body);
}

}  // namespace

base::Result<StatementTree> Parser::parse() {
  StatementTree statement;
  TRY_VOID(parse_body(statement));
  accept(TokenKind::semicolon);
  if (next() != TokenKind::end) return not_well_formed("Unexpected token after expression");
  if (!fault_.empty()) return base::invalid(fault_);
  statement.parameter_count = parameters_;
  TRY_VOID(fold_statement(statement));
  return statement;
}

base::Result<void> Parser::parse_body(StatementTree& statement) {
  switch (next()) {
    case TokenKind::keyword_select: {
      TRY(statement.body, parse_select());
      return {};
    }
    case TokenKind::keyword_insert: {
      TRY(statement.body, parse_insert());
      return {};
    }
    case TokenKind::keyword_update: {
      TRY(statement.body, parse_update());
      return {};
    }
    case TokenKind::keyword_from: {
      TRY(statement.body, parse_update_from());
      return {};
    }
    case TokenKind::keyword_delete: {
      TRY(statement.body, parse_delete());
      return {};
    }
    default:
      break;
  }
  if (at_exists()) {
    TRY(statement.body, parse_exists());
    return {};
  }
  TRY(const Expression expression, parse_expression());
  note_fault("Unsupported operation: " + std::string(operation_name(expression)));
  return {};
}

base::Result<Select> Parser::parse_select() {
  Select select;
  take();
  TRY_VOID(parse_columns(select));
  TRY_VOID(expect(TokenKind::keyword_from, "Expected FROM after SELECT list"));
  TRY(select.from, parse_source());
  TRY_VOID(skip_alias());
  if (next() == TokenKind::comma) note_fault("Only select from a single table or index is supported.");
  TRY(select.where, parse_where());
  if (accept(TokenKind::keyword_order)) TRY_VOID(parse_order(select));
  if (accept(TokenKind::keyword_limit)) {
    TRY(const Expression limit, parse_expression());
    note_fault(located("Unsupported clause: LIMIT", limit.position));
  }
  return select;
}

base::Result<void> Parser::parse_columns(Select& select) {
  bool all = false;
  do {
    if (accept(TokenKind::star)) {
      all = true;
      continue;
    }
    TRY(const Expression expression, parse_expression());
    add_column(select, expression);
    TRY_VOID(skip_alias());
  } while (accept(TokenKind::comma));
  if (all && (select.columns || select.column_fault))
    select.column_fault = "Other attributes should not be present in the projection when '*' is used.";
  if (all || !select.columns) return {};
  if (const auto repeated = repeated_column(*select.columns); repeated && !select.column_fault)
    select.column_fault = "Duplicate identifiers in select clause: " + *repeated;
  return {};
}

void Parser::add_column(Select& select, const Expression& expression) {
  if (expression.kind == ExpressionKind::path) {
    if (!select.columns) select.columns.emplace();
    select.columns->push_back({expression.path, column_name(expression.path)});
  } else if (!select.column_fault) {
    select.column_fault = located("Unexpected path component", expression.position);
  }
}

base::Result<void> Parser::parse_order(Select& select) {
  TRY_VOID(expect(TokenKind::keyword_by, "Expected BY after ORDER"));
  do {
    SortTerm term;
    TRY(Expression key, parse_expression());
    if (key.kind == ExpressionKind::path)
      term.path = std::move(key.path);
    else
      note_fault(located("Unexpected path component", key.position));
    if (!accept(TokenKind::keyword_asc)) term.descending = accept(TokenKind::keyword_desc);
    select.order.push_back(std::move(term));
  } while (accept(TokenKind::comma));
  return {};
}

base::Result<Insert> Parser::parse_insert() {
  take();
  TRY_VOID(expect(TokenKind::keyword_into, "Unexpected keyword"));
  TRY(TableReference into, parse_table());
  if (into.index)
    note_fault(
        located("FROM clause may only contain a single table name in data manipulation statements", into.position));
  const bool single = accept_word("value");
  TRY(Expression item, parse_expression());
  if (!single)
    note_fault(
        "Unsupported operation: Inserting multiple items in a single statement is not supported, use \"INSERT INTO "
        "tableName VALUE item\" instead");
  TRY(const auto returning, parse_returning());
  if (returning) note_fault("RETURNING is not supported in INSERT");
  return take_members(std::move(into), std::move(item));
}

Insert Parser::take_members(TableReference into, Expression item) {
  Insert insert{.into = std::move(into), .members = {}};
  if (item.kind != ExpressionKind::structure) {
    note_fault(
        "Unsupported format in item expression. Please use struct format {...} to express item values for insert "
        "statement.");
    return insert;
  }
  for (std::size_t i = 0; i < item.operands.size(); i += 2)
    insert.members.push_back({item.operands[i].name, std::move(item.operands[i + 1])});
  if (const auto repeated = repeated_name(item))
    note_fault("Duplicate keys in tuple. Key: " + *repeated + " under root");
  return insert;
}

base::Result<Update> Parser::parse_update() {
  Update update;
  take();
  TRY(update.table, parse_table());
  TRY_VOID(skip_alias());
  TRY_VOID(parse_actions(update));
  TRY(update.where, parse_where());
  TRY(update.returning, parse_returning());
  return update;
}

// The other order: FROM table WHERE condition SET ...
base::Result<Update> Parser::parse_update_from() {
  Update update;
  take();
  TRY(update.table, parse_source());
  TRY_VOID(skip_alias());
  TRY(update.where, parse_where());
  TRY_VOID(parse_actions(update));
  TRY(update.returning, parse_returning());
  return update;
}

base::Result<void> Parser::parse_actions(Update& update) {
  while (next() == TokenKind::keyword_set || next() == TokenKind::keyword_remove) {
    const bool removes = take().kind == TokenKind::keyword_remove;
    do {
      UpdateAction action;
      TRY(action.target, parse_target());
      if (!removes) {
        TRY_VOID(expect(TokenKind::equal, "Expected '=' after assignment target"));
        TRY(action.value, parse_expression());
      }
      update.actions.push_back(std::move(action));
    } while (!removes && accept(TokenKind::comma));
  }
  if (update.actions.empty()) return not_well_formed(no_data_manipulation);
  return {};
}

base::Result<Path> Parser::parse_target() {
  if (!at_name()) return not_well_formed(no_table);
  return parse_path();
}

base::Result<Delete> Parser::parse_delete() {
  Delete remove;
  take();
  TRY_VOID(expect(TokenKind::keyword_from, "Expected FROM after DELETE"));
  TRY(remove.from, parse_table());
  TRY_VOID(skip_alias());
  TRY(remove.where, parse_where());
  TRY(remove.returning, parse_returning());
  return remove;
}

bool Parser::at_exists() const {
  return at_word("exists") && after_next() == TokenKind::open_paren &&
         tokens_[position_ + 2].kind == TokenKind::keyword_select;
}

base::Result<Exists> Parser::parse_exists() {
  take();
  take();
  Exists exists;
  TRY(exists.select, parse_select());
  TRY_VOID(expect(TokenKind::close_paren, "Expected RIGHT_PAREN"));
  return exists;
}

base::Result<std::optional<Expression>> Parser::parse_where() {
  if (!accept(TokenKind::keyword_where)) return std::nullopt;
  TRY(Expression condition, parse_expression());
  return std::optional<Expression>(std::move(condition));
}

base::Result<std::optional<Returning>> Parser::parse_returning() {
  if (!accept(TokenKind::keyword_returning)) return std::nullopt;
  constexpr std::string_view expected = "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.";
  Returning returning;
  returning.modified_only = accept_word("modified");
  if (!returning.modified_only && !accept_word("all")) return not_well_formed(expected);
  returning.new_image = accept_word("new");
  if (!returning.new_image && !accept_word("old")) return not_well_formed(expected);
  TRY_VOID(expect(TokenKind::star, expected));
  return std::optional<Returning>(returning);
}

// What is read from may be any expression, as far as its form goes.
base::Result<TableReference> Parser::parse_source() {
  TRY(const Expression source, parse_expression());
  if (source.kind == ExpressionKind::path) return reference_from(source.path, source.position);
  note_fault(located("Unexpected from source", source.position));
  return TableReference{.table = {}, .index = {}, .position = source.position};
}

base::Result<TableReference> Parser::parse_table() {
  if (!at_name()) return not_well_formed(no_table);
  const Position position = token().position;
  TRY(const Path path, parse_path());
  return reference_from(path, position);
}

TableReference Parser::reference_from(const Path& path, Position position) {
  TableReference reference{.table = path.front().name, .index = {}, .position = position};
  for (const PathStep& step : path) {
    if (step.index) note_fault(located("Unexpected from source", position));
    if (step.name.empty()) note_fault("Path component cannot be an empty string");
  }
  if (path.size() > 2) note_fault("A path may contain at most 2 components in the FROM clause");
  if (path.size() > 1) reference.index = path[1].name;
  return reference;
}

base::Result<void> Parser::skip_alias() {
  const bool named = accept(TokenKind::keyword_as);
  if (!named && !at_name()) return {};
  if (!at_name()) return not_well_formed("Expected identifier for alias");
  take();
  note_fault("Aliasing is not supported");
  return {};
}

bool Parser::at_word(std::string_view word) const {
  return next() == TokenKind::identifier && base::equal_ignoring_case(token().text, word);
}

bool Parser::accept(TokenKind kind) {
  if (next() != kind) return false;
  take();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  take();
  return true;
}

base::Result<void> Parser::expect(TokenKind kind, std::string_view message) {
  if (!accept(kind)) return not_well_formed(message);
  return {};
}

void Parser::note_fault(std::string message) {
  if (fault_.empty()) fault_ = std::move(message);
}

}  // namespace postino::partiql
