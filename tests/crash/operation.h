// What the writer does, as both sides of the crash test know it: a line on the pipe, requests to the store, and the
// items they must leave behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace postino::crash {

using OperationId = std::int64_t;

// The writes in `notes` are checked without the help of its stream, which comes and goes.
enum class TableNumber : int { orders, ledger, notes };
inline constexpr TableNumber all_tables[] = {TableNumber::orders, TableNumber::ledger, TableNumber::notes};
std::string table_name(TableNumber table);
void create_tables(store::Store& store);

enum class ActionType : int { put, update, remove, check };

// Conditions on what the item is before: anything, nothing, or what this operation wrote.
inline constexpr OperationId anything = -1;
inline constexpr OperationId nothing = 0;

struct Action {
  TableNumber table = TableNumber::orders;
  int slot = 0;  // stands for a key
  ActionType type = ActionType::put;
  OperationId seen = nothing;  // what the writer saw there before
  bool conditional = false;    // on still finding that
};

enum class OperationType : int {
  single,
  batch,
  transaction,
  create_index,
  remove_index,
  enable_stream,
  disable_stream
};

struct Operation {
  OperationId id = 0;
  OperationType type = OperationType::single;
  bool token = false;        // transactions only
  std::int64_t expires = 0;  // epoch second that items get as their time to live; 0: none
  std::vector<Action> actions;

  bool is_control() const { return type >= OperationType::create_index; }
};

std::string to_line(const Operation& operation);
std::optional<Operation> parse_line(const std::string& line);

item::Key key_of(TableNumber table, int slot);
int slot_of(TableNumber table, const item::Item& item);
OperationId operation_of(const item::Item& item);

// What a put or an update leaves, apart from the version that updates count up.
item::Item item_of(const Operation& operation, const Action& action);

// Refused: the store said no, so nothing may have changed. Failed: it had trouble, which it must not have.
enum class Outcome { acknowledged, refused, failed };
struct Result {
  Outcome outcome = Outcome::acknowledged;
  std::string message;
};
Result perform(store::Store& store, const Operation& operation);

}  // namespace postino::crash
