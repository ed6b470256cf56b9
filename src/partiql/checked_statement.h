// A statement and its parameters, after every check that needs no table.
#pragma once

#include <optional>
#include <string>

#include "partiql/filter.h"
#include "partiql/requests.h"
#include "partiql/substitutions.h"
#include "partiql/syntax/syntax_tree.h"
#include "store/error.h"

namespace postino::partiql {

struct CheckedStatement {
  ParsedStatement tree;
  const Parameters* parameters = nullptr;  // the request's
  std::optional<Filter> filter;            // a SELECT's WHERE clause
  std::string update;                      // an UPDATE's expression,
  Substitutions substitutions;             // and what it refers to
};

// What is wrong with the parameters themselves: DynamoDB reports it before it reads the statement.
store::Answer<void> check_parameters(const Statement& statement);

store::Answer<ParsedStatement> parse(const Statement& statement);

// EXISTS is for transactions.
store::Answer<void> check_not_exists(const StatementTree& tree);

// Whether the statement makes sense with its parameters. `statement` must outlive the result.
store::Answer<CheckedStatement> check_statement(const Statement& statement, ParsedStatement tree);

}  // namespace postino::partiql
