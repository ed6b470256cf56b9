// A statement, a line end, and bytes that become its parameters and an item of a table whose key is a and b.
#include <algorithm>

#include "base/check.h"
#include "expr/expression.h"
#include "partiql/checked_statement.h"
#include "partiql/key_branches.h"
#include "partiql/syntax/parse.h"
#include "targets.h"
#include "value_source.h"

namespace postino::fuzz {

namespace {

using namespace postino::partiql;  // NOLINT(google-build-using-namespace): everything here is about it

constexpr int statement_depth = 3;

// What a translation must never say: its author did not write the expression.
void check_error_text(const std::string& message) {
  CHECK(!message.empty());
  for (const std::string_view word : {"Syntax error;", "redundant parentheses", "reserved keyword", "is not defined",
                                      "unused in expressions", "The expression can not be empty"})
    CHECK(message.find(word) == std::string::npos);
}

bool holds(const KeyBranch& branch, const item::Item& item) {
  return !branch.impossible && *branch.partition == *item.find("a") &&
         branch.range.overlaps(Interval::at(*item.find("b")));
}

// The ranges that are read hold every item that the statement wants, each once; and where they say it all, no other.
void check_ranges(const Select& select, const Filter& filter, const Parameters& parameters, const item::Item& item) {
  const KeyAttributes key = {{"a", item::Type::string}, KeyAttribute{"b", item::Type::string}};
  const KeyBranches decomposition(key, parameters, false);
  if (!decomposition.name_partition(*select.where)) return;
  const auto branches = decomposition.of(*select.where);
  if (!branches) return check_error_text(branches.error().message);
  CHECK(!branches->empty() && branches->size() <= max_decomposed_reads);
  const bool read = std::ranges::any_of(*branches, [&](const KeyBranch& branch) { return holds(branch, item); });
  CHECK(read || !filter.matches(item));
  for (const KeyBranch& branch : *branches)
    if (!branch.filtered && branch.range.exact() && holds(branch, item)) CHECK(filter.matches(item));
}

void check_update(const CheckedStatement& checked, const item::Item& item) {
  const auto update = expr::parse_update(checked.update);
  CHECK(update);
  const auto bound = expr::Binder(checked.substitutions.placeholders()).bind(*update);
  CHECK(bound);
  const auto after = bound->apply(item);
  if (!after) check_error_text(after.error().message);
}

}  // namespace

void fuzz_partiql(std::string_view input) {
  ValueSource source(input);
  const std::string_view text = source.line();
  const auto parsed = parse_statement(text);
  const auto cached = cached_statement(text);
  CHECK(parsed.has_value() == cached.has_value());
  if (!parsed) {
    CHECK(parsed.error() == cached.error());
    return check_error_text(parsed.error().message);
  }
  partiql::Statement statement;
  statement.text = text;
  for (std::size_t i = 0; i < (*parsed)->parameter_count; ++i)
    statement.parameters.push_back(source.value(statement_depth));
  item::Item item = source.map(statement_depth);
  item.set("a", source.text());
  item.set("b", source.text());

  const auto checked = check_statement(statement, *parsed);
  if (!checked) return check_error_text(checked.error().message);
  const auto& body = (*parsed)->body;
  if (const auto* select = std::get_if<Select>(&body); select != nullptr && select->where)
    check_ranges(*select, *checked->filter, statement.parameters, item);
  if (std::holds_alternative<Update>(body)) check_update(*checked, item);
}

}  // namespace postino::fuzz
