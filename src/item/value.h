// Attribute values: the ten types of DynamoDB's data model, and the map that an item is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "item/number.h"

namespace postino::item {

class AttributeValue;
struct Attribute;

struct Null {
  friend bool operator==(Null, Null) = default;
};

struct Binary {
  std::string bytes;
  friend auto operator<=>(const Binary&, const Binary&) = default;
};

// Members are kept sorted and unique, so that equal sets are equal vectors. A set in a valid item is never empty.
template <class Member>
class Set {
 public:
  Set() = default;
  // Sorts and drops duplicates; where a duplicate is an error, the decoder says so before.
  explicit Set(std::vector<Member> members);

  const std::vector<Member>& members() const { return members_; }
  bool empty() const { return members_.empty(); }
  std::size_t size() const { return members_.size(); }
  bool contains(const Member& member) const;
  // Returns true if it was not there.
  bool insert(Member member);
  // Returns true if it was there.
  bool erase(const Member& member);

  friend bool operator==(const Set&, const Set&) = default;

 private:
  std::vector<Member> members_;
};

using StringSet = Set<std::string>;
using NumberSet = Set<Number>;
using BinarySet = Set<Binary>;
using List = std::vector<AttributeValue>;

// Attributes sorted by name (byte order). Items, nested maps and keys are all of this type.
class Map {
 public:
  using const_iterator = std::vector<Attribute>::const_iterator;
  using iterator = std::vector<Attribute>::iterator;

  Map();
  Map(std::initializer_list<Attribute> attributes);
  // Takes attributes in any order; of equal names the last stays. Faster than many calls of set.
  explicit Map(std::vector<Attribute> attributes);
  // Nothing when the names are not in strictly ascending order.
  static std::optional<Map> from_sorted(std::vector<Attribute> attributes);
  Map(const Map&);
  Map(Map&&) noexcept;
  Map& operator=(const Map&);
  Map& operator=(Map&&) noexcept;
  ~Map();

  bool empty() const { return attributes_.empty(); }
  std::size_t size() const;
  void reserve(std::size_t count);
  void clear();

  // nullptr when there is no such attribute. The pointer is valid until the map changes.
  const AttributeValue* find(std::string_view name) const;
  AttributeValue* find(std::string_view name);
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  // Adds or replaces.
  AttributeValue& set(std::string name, AttributeValue value);
  // Adds at the end; the name must sort after all others (decoders read sorted data).
  AttributeValue& append(std::string name, AttributeValue value);
  // Returns true if it was there.
  bool erase(std::string_view name);

  iterator begin();
  iterator end();
  const_iterator begin() const;
  const_iterator end() const;

  friend bool operator==(const Map& a, const Map& b);

 private:
  std::vector<Attribute> attributes_;
};

using Item = Map;
using Key = Map;  // the key attributes of one item

// In the order of AttributeValue's alternatives.
enum class Type : std::uint8_t {
  string,
  number,
  binary,
  boolean,
  null,
  string_set,
  number_set,
  binary_set,
  list,
  map,
};

// The wire name: S, N, B, BOOL, NULL, SS, NS, BS, L, M.
std::string_view type_name(Type type);

class AttributeValue {
 public:
  using Storage = std::variant<std::string, Number, Binary, bool, Null, StringSet, NumberSet, BinarySet, List, Map>;

  AttributeValue() : storage_(Null{}) {}
  AttributeValue(std::string value) : storage_(std::move(value)) {}         // NOLINT
  AttributeValue(std::string_view value) : storage_(std::string(value)) {}  // NOLINT
  AttributeValue(const char* value) : storage_(std::string(value)) {}       // NOLINT
  AttributeValue(Number value) : storage_(value) {}                         // NOLINT
  AttributeValue(int value) : storage_(Number(value)) {}                    // NOLINT
  AttributeValue(std::int64_t value) : storage_(Number(value)) {}           // NOLINT
  AttributeValue(Binary value) : storage_(std::move(value)) {}              // NOLINT
  AttributeValue(bool value) : storage_(value) {}                           // NOLINT
  AttributeValue(Null value) : storage_(value) {}                           // NOLINT
  AttributeValue(StringSet value) : storage_(std::move(value)) {}           // NOLINT
  AttributeValue(NumberSet value) : storage_(std::move(value)) {}           // NOLINT
  AttributeValue(BinarySet value) : storage_(std::move(value)) {}           // NOLINT
  AttributeValue(List value) : storage_(std::move(value)) {}                // NOLINT
  AttributeValue(Map value) : storage_(std::move(value)) {}                 // NOLINT

  // Not inline: they are large, and a request has many.
  AttributeValue(const AttributeValue&);
  AttributeValue(AttributeValue&&) noexcept;
  AttributeValue& operator=(const AttributeValue&);
  AttributeValue& operator=(AttributeValue&&) noexcept;
  ~AttributeValue();

  Type type() const { return static_cast<Type>(storage_.index()); }

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&storage_);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&storage_);
  }
  // The caller knows the type; anything else is a bug and ends the process.
  template <class T>
  const T& as() const {
    return std::get<T>(storage_);
  }
  template <class T>
  T& as() {
    return std::get<T>(storage_);
  }

  const Storage& storage() const { return storage_; }

  // Replaces what was there, whatever its type.
  template <class T, class... Arguments>
  T& emplace(Arguments&&... arguments) {
    return storage_.emplace<T>(std::forward<Arguments>(arguments)...);
  }

  // Deep equality: numbers by value, sets unordered, different types never equal.
  friend bool operator==(const AttributeValue& a, const AttributeValue& b);

 private:
  Storage storage_;
};

struct Attribute {
  std::string name;
  AttributeValue value;
};

// Inline, because every read and write of an item goes through them. They stand here because they need Attribute.
inline Map::Map() = default;
inline Map::Map(Map&&) noexcept = default;

inline std::size_t Map::size() const { return attributes_.size(); }
inline void Map::reserve(std::size_t count) { attributes_.reserve(count); }
inline void Map::clear() { attributes_.clear(); }
inline Map::iterator Map::begin() { return attributes_.begin(); }
inline Map::iterator Map::end() { return attributes_.end(); }
inline Map::const_iterator Map::begin() const { return attributes_.begin(); }
inline Map::const_iterator Map::end() const { return attributes_.end(); }

inline const AttributeValue* Map::find(std::string_view name) const {
  const auto place = std::ranges::lower_bound(attributes_, name, {}, &Attribute::name);
  return place != attributes_.end() && place->name == name ? &place->value : nullptr;
}
inline AttributeValue* Map::find(std::string_view name) {
  return const_cast<AttributeValue*>(std::as_const(*this).find(name));
}

inline AttributeValue& Map::append(std::string name, AttributeValue value) {
  CHECK(attributes_.empty() || attributes_.back().name < name);
  return attributes_.emplace_back(std::move(name), std::move(value)).value;
}

}  // namespace postino::item
