#include "item/value.h"

#include <array>

namespace postino::item {
namespace {

// Names in the order of Type.
constexpr std::array<std::string_view, 10> type_names{"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};

static_assert(std::variant_size_v<AttributeValue::Storage> == type_names.size());

bool ascends(std::string_view a, std::string_view b) {
  // Most names differ in their first byte, and then a call of memcmp is what costs.
  const auto first = [](std::string_view name) { return static_cast<unsigned char>(name.front()); };
  if (!a.empty() && !b.empty() && a.front() != b.front()) return first(a) < first(b);
  return a < b;
}

bool is_sorted(const std::vector<Attribute>& attributes) {
  const auto out_of_order = [](const Attribute& a, const Attribute& b) { return !ascends(a.name, b.name); };
  return std::ranges::adjacent_find(attributes, out_of_order) == attributes.end();
}

// Of attributes with equal names, which stand together, only the last one stays.
void drop_replaced(std::vector<Attribute>& attributes) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    if (i + 1 < attributes.size() && attributes[i].name == attributes[i + 1].name) continue;
    if (kept != i) attributes[kept] = std::move(attributes[i]);
    ++kept;
  }
  attributes.erase(attributes.begin() + static_cast<std::ptrdiff_t>(kept), attributes.end());
}

}  // namespace

template <class Member>
Set<Member>::Set(std::vector<Member> members) : members_(std::move(members)) {
  std::ranges::sort(members_);
  const auto duplicates = std::ranges::unique(members_);
  members_.erase(duplicates.begin(), duplicates.end());
}

template <class Member>
bool Set<Member>::contains(const Member& member) const {
  return std::ranges::binary_search(members_, member);
}

template <class Member>
bool Set<Member>::insert(Member member) {
  const auto place = std::ranges::lower_bound(members_, member);
  if (place != members_.end() && *place == member) return false;
  members_.insert(place, std::move(member));
  return true;
}

template <class Member>
bool Set<Member>::erase(const Member& member) {
  const auto place = std::ranges::lower_bound(members_, member);
  if (place == members_.end() || *place != member) return false;
  members_.erase(place);
  return true;
}

template class Set<std::string>;
template class Set<Number>;
template class Set<Binary>;

AttributeValue::AttributeValue(const AttributeValue&) = default;
AttributeValue::AttributeValue(AttributeValue&&) noexcept = default;
AttributeValue& AttributeValue::operator=(const AttributeValue&) = default;
AttributeValue& AttributeValue::operator=(AttributeValue&&) noexcept = default;
AttributeValue::~AttributeValue() = default;

Map::Map(const Map&) = default;
Map& Map::operator=(const Map&) = default;
Map& Map::operator=(Map&&) noexcept = default;
Map::~Map() = default;

Map::Map(std::initializer_list<Attribute> attributes) : Map(std::vector<Attribute>(attributes)) {}

Map::Map(std::vector<Attribute> attributes) : attributes_(std::move(attributes)) {
  if (is_sorted(attributes_)) return;
  std::ranges::stable_sort(attributes_, {}, &Attribute::name);
  drop_replaced(attributes_);
}

std::optional<Map> Map::from_sorted(std::vector<Attribute> attributes) {
  if (!is_sorted(attributes)) return std::nullopt;
  std::optional<Map> map(std::in_place);
  map->attributes_ = std::move(attributes);
  return map;
}

AttributeValue& Map::set(std::string name, AttributeValue value) {
  const auto place = std::ranges::lower_bound(attributes_, name, {}, &Attribute::name);
  if (place != attributes_.end() && place->name == name) return place->value = std::move(value);
  return attributes_.insert(place, Attribute{std::move(name), std::move(value)})->value;
}

bool Map::erase(std::string_view name) {
  const auto place = std::ranges::lower_bound(attributes_, name, {}, &Attribute::name);
  if (place == attributes_.end() || place->name != name) return false;
  attributes_.erase(place);
  return true;
}

bool operator==(const Map& a, const Map& b) {
  return std::ranges::equal(a.attributes_, b.attributes_, [](const Attribute& left, const Attribute& right) {
    return left.name == right.name && left.value == right.value;
  });
}

std::string_view type_name(Type type) { return type_names.at(static_cast<std::size_t>(type)); }

bool operator==(const AttributeValue& a, const AttributeValue& b) { return a.storage_ == b.storage_; }

}  // namespace postino::item
