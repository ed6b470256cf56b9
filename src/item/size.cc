#include "item/size.h"

#include <algorithm>

#include "base/check.h"

namespace postino::item {
namespace {

constexpr std::size_t container_overhead = 3;
constexpr std::size_t element_overhead = 1;

struct Size {
  std::size_t operator()(const std::string& text) const { return text.size(); }
  std::size_t operator()(const Number& number) const { return number.stored_size(); }
  std::size_t operator()(const Binary& binary) const { return binary.bytes.size(); }
  std::size_t operator()(bool) const { return 1; }
  std::size_t operator()(Null) const { return 1; }

  template <class Member>
  std::size_t operator()(const Set<Member>& set) const {
    std::size_t total = 0;
    for (const Member& member : set.members()) total += (*this)(member);
    return total;
  }

  std::size_t operator()(const List& list) const {
    std::size_t total = container_overhead;
    for (const AttributeValue& element : list) total += element_overhead + size_of(element);
    return total;
  }

  std::size_t operator()(const Map& map) const {
    return container_overhead + element_overhead * map.size() + size_of(map);
  }
};

// Stops at the limit, so values of any depth are safe to check.
bool nests_within(const AttributeValue& value, int levels) {
  if (levels == 0) return false;
  const auto element_fits = [levels](const AttributeValue& element) { return nests_within(element, levels - 1); };
  if (const auto* list = value.get_if<List>()) return std::ranges::all_of(*list, element_fits);
  if (const auto* map = value.get_if<Map>()) return std::ranges::all_of(*map, element_fits, &Attribute::value);
  return true;
}

}  // namespace

std::size_t size_of(const AttributeValue& value) { return std::visit(Size{}, value.storage()); }

std::size_t size_of(const Map& item) {
  std::size_t total = 0;
  for (const auto& [name, value] : item) total += name.size() + size_of(value);
  return total;
}

std::size_t key_size(const AttributeValue& scalar) {
  CHECK(scalar.type() == Type::string || scalar.type() == Type::number || scalar.type() == Type::binary);
  return size_of(scalar);
}

base::Result<void> check_attribute_name(std::string_view name) {
  if (name.empty()) return base::invalid("Empty attribute name");
  if (name.size() <= max_attribute_name_size) return {};
  return base::invalid(
      "One or more parameter values were invalid: Attribute name is too large, must be less than 65536 bytes");
}

base::Result<void> check_nesting(const AttributeValue& value) {
  if (!nests_within(value, max_nesting)) return base::invalid(std::string(nesting_exceeded), base::Rule::nesting);
  return {};
}

base::Result<void> check_nesting(const Map& item) {
  for (const auto& [name, value] : item) TRY_VOID(check_nesting(value));
  return {};
}

}  // namespace postino::item
