// How much memory the messages take that are being built, read and sent, in the whole process.
//
// Room is taken before the contents are read, by their size. Small messages never wait: those who work on them are few.
// Large ones wait in one line for all workers, so that none is overtaken for ever. A message that is larger than the
// whole limit has its turn when no other large one is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/memory_budget.h"

namespace postino::outbox {

// Safe to use from any thread.
class MessageMemory {
 public:
  // What is at most so large is small.
  static constexpr std::size_t small = 512 << 10;

  // The budget counts what is taken, and refusals: requests that were refused, and messages that had to wait.
  explicit MessageMemory(std::shared_ptr<base::MemoryBudget> budget) : budget_(std::move(budget)) {}

  // How many wait for room.
  std::size_t waiting() const;

 private:
  friend class MessageRoom;

  // The mutex is held.
  bool fits(std::size_t bytes) const;
  bool is_first(std::uint64_t number) const { return line_.empty() || *line_.begin() == number; }

  const std::shared_ptr<base::MemoryBudget> budget_;
  mutable std::mutex mutex_;
  int large_rooms_ = 0;
  std::uint64_t last_number_ = 0;
  std::set<std::uint64_t> line_;  // numbers of those who wait: the lowest is next
};

// The room for one message, or its place in the line. It is given back when this goes. For one thread at a time.
class MessageRoom {
 public:
  MessageRoom() = default;  // without limit
  // Empty. The memory must outlive it; nullptr: without limit.
  explicit MessageRoom(MessageMemory* memory) : memory_(memory) {}
  ~MessageRoom() { leave(); }
  MessageRoom(MessageRoom&& other) noexcept { *this = std::move(other); }
  MessageRoom& operator=(MessageRoom&& other) noexcept;

  // From now on it has so many bytes, with those it had. False when there is no room now: it has given back what it had
  // and waits in line, so the caller lets go of everything that is large, and tries again when has_come().
  [[nodiscard]] bool take(std::size_t bytes);
  // The same for callers that do not wait: false changes nothing.
  [[nodiscard]] bool try_take(std::size_t bytes);
  // For what is there already, whether or not it fits.
  void take_anyway(std::size_t bytes);
  // Gives back what is more than that.
  void shrink_to(std::size_t bytes);

  bool is_waiting() const { return number_ != 0; }
  // Is it the turn of this one, and is there room for what it needs?
  bool has_come() const;
  std::size_t bytes() const { return share_.bytes(); }

 private:
  void leave();
  // The mutex of the memory is held.
  void give_back();
  void occupy(std::size_t bytes);

  MessageMemory* memory_ = nullptr;
  base::MemoryBudget::Share share_;
  bool is_large_ = false;
  std::uint64_t number_ = 0;  // in the line; 0: it does not wait
  std::size_t needed_ = 0;    // what it waits for
};

}  // namespace postino::outbox
