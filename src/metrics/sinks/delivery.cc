#include "metrics/sinks/delivery.h"

#include "metrics/follow/stream_start.h"

namespace postino::metrics {

namespace {

store::TransactAction kept_aside(const CheckpointKeeper& keeper, const SetAside& record) {
  store::TransactPut put;
  put.table_name = keeper.options().table;
  put.item = stored_form(record);
  return put;
}

}  // namespace

Outcome<std::unique_ptr<store::Subscription>> Delivery::begin(const Beginning& beginning, CheckpointKeeper& keeper) {
  TRY(StreamStart start, start_with_oldest(store_, table_, beginning.stream));
  const bool is_first = keeper.checkpoint().stream.empty();
  Checkpoint next = keeper.moved_to(start.position);
  next.stream = beginning.stream;
  next.due.clear();
  std::vector<store::TransactAction> actions;
  if (!is_first)
    actions.push_back(
        kept_aside(keeper, set_aside_gap(keeper.options().follower, table_, beginning.reason, clock_.now())));
  TRY_VOID(keeper.commit(std::move(next), std::move(actions)));
  return std::move(start.subscription);
}

Outcome<void> Delivery::handle(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) {
  if (records.empty()) return {};
  Checkpoint next = keeper.moved_to(records.back().sequence_number);
  TRY_VOID(deliver(records, next));
  return keeper.commit(std::move(next), {});
}

Outcome<void> Delivery::set_aside(const store::StreamRecord& record, const std::string& reason,
                                  CheckpointKeeper& keeper) {
  const SetAside aside = set_aside_record(keeper.options().follower, table_, record, reason, clock_.now());
  return keeper.commit(keeper.moved_to(record.sequence_number), {kept_aside(keeper, aside)});
}

Outcome<void> Delivery::deliver_again(SetAside aside, CheckpointKeeper& keeper) {
  const std::optional<store::StreamRecord> record = record_of(aside);
  if (!record) return {};
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
