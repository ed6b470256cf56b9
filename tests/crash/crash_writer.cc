// Writes to a store from several threads until it is killed, and tells of every operation on standard output: its line
// before it begins, then what became of it.
//
//   crash_writer <directory> <round> <seed> <epoch second>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "announcement.h"
#include "engine/engine.h"
#include "operation.h"

namespace postino::crash {
namespace {

constexpr int thread_count = 8;
constexpr int own_slots = 30;
constexpr int shared_slots = 4;
constexpr int first_shared_slot = 10'000;

// Real time from a given start on, so that the store's clock never runs backwards from one process to the next.
class ShiftedClock final : public base::Clock {
 public:
  explicit ShiftedClock(base::TimePoint start) : start_(start) {}
  base::TimePoint now() const override {
    const auto passed = std::chrono::steady_clock::now() - began_;
    return start_ + std::chrono::duration_cast<base::Milliseconds>(passed);
  }

 private:
  const base::TimePoint start_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void announce(char mark, const std::string& text) {
  const std::string line = announcement(mark, text);
  // Short writes to a pipe are never mixed with others.
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::_Exit(EXIT_FAILURE);
}

class Writer {
 public:
  Writer(store::Store& store, const base::Clock& clock, int round, int number, std::uint64_t seed)
      : store_(store), clock_(clock), number_(number), random_(seed + static_cast<std::uint64_t>(number)) {
    last_id_ = (static_cast<OperationId>(round) * thread_count + number) * 1'000'000;
  }

  void run() {
    while (true) {
      Operation operation = next();
      operation.id = ++last_id_;
      announce(mark_intent, to_line(operation));
      const Result result = perform(store_, operation);
      const std::string id = std::to_string(operation.id);
      if (result.outcome == Outcome::acknowledged) announce(mark_acknowledged, id);
      if (result.outcome == Outcome::refused) announce(mark_refused, id);
      if (result.outcome == Outcome::failed) announce(mark_failed, id + " " + result.message);
    }
  }

 private:
  int roll(int sides) { return static_cast<int>(random_() % static_cast<std::uint64_t>(sides)); }

  Operation next() {
    Operation operation;
    if (number_ == 0 && roll(60) == 0) {
      operation.type = next_control();
      return operation;
    }
    if (roll(5) == 0) {
      static constexpr std::int64_t lives[] = {1, 2, 180, 3 * 3'600};
      operation.expires = base::epoch_seconds(clock_.now()) + lives[roll(4)];
    }
    switch (roll(4)) {
      case 0:
        fill_batch(operation);
        break;
      case 1:
        fill_transaction(operation);
        break;
      default:
        fill_single(operation);
    }
    return operation;
  }

  // The next step of index and stream depends on what there is, which a crash may have left either way.
  OperationType next_control() {
    if (roll(2) == 0) {
      const auto notes = store_.describe_table(table_name(TableNumber::notes));
      return notes && notes->stream ? OperationType::disable_stream : OperationType::enable_stream;
    }
    const auto orders = store_.describe_table(table_name(TableNumber::orders));
    bool present = false;
    for (const store::IndexDescription& index : orders->global_indexes) present |= index.name == "by_tag";
    return present ? OperationType::remove_index : OperationType::create_index;
  }

  int own_slot() { return number_ * 100 + roll(own_slots); }
  int shared_slot() { return first_shared_slot + roll(shared_slots); }

  OperationId look(TableNumber table, int slot) {
    store::GetItemRequest request;
    request.table_name = table_name(table);
    request.key = key_of(table, slot);
    request.consistent_read = true;
    const auto answer = store_.get_item(request);
    if (!answer) announce(mark_failed, "0 " + answer.error().message);
    return answer && answer->item ? operation_of(*answer->item) : nothing;
  }

  Action make_action(TableNumber table, int slot) {
    Action action;
    action.table = table;
    action.slot = slot;
    action.seen = look(table, slot);
    const int die = roll(6);
    action.type = die < 3                             ? ActionType::put
                  : die < 5 || action.seen == nothing ? ActionType::update
                                                      : ActionType::remove;
    // A removal tells in the stream only what it removed, so among several writers it must know that.
    action.conditional = roll(2) == 0 || (action.type == ActionType::remove && slot >= first_shared_slot);
    return action;
  }

  void fill_single(Operation& operation) {
    const auto table = static_cast<TableNumber>(roll(3));
    const bool shared = table != TableNumber::notes && roll(3) == 0;
    operation.actions.push_back(make_action(table, shared ? shared_slot() : own_slot()));
  }

  void fill_batch(Operation& operation) {
    operation.type = OperationType::batch;
    const int first = roll(own_slots);
    const int count = 1 + roll(8);
    for (int i = 0; i < count; ++i) {
      Action action = make_action(static_cast<TableNumber>(roll(3)), number_ * 100 + (first + i) % own_slots);
      if (action.type == ActionType::update) action.type = ActionType::put;
      action.conditional = false;
      operation.actions.push_back(action);
    }
  }

  void fill_transaction(Operation& operation) {
    operation.type = OperationType::transaction;
    operation.token = roll(2) == 0;
    const int first = roll(own_slots);
    const int count = 2 + roll(4);
    for (int i = 0; i < count; ++i) {
      const auto table = static_cast<TableNumber>(roll(2));
      Action action = make_action(table, number_ * 100 + (first + i) % own_slots);
      if (action.type == ActionType::remove) action.conditional = true;
      operation.actions.push_back(action);
    }
    if (roll(2) == 0) {
      Action shared = make_action(TableNumber::ledger, shared_slot());
      // The stream does not tell which of two transactions in flight removed an item, so none does.
      if (shared.type == ActionType::remove) shared.type = ActionType::update;
      operation.actions.push_back(shared);
    }
    if (roll(4) == 0) {
      Action check = make_action(TableNumber::orders, shared_slot());
      check.type = ActionType::check;
      check.conditional = true;
      operation.actions.push_back(check);
    }
  }

  store::Store& store_;
  const base::Clock& clock_;
  const int number_;
  std::mt19937_64 random_;
  OperationId last_id_ = 0;
};

int run(char** arguments) {
  const int round = std::atoi(arguments[2]);
  const std::uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
  engine::Options options;
  options.directory = arguments[1];
  options.clock = std::make_shared<ShiftedClock>(base::TimePoint(std::chrono::seconds(std::atoll(arguments[4]))));
  // Small and busy, so that kills meet flushes, compactions, expiry and backfill.
  options.memtable_bytes = 256 << 10;
  options.maintenance_interval = base::Milliseconds(20);

  announce(mark_opening, "");
  auto engine = engine::Engine::open(options);
  if (!engine) {
    announce(mark_failed, "0 " + engine.error().message);
    return EXIT_FAILURE;
  }
  announce(mark_ready, "");
  std::vector<std::thread> threads;
  for (int number = 0; number < thread_count; ++number)
    threads.emplace_back([&, number] { Writer(**engine, *options.clock, round, number, seed).run(); });
  for (std::thread& thread : threads) thread.join();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace postino::crash

int main(int argument_count, char** arguments) {
  if (argument_count != 5) {
    std::cerr << "usage: crash_writer <directory> <round> <seed> <epoch second>\n";
    return EXIT_FAILURE;
  }
  return postino::crash::run(arguments);
}
