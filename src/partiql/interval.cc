#include "partiql/interval.h"

#include "expr/evaluate.h"

namespace postino::partiql {

namespace {

using item::AttributeValue;

// Ends before the other begins.
bool ends_before(const std::optional<Bound>& upper, const std::optional<Bound>& lower) {
  if (!upper || !lower) return false;
  if (less(upper->value, lower->value)) return true;
  return upper->value == lower->value && !(upper->inclusive && lower->inclusive);
}

// The first bytes after everything that starts with the prefix; nothing when there are none.
std::optional<std::string> after_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

std::optional<Bound> end_of_prefix(const AttributeValue& prefix) {
  if (const auto* text = prefix.get_if<std::string>()) {
    if (auto end = after_prefix(*text)) return Bound{*std::move(end), false};
  } else if (const auto* binary = prefix.get_if<item::Binary>()) {
    if (auto end = after_prefix(binary->bytes)) return Bound{item::Binary{*std::move(end)}, false};
  }
  return std::nullopt;
}

// The bound that lets less through.
std::optional<Bound> tighter(const std::optional<Bound>& a, const std::optional<Bound>& b, bool lower) {
  if (!a || !b) return a ? a : b;
  if (a->value == b->value) return a->inclusive ? b : a;
  return less(a->value, b->value) == lower ? b : a;
}

}  // namespace

bool less(const AttributeValue& a, const AttributeValue& b) { return expr::compares(a, expr::Comparator::less, b); }

Interval Interval::at(const AttributeValue& value) { return between(value, value); }

Interval Interval::compared(Operation operation, const AttributeValue& value) {
  if (operation == Operation::equal) return at(value);
  Interval interval;
  const bool inclusive = operation == Operation::less_equal || operation == Operation::greater_equal;
  const bool upper = operation == Operation::less || operation == Operation::less_equal;
  (upper ? interval.upper_ : interval.lower_) = Bound{value, inclusive};
  return interval;
}

Interval Interval::between(const AttributeValue& lower, const AttributeValue& upper) {
  Interval interval;
  interval.lower_ = Bound{lower, true};
  interval.upper_ = Bound{upper, true};
  return interval;
}

Interval Interval::starting_with(const AttributeValue& prefix) {
  Interval interval;
  interval.lower_ = Bound{prefix, true};
  interval.upper_ = end_of_prefix(prefix);
  interval.prefix_ = prefix;
  return interval;
}

Interval Interval::intersection(const Interval& other) const {
  if (unbounded()) return other;
  if (other.unbounded() || (point() != nullptr && other.point() != nullptr && *point() == *other.point())) return *this;
  Interval both;
  both.lower_ = tighter(lower_, other.lower_, true);
  both.upper_ = tighter(upper_, other.upper_, false);
  both.exact_ = false;
  // A prefix says more than its bounds would, unless they are tighter; the filter sees to the rest.
  if (both.point() == nullptr) both.prefix_ = prefix_ ? prefix_ : other.prefix_;
  return both;
}

bool Interval::overlaps(const Interval& other) const {
  return !empty() && !other.empty() && !ends_before(upper_, other.lower_) && !ends_before(other.upper_, lower_);
}

bool Interval::empty() const { return ends_before(upper_, lower_); }

const AttributeValue* Interval::point() const {
  if (!lower_ || !upper_ || prefix_ || !lower_->inclusive || !upper_->inclusive) return nullptr;
  return lower_->value == upper_->value ? &lower_->value : nullptr;
}

}  // namespace postino::partiql
