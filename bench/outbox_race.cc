#include "outbox_race.h"

#include "child_process.h"

namespace postino::bench {

std::vector<Pace> race_processes(const Plan& plan, const std::vector<Racer>& racers) {
  struct Cost {
    double cpu_seconds = 0;
    double operations = 0;
  };
  std::vector<Cost> costs(racers.size());
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < racers.size(); ++i)
    turns.push_back([&racer = racers[i], &cost = costs[i]](Duration duration) -> Work {
      const double before = cpu_seconds(racer.process);
      const Work work = racer.turn(duration);
      cost.cpu_seconds += cpu_seconds(racer.process) - before;
      cost.operations += static_cast<double>(work.operations);
      return work;
    });
  std::vector<Pace> paces = compete(plan, turns);
  for (std::size_t i = 0; i < racers.size(); ++i)
    paces[i].cpu_microseconds = costs[i].cpu_seconds * 1e6 / costs[i].operations;
  return paces;
}

}  // namespace postino::bench
