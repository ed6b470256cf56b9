// Comparing on a machine that is never quiet: contestants take turns in short rounds, and each one's best counts,
// because whatever else runs there can only slow them down.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace postino::bench {

using Duration = std::chrono::milliseconds;

struct Plan {
  int rounds = 7;
  Duration turn{400};
};

// How fast a contestant is, and what an operation costs the processor, which other programs disturb less.
struct Pace {
  double per_second = 0;
  double cpu_microseconds = 0;
};

// What was done in a turn.
struct Work {
  std::uint64_t operations = 0;
  std::chrono::duration<double> elapsed{};
};

// A contestant's turn: works for about that long.
using Turn = std::function<Work(Duration)>;

// The best of each contestant.
std::vector<Pace> compete(const Plan& plan, const std::vector<Turn>& contestants);

// One operation, with all it needs for the next one.
using Operation = std::function<void()>;

// A turn in which each of some threads makes itself an operation and repeats it.
Turn by_threads(int threads, std::function<Operation()> make_operation);

// A turn in which one thread starts operations, with up to `limit` unfinished ones at a time. An operation calls what
// it is given once it is done, on any thread.
using Starter = std::function<void(std::function<void()> done)>;
Turn by_callbacks(int limit, std::function<Starter()> make_starter);

}  // namespace postino::bench
