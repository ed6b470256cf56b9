// A letter for the kind of expression (c, f, k, u or p), the expression, a line end, and bytes that become what its
// placeholders stand for and the item it meets.
#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "expr/expression.h"
#include "item/binary_codec.h"
#include "targets.h"
#include "value_source.h"

namespace postino::fuzz {

namespace {

using expr::Binder;
using expr::Placeholders;
using item::AttributeValue;
using item::Map;

constexpr int expression_depth = 4;

// Defines nearly every placeholder of the text, so that most expressions get beyond binding.
Placeholders define(std::string_view text, ValueSource& source) {
  Placeholders placeholders;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '#' && text[i] != ':') continue;
    std::size_t end = i + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    std::string key(text.substr(i, end - i));
    const bool defined = source.byte() != 0xFF;
    if (!defined) continue;
    if (text[i] == '#') {
      if (!placeholders.names) placeholders.names.emplace();
      placeholders.names->insert_or_assign(std::move(key), source.name());
    } else {
      if (!placeholders.values) placeholders.values.emplace();
      placeholders.values->set(std::move(key), source.value(expression_depth));
    }
  }
  return placeholders;
}

template <class Parsed>
void check_same(const base::Result<Parsed>& a, const base::Result<Parsed>& b) {
  CHECK(a.has_value() == b.has_value());
  if (!a) CHECK(a.error() == b.error() && !a.error().message.empty());
}

template <class Bound>
void check_same_binding(const base::Result<Bound>& a, const base::Result<Bound>& b) {
  CHECK(a.has_value() == b.has_value());
  if (!a) CHECK(a.error() == b.error() && !a.error().message.empty());
}

struct Request {
  std::string_view text;
  Placeholders placeholders;
  Map item;
};

void run_condition(const Request& request, expr::Kind kind) {
  const auto parsed = expr::parse_condition(request.text, kind);
  const auto cached = expr::cached_condition(request.text, kind);
  check_same(parsed, cached);
  if (!parsed) return;
  Binder binder(request.placeholders);
  Binder cached_binder(request.placeholders);
  if (kind == expr::Kind::key_condition) {
    const auto conjuncts = binder.bind_key_condition(*parsed);
    const auto cached_conjuncts = cached_binder.bind_key_condition(*cached);
    check_same_binding(conjuncts, cached_conjuncts);
    if (conjuncts)
      for (const expr::KeyConjunct& conjunct : *conjuncts)
        CHECK(conjunct.value != nullptr && !conjunct.attribute.empty() &&
              (conjunct.upper != nullptr) == (conjunct.op == expr::KeyOperator::between));
    return;
  }
  const auto bound = binder.bind(*parsed);
  const auto cached_bound = cached_binder.bind(*cached);
  check_same_binding(bound, cached_bound);
  if (!bound) return;
  check_same(binder.check_all_used(), cached_binder.check_all_used());
  CHECK(bound->matches(request.item) == cached_bound->matches(request.item));
  CHECK(bound->matches({}) == cached_bound->matches({}));
}

bool has_empty_set(const AttributeValue& value);

bool has_empty_set(const Map& map) {
  return std::ranges::any_of(map, [](const item::Attribute& attribute) { return has_empty_set(attribute.value); });
}

bool has_empty_set(const AttributeValue& value) {
  if (const auto* strings = value.get_if<item::StringSet>()) return strings->empty();
  if (const auto* numbers = value.get_if<item::NumberSet>()) return numbers->empty();
  if (const auto* binaries = value.get_if<item::BinarySet>()) return binaries->empty();
  if (const auto* map = value.get_if<Map>()) return has_empty_set(*map);
  if (const auto* list = value.get_if<item::List>())
    return std::ranges::any_of(*list, [](const AttributeValue& element) { return has_empty_set(element); });
  return false;
}

void check_updated(const expr::BoundUpdate& update, const Map& before, const Map& after) {
  std::string bytes;
  item::encode(bytes, after);
  const auto decoded = item::decode_map(bytes);
  CHECK(decoded && *decoded == after);
  CHECK(!has_empty_set(after));
  // Nothing but the targets changes.
  const auto targets = update.targets();
  const auto is_target = [&](const std::string& name) {
    return std::ranges::any_of(targets, [&](const auto& target) { return target.name == name; });
  };
  for (const item::Attribute& attribute : before) {
    const AttributeValue* now = after.find(attribute.name);
    CHECK(is_target(attribute.name) || (now != nullptr && *now == attribute.value));
  }
  for (const item::Attribute& attribute : after) CHECK(before.contains(attribute.name) || is_target(attribute.name));
  for (const item::Attribute& attribute : update.touched(after)) CHECK(is_target(attribute.name));
  for (const item::Attribute& attribute : update.touched(before)) CHECK(before.contains(attribute.name));
}

void run_update(const Request& request) {
  const auto parsed = expr::parse_update(request.text);
  const auto cached = expr::cached_update(request.text);
  check_same(parsed, cached);
  if (!parsed) return;
  const auto bound = Binder(request.placeholders).bind(*parsed);
  const auto cached_bound = Binder(request.placeholders).bind(*cached);
  check_same_binding(bound, cached_bound);
  if (!bound) return;
  for (const Map& before : {request.item, Map{}}) {
    const auto after = bound->apply(before);
    const auto again = cached_bound->apply(before);
    check_same(after, again);
    if (!after) continue;
    CHECK(*after == *again);
    check_updated(*bound, before, *after);
  }
  CHECK(bound->written_size() == cached_bound->written_size());
}

void run_projection(const Request& request) {
  const auto parsed = expr::parse_projection(request.text);
  const auto cached = expr::cached_projection(request.text);
  check_same(parsed, cached);
  if (!parsed) return;
  const auto bound = Binder(request.placeholders).bind(*parsed);
  const auto cached_bound = Binder(request.placeholders).bind(*cached);
  check_same_binding(bound, cached_bound);
  if (!bound) return;
  const Map projected = bound->project(request.item);
  CHECK(projected == cached_bound->project(request.item));
  const auto attributes = bound->attributes();
  for (const item::Attribute& attribute : projected)
    CHECK(request.item.contains(attribute.name) && std::ranges::find(attributes, attribute.name) != attributes.end());
}

}  // namespace

void fuzz_expression(std::string_view input) {
  ValueSource source(input);
  const char kind = static_cast<char>(source.byte());
  Request request;
  request.text = source.line();
  request.placeholders = define(request.text, source);
  request.item = source.map(expression_depth);
  switch (kind) {
    case 'c':
      return run_condition(request, expr::Kind::condition);
    case 'f':
      return run_condition(request, expr::Kind::filter);
    case 'k':
      return run_condition(request, expr::Kind::key_condition);
    case 'u':
      return run_update(request);
    default:
      return run_projection(request);
  }
}

}  // namespace postino::fuzz
