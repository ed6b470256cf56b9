#include "outbox_race.h"

#include <algorithm>
#include <limits>

#include "child_process.h"

namespace postino::bench {

std::vector<Pace> race_processes(const Plan& plan, const std::vector<Racer>& racers) {
  std::vector<double> least(racers.size(), std::numeric_limits<double>::max());
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < racers.size(); ++i)
    turns.push_back([&racer = racers[i], &cost = least[i]](Duration duration) -> Work {
      const double before = cpu_seconds(racer.process);
      const Work work = racer.turn(duration);
      cost = std::min(cost, (cpu_seconds(racer.process) - before) * 1e6 / static_cast<double>(work.operations));
      return work;
    });
  std::vector<Pace> paces = compete(plan, turns);
  for (std::size_t i = 0; i < racers.size(); ++i) paces[i].cpu_microseconds = least[i];
  return paces;
}

}  // namespace postino::bench
