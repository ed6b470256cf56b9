#include "store/lease.h"

#include <utility>

#include "item/attribute_text.h"
#include "store/retry.h"

namespace postino::store {

namespace {

// 0: it cannot be read, and is replaced.
std::int64_t version_of(const item::Item& item) {
  const item::AttributeValue* const value = item.find("version");
  const auto* const number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number != nullptr ? number->to_int64().value_or(0) : 0;
}

}  // namespace

Lease::Lease(Store& store, std::string table, item::Key key, std::string owner, const base::Clock& clock,
             base::Milliseconds life)
    : store_(store),
      table_(std::move(table)),
      key_(std::move(key)),
      owner_(std::move(owner)),
      clock_(clock),
      life_(life) {}

Answer<WriteItemResponse> Lease::write(const std::string& owner) {
  PutItemRequest request;
  request.table_name = table_;
  request.item = key_;
  request.item.set("version", version_ + 1);
  if (!owner.empty()) request.item.set("owner", owner);
  request.condition =
      version_ == 0 ? "attribute_not_exists(#version) OR NOT attribute_type(#version, :number)" : "#version = :seen";
  request.placeholders.names = expr::Names{{"#version", "version"}};
  request.placeholders.values = version_ == 0 ? item::Map{{":number", "N"}} : item::Map{{":seen", version_}};
  return store_.put_item(request);
}

base::Result<bool> Lease::take() {
  const auto written = write(owner_);
  is_held_ = written.has_value();
  if (!written && written.error().type != ErrorType::conditional_check_failed)
    return base::propagate(as_error(written.error()));
  if (!written) return false;
  ++version_;
  written_ = clock_.monotonic();
  silence_.forget();
  return true;
}

base::Result<bool> Lease::hold() {
  const base::Milliseconds now = clock_.monotonic();
  if (is_held_) return now - written_ < life_ / 3 ? base::Result<bool>(true) : take();
  GetItemRequest request;
  request.table_name = table_;
  request.key = key_;
  request.consistent_read = true;
  const auto found = store_.get_item(request);
  if (!found) return base::propagate(as_error(found.error()));
  version_ = found->item ? version_of(*found->item) : 0;
  const std::string owner = found->item ? item::attribute_text(*found->item, "owner") : "";
  const bool is_free = version_ == 0 || owner.empty() || owner == owner_;
  if (!is_free && !silence_.has_lasted(version_, now, life_)) return false;
  return take();
}

void Lease::release() {
  if (!std::exchange(is_held_, false)) return;
  (void)write("");  // if it is not done, the lease ends by itself
}

}  // namespace postino::store
