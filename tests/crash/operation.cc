#include "operation.h"

#include <sstream>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace postino::crash {

std::string to_line(const Operation& operation) {
  std::ostringstream out;
  out << operation.id << ' ' << static_cast<int>(operation.type) << ' ' << operation.token << ' ' << operation.expires
      << ' ' << operation.actions.size();
  for (const Action& action : operation.actions)
    out << ' ' << static_cast<int>(action.table) << ' ' << action.slot << ' ' << static_cast<int>(action.type) << ' '
        << action.seen << ' ' << action.conditional;
  return out.str();
}

std::optional<Operation> parse_line(const std::string& line) {
  std::istringstream in(line);
  Operation operation;
  int type = 0;
  std::size_t count = 0;
  in >> operation.id >> type >> operation.token >> operation.expires >> count;
  operation.type = static_cast<OperationType>(type);
  for (std::size_t i = 0; i < count && in; ++i) {
    Action action;
    int table = 0;
    in >> table >> action.slot >> type >> action.seen >> action.conditional;
    action.table = static_cast<TableNumber>(table);
    action.type = static_cast<ActionType>(type);
    operation.actions.push_back(action);
  }
  if (!in) return std::nullopt;
  return operation;
}

item::Key key_of(TableNumber table, int slot) {
  switch (table) {
    case TableNumber::orders:
      return {{"customer", "customer-" + std::to_string(slot % 13)}, {"number", slot}};
    case TableNumber::ledger:
      return {{"number", slot}};
    case TableNumber::notes:
      break;
  }
  std::string bytes;
  base::append_big_endian(bytes, static_cast<std::uint32_t>(slot));
  return {{"page", item::Binary{std::move(bytes)}}};
}

int slot_of(TableNumber table, const item::Item& item) {
  if (table == TableNumber::notes)
    return static_cast<int>(base::load_big_endian<std::uint32_t>(item.find("page")->as<item::Binary>().bytes.data()));
  return static_cast<int>(item.find("number")->as<item::Number>().to_int64().value());
}

OperationId operation_of(const item::Item& item) {
  return item.find("operation")->as<item::Number>().to_int64().value();
}

// Everything follows from the operation and the key, so both sides agree without telling each other. Some items lack
// what an index wants, and some are large.
item::Item item_of(const Operation& operation, const Action& action) {
  const std::uint64_t dice = base::fast_hash(std::to_string(operation.id) + "/" + std::to_string(action.slot));
  item::Item item = key_of(action.table, action.slot);
  item.set("operation", operation.id);
  item.set("payload", std::string(dice % 50 == 0 ? 6'000 : dice % 180, static_cast<char>('a' + dice % 26)));
  static constexpr const char* states[] = {"open", "paid", "shipped"};
  if (dice / 64 % 4 != 0) item.set("state", states[dice / 256 % 3]);
  if (dice / 1'024 % 4 != 0) item.set("total", static_cast<std::int64_t>(dice / 4'096 % 100));
  if (dice / 65'536 % 4 != 0) item.set("tag", "tag-" + std::to_string(dice / 262'144 % 5));
  if (operation.expires != 0 && action.table == TableNumber::orders) item.set("expires", operation.expires);
  return item;
}

}  // namespace postino::crash
