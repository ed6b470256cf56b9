// The engine against raw RocksDB, in one run.
//
//   bench_engine [--quick] [name...]      names of benchmarks; all by default
//
// Prints ratios against the bars they are meant to reach; missing one is no failure, because the machine is never
// quiet. The data goes below the program's own directory, on a real disk, and is removed afterwards.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/temporary_directory.h"
#include "benchmarks.h"

namespace {

using postino::bench::BenchmarkRun;

struct Benchmark {
  std::string_view name;
  void (*run)(BenchmarkRun&);
};

constexpr Benchmark benchmarks[] = {
    {"put", postino::bench::put_items},
    {"indexed", postino::bench::put_indexed_items},
    {"get", postino::bench::get_items},
    {"query", postino::bench::query_items},
    {"conditional", postino::bench::write_conditionally},
    {"batch", postino::bench::write_many_at_once},
    {"million", postino::bench::hold_a_million_items},
    {"watch", postino::bench::watch_traffic},
    {"recovery", postino::bench::recover},
};

// In a process of its own. The number of bars that were missed, or nothing when it failed.
std::optional<int> run(const Benchmark& benchmark, bool quick, const std::filesystem::path& parent) {
  const postino::base::TemporaryDirectory directory(parent);
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    BenchmarkRun run{.directory = directory.path()};
    run.quick = quick;
    if (quick) run.plan = {.rounds = 3, .turn = std::chrono::milliseconds(200)};
    benchmark.run(run);
    ::_exit(std::min(run.report.below(), 100));
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 100) return std::nullopt;
  return WEXITSTATUS(status);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  const bool quick = std::ranges::find(words, "--quick") != words.end();
  std::vector<Benchmark> chosen;
  for (const std::string_view word : words)
    if (word != "--quick" && std::ranges::find(benchmarks, word, &Benchmark::name) == std::end(benchmarks)) {
      std::fprintf(stderr, "usage: bench_engine [--quick] [name...], with names out of:");
      for (const Benchmark& benchmark : benchmarks) std::fprintf(stderr, " %s", benchmark.name.data());
      std::fprintf(stderr, "\n");
      return 2;
    }
  const bool all = std::ranges::all_of(words, [](std::string_view word) { return word == "--quick"; });
  for (const Benchmark& benchmark : benchmarks)
    if (all || std::ranges::find(words, benchmark.name) != words.end()) chosen.push_back(benchmark);

  // An interrupted child ends; this process stays to remove the data.
  std::signal(SIGINT, SIG_IGN);
  const auto home = std::filesystem::canonical("/proc/self/exe").parent_path();
  postino::bench::Report::header();
  int below = 0;
  for (const Benchmark& benchmark : chosen) {
    const std::optional<int> missed = run(benchmark, quick, home);
    if (!missed) {
      std::fprintf(stderr, "the benchmark '%s' did not come to its end\n", benchmark.name.data());
      return 1;
    }
    below += *missed;
  }
  std::printf("%d below their bar\n", below);
  return 0;
}
