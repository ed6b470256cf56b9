// The benchmarks of the engine. Each runs in a process of its own, so that none sees what another left in memory.
#pragma once

#include <filesystem>

#include "report.h"
#include "rounds.h"

namespace postino::bench {

struct BenchmarkRun {
  std::filesystem::path directory;  // empty, and the benchmark's own
  Plan plan;
  bool quick = false;
  Report report;
};

void put_items(BenchmarkRun& run);
void put_indexed_items(BenchmarkRun& run);
void get_items(BenchmarkRun& run);
void query_items(BenchmarkRun& run);
void write_conditionally(BenchmarkRun& run);
void write_many_at_once(BenchmarkRun& run);
void hold_a_million_items(BenchmarkRun& run);
void watch_traffic(BenchmarkRun& run);
void recover(BenchmarkRun& run);

}  // namespace postino::bench
