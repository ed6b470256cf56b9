// Kills a process that counts at random moments. In the end the figures are exact, and its file of changes has each
// change once.
//
// POSTINO_SEED repeats the choices; POSTINO_TEST_EFFORT multiplies the kills.
#include <fstream>
#include <iostream>
#include <random>

#include "base/effort_testing.h"
#include "metrics/subscribers.h"
#include "support_desk.h"
#include "writer_process.h"

namespace postino::metrics {
namespace {

std::uint64_t choose_seed() {
  const char* given = std::getenv("POSTINO_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

// The sequence numbers of all changes that the stream has.
std::vector<std::string> streamed(store::Store& store) {
  std::vector<std::string> sequences;
  const auto subscription = store.subscribe(tickets_table, std::nullopt);
  CHECK(subscription);
  while (true) {
    const auto records = (*subscription)->next(store::max_records_per_read, base::Milliseconds(0));
    CHECK(records);
    if (records->empty()) return sequences;
    for (const store::StreamRecord& record : *records) sequences.push_back(record.sequence_number.text());
  }
}

std::vector<std::string> written(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> sequences;
  const std::string begin = R"({"sequence":")";
  for (const std::filesystem::path& file : files) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.starts_with(begin) && line.ends_with("}")) << line;
      sequences.push_back(line.substr(begin.size(), 21));
    }
  }
  return sequences;
}

TEST(MetricsKillTest, FiguresAreExactAfterKillsAtRandomMoments) {
  const std::uint64_t seed = choose_seed();
  std::cout << "POSTINO_SEED=" << seed << std::endl;
  std::mt19937_64 random(seed);
  const base::TemporaryDirectory directory;
  const int kills = 12 * base::test_effort();
  for (int round = 0; round < kills; ++round) {
    crash::WriterProcess worker({METRICS_WORKER, directory.path().string(), std::to_string(seed + round)});
    // From the first moment to a few thousand changes.
    const std::uint64_t moment = random() % 4 == 0 ? random() % 10 : random() % 1'500;
    for (std::uint64_t i = 0; i < moment; ++i) ASSERT_TRUE(worker.next_line()) << "it ended by itself";
    EXPECT_TRUE(worker.kill());
  }

  auto opened = engine::Engine::open({.directory = directory.path() / "data"});
  ASSERT_TRUE(opened);
  store::Store& store = **opened;
  const base::SystemClock clock;
  base::SystemRandom chance;
  const store::Retry retry(chance, [](base::Milliseconds) { std::this_thread::yield(); });
  FollowerOptions options = following_at_once("checker");
  options.keeper.alone = true;
  const Source source = ticket_source(tickets_table);
  {
    Counter counter(store, source, clock, retry);
    Follower follower(store, options, counter, clock, chance, retry);
    while (follower.run_once() != Follower::Round::waiting) {
    }
    EXPECT_EQ(follower.counts().begun, 0U) << "they are not counted again";
    Subscribers subscribers(store, metrics_table, options, clock, chance, retry);
    ASSERT_TRUE(subscribers.add({.name = "lines",
                                 .table = tickets_table,
                                 .target = FileSinkOptions{.directory = directory.path() / "lines", .name = ""}}));
    Follower& lines = *subscribers.follower("lines");
    while (lines.run_once() != Follower::Round::waiting) {
    }
  }
  EXPECT_EQ(stored_figures(store), true_figures(store, source, clock.now()));
  const std::vector<std::string> changes = streamed(store);
  EXPECT_GT(changes.size(), 100U);
  EXPECT_EQ(written(directory.path() / "lines"), changes);
  std::cout << kills << " kills, " << changes.size() << " changes" << std::endl;
}

}  // namespace
}  // namespace postino::metrics
