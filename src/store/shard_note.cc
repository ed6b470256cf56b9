#include "store/shard_note.h"

#include <algorithm>
#include <tuple>

namespace postino::store {

namespace {

constexpr base::Milliseconds between_looks = std::chrono::seconds(3);

}  // namespace

// When it cannot be read, because another program has written it, there may be any.
base::Result<int> ShardNote::read() const {
  GetItemRequest request;
  request.table_name = place_.table;
  request.key = place_.key;
  request.consistent_read = true;
  const auto found = retry_([&] { return store_.get_item(request); });
  if (!found) return base::propagate(as_error(found.error()));
  if (!found->item) return 0;
  const item::AttributeValue* const value = found->item->find("most");
  const item::Number* const number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  const auto whole = number != nullptr ? number->to_int64() : std::nullopt;
  return whole && *whole >= 0 && *whole <= most_shards ? static_cast<int>(*whole) : most_shards;
}

base::Result<void> ShardNote::raise(int shards) const {
  UpdateItemRequest update;
  update.table_name = place_.table;
  update.key = place_.key;
  update.update = "SET most = :shards";
  update.condition = "attribute_not_exists(most) OR most < :shards";
  update.placeholders.values = item::Map{{":shards", shards}};
  const auto noted = retry_([&] { return store_.update_item(update); });
  // Another process has raised it further.
  if (!noted && noted.error().type != ErrorType::conditional_check_failed)
    return base::propagate(as_error(noted.error()));
  return {};
}

base::Result<void> ShardNote::look() {
  const int known = most();
  TRY(const int noted, read());
  most_ = std::max(known, noted);
  // What this process has used is noted again, should the note be lost.
  const int target = std::max(known, wanted_);
  if (noted < target && target > least_) {
    TRY_VOID(raise(target));
    most_ = std::max(most(), target);
  }
  is_known_ = true;
  return {};
}

void ShardNote::look_again(const base::Clock& clock) {
  const base::Milliseconds now = clock.monotonic();
  if (now < next_look_ || (is_known_ && !store_.is_shared())) return;
  next_look_ = now + between_looks;
  std::ignore = look();
}

}  // namespace postino::store
