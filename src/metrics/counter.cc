#include "metrics/counter.h"

#include "metrics/figures/tally.h"
#include "metrics/follow/set_aside.h"

namespace postino::metrics {

namespace {

// A commit takes a hundred actions, one of which is the checkpoint, and an update 4 KB of text.
constexpr std::size_t most_items = 90, most_slots = 150;

}  // namespace

Outcome<std::uint64_t> Counter::begin(const Beginning& beginning, store::ChangeFeed& feed, CheckpointKeeper& keeper) {
  TRY(const std::uint64_t set_aside, Recount(store_, source_, clock_, retry_, feed, keeper, recount_).run(beginning));
  if (on_change_) on_change_({});
  return set_aside;
}

void Counter::tell(const Tally& tally) const {
  if (!on_change_ || tally.empty()) return;
  std::set<std::string> tenants;
  for (const auto& [name, amount] : tally.figures()) tenants.insert(name.tenant);
  for (const auto& [name, slots] : tally.history()) tenants.insert(name.tenant);
  on_change_(tenants);
}

Outcome<void> Counter::commit(const Tally& tally, std::span<const store::StreamRecord> done, CheckpointKeeper& keeper,
                              std::vector<store::TransactAction> more) {
  std::vector<store::TransactAction> actions = tally_updates(keeper.options().table, source_.name, tally);
  for (store::TransactAction& action : more) actions.push_back(std::move(action));
  TRY_VOID(keeper.commit(keeper.moved_behind(done), std::move(actions)));
  tell(tally);
  return {};
}

Outcome<void> Counter::handle(std::span<const store::StreamRecord> records, CheckpointKeeper& keeper) {
  Tally tally;
  std::span<const store::StreamRecord> uncommitted = records;
  std::size_t tallied = 0;  // of them
  for (const store::StreamRecord& record : records) {
    Tally one;
    if (const auto counted = tally_change(source_, record, clock_.now(), one); !counted)
      return trouble(Trouble::record, counted.error().message);
    tally.add(one);
    if (tallied > 0 && (tally.items() > most_items || tally.slots() > most_slots)) {
      tally.subtract(one);
      TRY_VOID(commit(tally, uncommitted.first(tallied), keeper));
      uncommitted = uncommitted.subspan(tallied);
      tallied = 0;
      tally = std::move(one);
    }
    ++tallied;
  }
  return tallied > 0 ? commit(tally, uncommitted, keeper) : Outcome<void>();
}

Outcome<void> Counter::set_aside(const store::StreamRecord& record, const std::string& reason,
                                 CheckpointKeeper& keeper) {
  Tally tally;
  (void)tally_change(source_, record, clock_.now(), tally);
  store::TransactPut put;
  put.table_name = keeper.options().table;
  SetAside aside = set_aside_record(source_.name, source_.table, record, reason, clock_.now());
  put.item = stored_form(aside);
  const auto done = commit(tally, std::span(&record, 1), keeper, {put});
  // If even its figures or its images are what the store does not take, the record leaves without them.
  if (done || done.error().kind != Trouble::record) return done;
  put.item = stored_form(without_images(std::move(aside)));
  return commit(Tally(), std::span(&record, 1), keeper, {std::move(put)});
}

}  // namespace postino::metrics
