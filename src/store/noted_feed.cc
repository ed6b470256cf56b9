#include "store/noted_feed.h"

#include <utility>

#include "store/place_form.h"
#include "store/retry.h"

namespace postino::store {

base::Result<std::optional<StreamPlace>> ItemNote::read() {
  GetItemRequest request;
  request.table_name = table_;
  request.key = key_;
  request.consistent_read = true;
  const auto answer = store_.get_item(request);
  if (!answer) return base::propagate(as_error(answer.error()));
  if (!answer->item) return std::nullopt;
  return place_in(*answer->item, "sequence");
}

base::Result<void> ItemNote::write(const StreamPlace& place) {
  PutItemRequest request;
  request.table_name = table_;
  request.item = key_;
  put_place(request.item, "sequence", place);
  if (const auto answer = store_.put_item(request); !answer) return base::propagate(as_error(answer.error()));
  return {};
}

base::Result<void> NotedFeed::recall() {
  if (is_recalled_) return {};
  TRY(noted_, note_.read());
  if (noted_) feed_.go_on_behind(*noted_);
  is_recalled_ = true;
  return {};
}

base::Result<void> NotedFeed::begin(std::string missed) {
  if (const auto begun = feed_.begin(ChangeFeed::Start::oldest); !begun)
    return base::propagate(as_error(begun.error()));
  missed_ = std::move(missed);
  return {};
}

base::Result<Changes> NotedFeed::read(int limit, base::Milliseconds timeout) {
  auto changes = feed_.next(limit, timeout);
  if (!changes) return base::propagate(as_error(changes.error()));
  return *std::move(changes);
}

base::Result<bool> NotedFeed::has_turn() {
  if (lease_ == nullptr) return true;
  const auto held = lease_->hold();
  // What others have done meanwhile they have noted.
  if (!held || !*held) {
    feed_.drop();
    is_recalled_ = false;
  }
  return held;
}

void NotedFeed::leave() {
  feed_.drop();
  if (lease_ != nullptr) lease_->release();
}

base::Result<Changes> NotedFeed::next(int limit, base::Milliseconds timeout) {
  TRY(const bool is_ours, has_turn());
  if (!is_ours) {
    waiting_.wait(timeout);
    return Changes();
  }
  TRY_VOID(recall());
  if (!feed_.place()) TRY_VOID(begin(std::string(no_place_noted)));
  TRY(Changes changes, read(limit, timeout));
  if (!changes.missed.empty()) {
    TRY_VOID(begin(std::move(changes.missed)));
    TRY(changes, read(limit, timeout));
  }
  changes.missed = std::exchange(missed_, "");
  return changes;
}

base::Result<void> NotedFeed::note() {
  noted_at_ = clock_.monotonic();
  if (lease_ != nullptr && !lease_->is_held()) return {};
  if (!feed_.place() || feed_.place() == noted_) return {};
  TRY_VOID(note_.write(*feed_.place()));
  noted_ = feed_.place();
  return {};
}

base::Result<void> NotedFeed::note_in_time() {
  return clock_.monotonic() - noted_at_ >= pause_ ? note() : base::Result<void>();
}

}  // namespace postino::store
