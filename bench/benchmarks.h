// The benchmarks of the engine. Each runs in a process of its own, so that none sees what another left in memory.
#pragma once

#include <filesystem>

#include "report.h"
#include "rounds.h"

namespace postino::bench {

struct Course {
  std::filesystem::path directory;  // empty, and the benchmark's own
  Plan plan;
  bool quick = false;
  Report report;
};

void put_items(Course& course);
void put_indexed_items(Course& course);
void get_items(Course& course);
void query_items(Course& course);
void write_conditionally(Course& course);
void write_many_at_once(Course& course);
void hold_a_million_items(Course& course);

}  // namespace postino::bench
