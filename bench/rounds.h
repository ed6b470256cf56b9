// Comparing on a machine that is never quiet: contestants take turns in short rounds, and each one's median counts.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace postino::bench {

using Duration = std::chrono::milliseconds;

struct Pace {
  int rounds = 5;
  Duration turn{600};
};

// A contestant's turn: works for about that long and returns operations per second.
using Turn = std::function<double(Duration)>;

// The median rate of each contestant.
std::vector<double> compete(const Pace& pace, const std::vector<Turn>& contestants);

// One operation, with all it needs for the next one.
using Operation = std::function<void()>;

// A turn in which each of some threads makes itself an operation and repeats it.
Turn by_threads(int threads, std::function<Operation()> make_operation);

// A turn in which one thread starts operations, with up to `limit` unfinished ones at a time. An operation calls what
// it is given once it is done, on any thread.
using Starter = std::function<void(std::function<void()> done)>;
Turn by_callbacks(int limit, std::function<Starter()> make_starter);

}  // namespace postino::bench
