// What parsing a statement yields. Trees are immutable once parsed, and threads share them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "item/value.h"
#include "partiql/syntax/lexer.h"

namespace postino::partiql {

// A step of a document path: a name, or a place in a list.
struct PathStep {
  std::string name;
  std::optional<std::uint32_t> index;
  friend bool operator==(const PathStep&, const PathStep&) = default;
};
using Path = std::vector<PathStep>;  // never empty; the first step is a name

enum class ExpressionKind : std::uint8_t {
  literal,    // value
  parameter,  // number: its place among the parameters, from zero
  path,
  function,  // name, in lower case; operands
  missing,   // the literal MISSING
  // Operands are what they join, in source order.
  logical_and,
  logical_or,
  logical_not,
  comparison,  // operation
  between,     // the value, the lower bound, the upper bound
  in,          // the value, then the candidates
  is,          // name: a type in upper case, NULL or MISSING
  arithmetic,  // operation; one operand when it is a sign
  // Only while parsing: what folding turns into literals, or refuses.
  number,  // name: its text
  list,
  structure,  // operands are names (literals) and values by turns
  bag,
  data_manipulation,  // FROM ... SET ..., where it can do nothing
};

enum class Operation : std::uint8_t {
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  plus,
  minus,
  times,
  divide,
  modulo,
  concatenate,
  like,
};
std::string_view symbol_of(Operation operation);

struct Expression {
  ExpressionKind kind = ExpressionKind::literal;
  Operation operation = Operation::equal;
  std::uint16_t depth = 1;  // levels of expressions, itself included
  Position position;        // of its first token
  std::size_t number = 0;
  std::string name;
  Path path;
  item::AttributeValue value;
  std::vector<Expression> operands;
};

struct TableReference {
  std::string table;
  std::optional<std::string> index;
  Position position;
};

struct Column {
  Path path;
  std::string name;  // what the column is called in the answer
};

struct SortTerm {
  Path path;
  bool descending = false;
};

struct Select {
  TableReference from;
  std::optional<std::vector<Column>> columns;  // all when absent
  std::optional<Expression> where;
  std::vector<SortTerm> order;
  // What is wrong with the columns. DynamoDB looks at the index before it says so.
  std::optional<std::string> column_fault;
};

struct Insert {
  struct Member {
    std::string name;
    Expression value;  // a literal or a parameter
  };
  TableReference into;
  std::vector<Member> members;
};

struct Returning {
  bool modified_only = false;
  bool new_image = false;
};
std::string to_string(Returning returning);  // "RETURNING ALL OLD *"

struct UpdateAction {
  Path target;
  std::optional<Expression> value;  // REMOVE has none
};

struct Update {
  TableReference table;
  std::vector<UpdateAction> actions;
  std::optional<Expression> where;
  std::optional<Returning> returning;
};

struct Delete {
  TableReference from;
  std::optional<Expression> where;
  std::optional<Returning> returning;
};

struct Exists {
  Select select;
};

struct StatementTree {
  std::variant<Select, Insert, Update, Delete, Exists> body;
  std::size_t parameter_count = 0;

  bool reads() const { return std::holds_alternative<Select>(body); }
};
using ParsedStatement = std::shared_ptr<const StatementTree>;

const TableReference& table_of(const StatementTree& statement);

}  // namespace postino::partiql
