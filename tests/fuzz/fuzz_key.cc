// A byte for the type, then two scalars of this type; and the same bytes as a damaged key.
#include <compare>
#include <string>

#include "base/check.h"
#include "engine/catalog/item_keys.h"
#include "engine/storage/keys.h"
#include "item/ordered_key.h"
#include "item/ordered_key_reader.h"
#include "targets.h"
#include "value_source.h"

namespace postino::fuzz {

namespace {

using item::AttributeValue;

AttributeValue scalar(ValueSource& source, item::Type type) {
  if (type == item::Type::number) return source.number();
  if (type == item::Type::binary) return item::Binary{source.text()};
  return source.text();
}

std::strong_ordering order(const AttributeValue& a, const AttributeValue& b) {
  if (const auto* number = a.get_if<item::Number>()) return *number <=> b.as<item::Number>();
  if (const auto* binary = a.get_if<item::Binary>()) return *binary <=> b.as<item::Binary>();
  return a.as<std::string>() <=> b.as<std::string>();
}

std::string ordered(const AttributeValue& value) {
  std::string key;
  item::append_ordered(key, value);
  return key;
}

std::string ordered_last(const AttributeValue& value) {
  std::string key;
  item::append_ordered_last(key, value);
  return key;
}

void check_ordered(const AttributeValue& a, const AttributeValue& b) {
  const std::string key_a = ordered(a);
  const std::string key_b = ordered(b);
  CHECK((key_a <=> key_b) == order(a, b));
  CHECK((ordered_last(a) <=> ordered_last(b)) == order(a, b));
  if (key_a != key_b) CHECK(!key_a.starts_with(key_b) && !key_b.starts_with(key_a));

  const std::string both = key_a + key_b;
  item::OrderedKeyReader reader(both);
  const auto first = reader.read(a.type());
  const auto second = reader.read(a.type());
  CHECK(first && *first == a && second && *second == b && reader.empty());
}

void check_damaged(std::string_view bytes, item::Type type) {
  item::OrderedKeyReader reader(bytes);
  const auto value = reader.read(type);
  if (value) CHECK(ordered(*value) == bytes.substr(0, bytes.size() - reader.rest().size()));
}

engine::Table make_table(item::Type type) {
  engine::Table table;
  table.id = 7;
  table.hash = {"hash", item::Type::string};
  table.range = engine::KeyPart{"range", type};
  engine::Index index;
  index.id = 8;
  index.hash = {{"range", type}};
  index.range = {{"other", type}};
  table.indexes.push_back(index);
  return table;
}

void check_stored(const AttributeValue& a, const AttributeValue& b, const std::string& hash) {
  const engine::Table table = make_table(a.type());
  const engine::Index& index = table.indexes.front();
  // An empty key is refused before it gets here, and an empty index key keeps the item out of the index.
  const item::Map item_a{{"hash", hash}, {"range", a}, {"other", b}};
  const item::Map item_b{{"hash", hash}, {"range", b}, {"other", b}};
  const item::Map item_c{{"hash", hash}, {"range", b}, {"other", a}};
  const std::string key_a = engine::item_key(table, item_a);
  const std::string key_b = engine::item_key(table, item_b);
  CHECK((key_a <=> key_b) == order(a, b));
  CHECK(key_a.starts_with(engine::partition_prefix(table, hash)));
  CHECK(engine::id_prefix(7) < key_a && key_a < engine::id_prefix(8));

  const auto entry_b = engine::index_key(index, item_b, key_b);
  const auto entry_c = engine::index_key(index, item_c, key_b);
  if (entry_b && entry_c) CHECK((*entry_b <=> *entry_c) == order(b, a));
  if (entry_b) {
    CHECK(entry_b->starts_with(engine::index_partition_prefix(index, {&b})));
    CHECK(entry_b->ends_with(key_b.substr(sizeof(engine::ObjectId))));
  }

  const std::string early = engine::expiry_key(table.id, 5, key_a);
  const std::string late = engine::expiry_key(table.id, 6, key_b);
  CHECK(early < late);
  const engine::ExpiryEntry entry = engine::parse_expiry_key(early);
  CHECK(entry.second == 5 && entry.stored_item_key == key_a);
  CHECK((early <=> engine::expiry_key(table.id, 5, key_b)) == order(a, b));
}

}  // namespace

void fuzz_key(std::string_view input) {
  ValueSource source(input);
  const auto type = static_cast<item::Type>(source.byte() % 3);
  if (!input.empty()) check_damaged(input.substr(1), type);
  const AttributeValue a = scalar(source, type);
  const AttributeValue b = scalar(source, type);
  check_ordered(a, b);
  check_stored(a, b, source.text());
}

}  // namespace postino::fuzz
