#include "document.h"

namespace postino::model {

const item::AttributeValue* find(const item::Item& item, const Path& path) {
  const item::AttributeValue* value = item.find(std::get<std::string>(path.front()));
  for (std::size_t i = 1; i < path.size() && value != nullptr; ++i) {
    if (const auto* name = std::get_if<std::string>(&path[i])) {
      const auto* map = value->get_if<item::Map>();
      value = map == nullptr ? nullptr : map->find(*name);
    } else {
      const auto* list = value->get_if<item::List>();
      const std::uint32_t position = std::get<std::uint32_t>(path[i]);
      value = list == nullptr || position >= list->size() ? nullptr : &(*list)[position];
    }
  }
  return value;
}

bool collide(const Path& a, const Path& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].index() != b[i].index()) return true;
    if (a[i] != b[i]) return false;
  }
  return true;
}

bool has_order(item::Type type) {
  return type == item::Type::string || type == item::Type::number || type == item::Type::binary;
}

std::strong_ordering compare(const item::AttributeValue& a, const item::AttributeValue& b) {
  CHECK(a.type() == b.type() && has_order(a.type()));
  if (a.type() == item::Type::number) return a.as<item::Number>() <=> b.as<item::Number>();
  const std::string& left = a.type() == item::Type::string ? a.as<std::string>() : a.as<item::Binary>().bytes;
  const std::string& right = b.type() == item::Type::string ? b.as<std::string>() : b.as<item::Binary>().bytes;
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i)
    if (left[i] != right[i]) return static_cast<unsigned char>(left[i]) <=> static_cast<unsigned char>(right[i]);
  return left.size() <=> right.size();
}

std::strong_ordering compare(const KeyValues& a, const KeyValues& b) {
  CHECK(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (const auto order = compare(a[i], b[i]); order != 0) return order;
  return std::strong_ordering::equal;
}

SparseDocument::SparseDocument(const item::Item& item) : root_(open(item::AttributeValue(item))) {}

SparseDocument::Node SparseDocument::open(const item::AttributeValue& value) {
  if (const auto* map = value.get_if<item::Map>()) {
    auto names = std::make_shared<Names>();
    for (const item::Attribute& attribute : *map) names->emplace(attribute.name, open(attribute.value));
    return {names};
  }
  if (const auto* list = value.get_if<item::List>()) {
    auto positions = std::make_shared<Positions>();
    for (std::size_t i = 0; i < list->size(); ++i) positions->emplace(static_cast<std::uint32_t>(i), open((*list)[i]));
    return {positions};
  }
  return {value};
}

item::AttributeValue SparseDocument::close(const Node& node) {
  if (const auto* names = std::get_if<std::shared_ptr<Names>>(&node.content)) {
    item::Map map;
    for (const auto& [name, child] : **names) map.set(name, close(child));
    return map;
  }
  if (const auto* positions = std::get_if<std::shared_ptr<Positions>>(&node.content)) {
    item::List list;
    for (const auto& [position, child] : **positions) list.push_back(close(child));
    return list;
  }
  return std::get<item::AttributeValue>(node.content);
}

SparseDocument::Node* SparseDocument::child(Node& node, const Step& step, bool make) {
  if (const auto* name = std::get_if<std::string>(&step)) {
    if (make && std::holds_alternative<item::AttributeValue>(node.content)) node.content = std::make_shared<Names>();
    Names& names = *std::get<std::shared_ptr<Names>>(node.content);
    return make || names.contains(*name) ? &names[*name] : nullptr;
  }
  if (make && std::holds_alternative<item::AttributeValue>(node.content)) node.content = std::make_shared<Positions>();
  Positions& positions = *std::get<std::shared_ptr<Positions>>(node.content);
  const std::uint32_t position = std::get<std::uint32_t>(step);
  return make || positions.contains(position) ? &positions[position] : nullptr;
}

void SparseDocument::set(const Path& path, const item::AttributeValue& value) {
  Node* node = &root_;
  for (const Step& step : path) node = child(*node, step, true);
  *node = open(value);
}

void SparseDocument::erase(const Path& path) {
  Node* node = &root_;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) node = child(*node, path[i], false);
  if (const auto* name = std::get_if<std::string>(&path.back()))
    std::get<std::shared_ptr<Names>>(node->content)->erase(*name);
  else
    std::get<std::shared_ptr<Positions>>(node->content)->erase(std::get<std::uint32_t>(path.back()));
}

item::Item SparseDocument::close_gaps() const { return close(root_).as<item::Map>(); }

}  // namespace postino::model
