// Requests in the form that the model understands: expressions are trees instead of text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expression_tree.h"
#include "store/transaction.h"

namespace postino::model {

struct WriteOperation {
  enum class Kind { put, update, remove, check };
  Kind kind = Kind::put;
  std::string table;
  item::Map subject;  // the item of a put, the key of everything else
  std::optional<Condition> condition;
  std::optional<Update> update;
  store::ReturnValues return_values = store::ReturnValues::none;
  bool return_item_on_failure = false;
};

struct GetOperation {
  std::string table;
  item::Key key;
  std::optional<Projection> projection;
};

struct TransactionOperation {
  std::vector<WriteOperation> writes;
  std::optional<std::string> token;
  std::string request_text;  // of the whole request as sent: what makes another one the same
};

enum class KeyOperator { equal, less, less_equal, greater, greater_equal, between, begins_with };

// Equality for attributes from the first on, then at most one other comparison.
struct KeyCondition {
  KeyValues hash;
  KeyValues equal_ranges;
  std::optional<KeyOperator> last;
  KeyValues last_operands;  // two for between
};

struct PageOperation {
  std::string table;
  std::optional<std::string> index;
  std::optional<KeyCondition> key;  // a query has one, a scan has none
  std::optional<Condition> filter;
  std::optional<Projection> projection;
  std::optional<store::Select> select;
  std::optional<int> limit;
  std::optional<item::Key> start;
  bool forward = true;
  bool consistent = false;
};

}  // namespace postino::model
