// Looking at the whole.
#include <algorithm>

#include "request_text.h"
#include "runner.h"
#include "stream_check.h"

namespace postino::model {

namespace {

// DynamoDB's protocol tells whole seconds.
void restore_times(std::vector<store::StreamRecord>& records, const std::vector<store::StreamRecord>& exact) {
  for (std::size_t i = 0; i < std::min(records.size(), exact.size()); ++i)
    if (base::epoch_seconds(exact[i].time) == base::epoch_seconds(records[i].time)) records[i].time = exact[i].time;
}

}  // namespace

void Runner::describe_table() {
  const ModelTable& table = generator_.any_table();
  announce("describe " + table.name);
  const auto described = store().describe_table(table.name);
  if (!described) return expect_same("refused with " + text_of(described.error()));
  expect_same(difference(table, *described));
}

// Everything the table's follower has not seen yet, compared with what the model has written since.
void Runner::drain(const ModelTable& table) {
  if (!table.stream || !failure_.empty()) return;
  Follower& follower = followers_[table.name];
  if (!follower.subscription) {
    auto subscription = engine_->subscribe(table.name, follower.place);
    if (!subscription) return expect_same("cannot subscribe: " + text_of(subscription.error()));
    follower.subscription = *std::move(subscription);
  }
  std::vector<store::StreamRecord> records;
  while (true) {
    auto next = follower.subscription->next(choice_.between(1, 100), base::Milliseconds(0));
    if (!next) return expect_same("cannot follow the stream: " + text_of(next.error()));
    if (next->empty()) break;
    for (store::StreamRecord& record : *next) records.push_back(std::move(record));
  }
  if (!records.empty()) {
    if (follower.place && follower.place->has_done(records.front())) expect_same("an old record came again");
  }
  follower.place = follower.subscription->place();
  const std::vector<ModelRecord> expected(table.records.begin() + static_cast<std::ptrdiff_t>(follower.seen),
                                          table.records.end());
  follower.seen = table.records.size();
  expect_same(difference(table, expected, records));
}

void Runner::follow_stream() {
  const ModelTable& table = generator_.any_table();
  announce("follow the stream of " + table.name);
  drain(table);
}

void Runner::check_stream(const ModelTable& table, const std::string& arn) {
  auto records = read_stream(store(), arn);
  if (!records) return expect_same("cannot read the stream: " + text_of(records.error()));
  if (front_) restore_times(*records, read_stream(*engine_, arn).value_or(std::vector<store::StreamRecord>()));
  expect_same(difference(table, still_kept(table.records, model_.now()), *records));
  expect_same(fault_of_positions(store(), arn, choice_.between(0, 1'000)));
}

void Runner::check_streams() {
  announce("check all streams");
  for (const auto& [name, table] : model_.tables) {
    if (!table.stream) continue;
    const auto described = store().describe_table(name);
    if (!described) return expect_same("refused with " + text_of(described.error()));
    check_stream(table, *described->latest_stream_arn);
  }
}

void Runner::check_table(const ModelTable& table) {
  const auto described = store().describe_table(table.name);
  if (!described) return expect_same("refused with " + text_of(described.error()));
  expect_same(difference(table, *described));
  PageOperation everything;
  everything.table = table.name;
  read_order(everything);
  for (const ModelIndex& index : table.indexes) {
    everything.index = index.name;
    if (!index.filling && failure_.empty()) read_order(everything);
  }
  drain(table);
}

void Runner::check_everything() {
  announce("check everything");
  const auto listed = store().list_tables({});
  if (!listed) return expect_same("refused with " + text_of(listed.error()));
  std::vector<std::string> names;
  for (const auto& [name, table] : model_.tables) names.push_back(name);
  if (listed->table_names != names) expect_same("other tables are listed");
  for (const auto& [name, table] : model_.tables)
    if (failure_.empty()) check_table(table);
  if (failure_.empty()) check_streams();
}

}  // namespace postino::model
