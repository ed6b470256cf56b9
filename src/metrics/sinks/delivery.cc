#include "metrics/sinks/delivery.h"

#include <algorithm>

#include "item/attribute_text.h"
#include "metrics/figures/contribution.h"

namespace postino::metrics {

namespace {

store::TransactAction kept_aside(const CheckpointKeeper& keeper, const SetAside& record) {
  store::TransactPut put;
  put.table_name = keeper.options().table;
  put.item = stored_form(record);
  return put;
}

}  // namespace

Outcome<std::uint64_t> Delivery::begin(const Beginning& beginning, store::ChangeFeed& feed, CheckpointKeeper& keeper) {
  if (const auto begun = feed.begin(store::ChangeFeed::Start::oldest); !begun) return temporary(begun.error());
  const bool is_first = beginning.reason == nothing_counted;
  Checkpoint next = keeper.begun_at(*feed.place());
  std::vector<store::TransactAction> actions;
  if (!is_first)
    actions.push_back(
        kept_aside(keeper, set_aside_gap(keeper.options().follower, table_, beginning.reason, clock_.now())));
  const std::uint64_t gaps = actions.size();
  TRY_VOID(keeper.commit(std::move(next), std::move(actions)));
  return gaps;
}

bool Delivery::is_left_out(const store::StreamRecord& record) const {
  if (left_out_.empty()) return false;
  const std::string partition = owner_of(item::attribute_text(record.keys, "PK")).rest;
  return std::ranges::any_of(left_out_, [&](const std::string& begin) { return partition.starts_with(begin); });
}

Outcome<void> Delivery::make_ready(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) {
  Checkpoint ready = keeper.checkpoint();
  TRY(const bool is_changed, prepare(records, ready));
  return is_changed ? keeper.commit(std::move(ready), {}) : keeper.renew();
}

Outcome<void> Delivery::between_batches(CheckpointKeeper& keeper) {
  constexpr base::Milliseconds look_every = std::chrono::seconds(10);
  const base::Milliseconds now = clock_.monotonic();
  if (asked_ == nullptr || (looked_ && now - *looked_ < look_every)) return {};
  looked_ = now;
  return deliver_asked(keeper);
}

Outcome<void> Delivery::deliver_asked(CheckpointKeeper& keeper) {
  if (asked_ == nullptr) return {};
  TRY(const std::vector<SetAside> wanted, asked_->take());
  for (const SetAside& aside : wanted) TRY_VOID(deliver_again(aside, keeper));
  return {};
}

Outcome<void> Delivery::handle(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) {
  if (records.empty()) return {};
  const Checkpoint behind = keeper.moved_behind(records);
  std::vector<store::StreamRecord> wanted;
  if (std::ranges::any_of(records, [&](const store::StreamRecord& record) { return is_left_out(record); })) {
    std::ranges::remove_copy_if(records, std::back_inserter(wanted),
                                [&](const store::StreamRecord& record) { return is_left_out(record); });
    records = wanted;
  }
  if (records.empty()) return keeper.commit(behind, {});
  TRY_VOID(make_ready(records, keeper));
  Checkpoint next = keeper.checkpoint();
  next.place = behind.place;
  TRY_VOID(deliver(records, next));
  return keeper.commit(std::move(next), {});
}

Outcome<void> Delivery::set_aside(const store::StreamRecord& record, const std::string& reason,
                                  CheckpointKeeper& keeper) {
  SetAside aside = set_aside_record(keeper.options().follower, table_, record, reason, clock_.now());
  const auto done = keeper.commit(keeper.moved_behind(std::span(&record, 1)), {kept_aside(keeper, aside)});
  if (done || done.error().kind != Trouble::record) return done;
  return keeper.commit(keeper.moved_behind(std::span(&record, 1)),
                       {kept_aside(keeper, without_images(std::move(aside)))});
}

Outcome<void> Delivery::deliver_again(SetAside aside, CheckpointKeeper& keeper) {
  const std::optional<store::StreamRecord> record = record_of(aside);
  if (!record) return {};
  TRY_VOID(make_ready(std::span(&*record, 1), keeper));
  Checkpoint next = keeper.checkpoint();
  const auto delivered = deliver(std::span(&*record, 1), next);
  if (!delivered && delivered.error().kind != Trouble::record) return base::propagate(delivered.error());
  if (!delivered) {
    aside.reason = delivered.error().reason;
    return keeper.commit(keeper.checkpoint(), {kept_aside(keeper, aside)});
  }
  store::TransactDelete removal;
  removal.table_name = keeper.options().table;
  removal.key = item::Key{{"metric_name", aside.id}};
  return keeper.commit(std::move(next), {std::move(removal)});
}

}  // namespace postino::metrics
