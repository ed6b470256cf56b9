// What a million items cost: to load, in memory, on disk; and whether a request costs more among them than among few.
#include <fstream>
#include <string>

#include "benchmarks.h"
#include "engine_store.h"
#include "mails.h"
#include "raw_store.h"

namespace postino::bench {

namespace {

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes << 10;
  return 0;
}

std::uint64_t disk_use(const std::filesystem::path& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    std::error_code gone;  // files come and go while the store tidies up
    const std::uint64_t size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

// Loading is one turn, however long it takes.
template <class Store>
Pace load(Store& store, std::uint64_t count) {
  const Turn turn = [&](Duration) -> Work {
    const auto begin = std::chrono::steady_clock::now();
    store.load(count);
    return {count, std::chrono::steady_clock::now() - begin};
  };
  return compete({.rounds = 1}, {turn}).front();
}

}  // namespace

void hold_a_million_items(BenchmarkRun& run) {
  const std::uint64_t few = 1'000;
  const std::uint64_t many = run.quick ? 100'000 : 1'000'000;
  const std::string name = std::to_string(many) + " items of 1 KB";

  // The engine comes first, so that the peak of this process is its own.
  const auto directory = run.directory / "engine";
  EngineStore engine(directory, Shape::plain);
  const Pace loading = load(engine, many);
  run.report.fact(name + ": peak memory", megabytes(peak_memory()));
  run.report.fact(name + ": on disk when loaded", megabytes(disk_use(directory)));
  engine.reopen();
  run.report.fact(name + ": on disk after a restart", megabytes(disk_use(directory)));

  RawStore raw(run.directory / "raw");
  const Pace raw_loading = load(raw, many);
  raw.reopen();
  run.report.row("load " + name + ", 16 threads, batches of 25", loading, raw_loading);

  EngineStore small_engine(run.directory / "small-engine", Shape::plain);
  RawStore small_raw(run.directory / "small-raw");
  small_engine.load(few);
  small_raw.load(few);
  small_engine.reopen();
  small_raw.reopen();
  const auto gets = compete(
      run.plan,
      {by_threads(1, [&] { return small_raw.getting(few); }), by_threads(1, [&] { return small_engine.getting(few); }),
       by_threads(1, [&] { return raw.getting(many); }), by_threads(1, [&] { return engine.getting(many); })});
  run.report.row("get among " + std::to_string(few) + " items", gets[1], gets[0]);
  run.report.row("get among " + std::to_string(many) + " items", gets[3], gets[2]);
  const auto puts = compete(run.plan, {by_threads(16, [&] { return small_raw.replacing(few); }),
                                       by_threads(16, [&] { return small_engine.replacing(few); }),
                                       by_threads(16, [&] { return raw.replacing(many); }),
                                       by_threads(16, [&] { return engine.replacing(many); })});
  run.report.row(with_threads("put among " + std::to_string(few) + " items", 16), puts[1], puts[0]);
  run.report.row(with_threads("put among " + std::to_string(many) + " items", 16), puts[3], puts[2]);
}

}  // namespace postino::bench
