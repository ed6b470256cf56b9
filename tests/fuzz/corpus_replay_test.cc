// Runs every fuzz target over its seeds, so that builds without libFuzzer do it too.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "targets.h"

namespace postino::fuzz {

static void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

std::vector<std::string> seeds(const char* name) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(FUZZ_CORPUS) / name)) {
    std::ifstream in(entry.path(), std::ios::binary);
    found.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return found;
}

class CorpusReplay : public testing::TestWithParam<Target> {};

TEST_P(CorpusReplay, EverySeedHolds) {
  const std::vector<std::string> inputs = seeds(GetParam().name);
  ASSERT_FALSE(inputs.empty());
  for (const std::string& input : inputs) GetParam().run(input);
}

// What a fuzzer tries first: beginnings of the seeds, and single bytes changed.
TEST_P(CorpusReplay, DamagedSeedsHold) {
  GetParam().run({});
  for (const std::string& input : seeds(GetParam().name)) {
    const std::size_t step = std::max<std::size_t>(1, input.size() / 64);
    for (std::size_t i = 0; i < input.size(); i += step) {
      GetParam().run(std::string_view(input).substr(0, i));
      for (const int bit : {0, 3, 7}) {
        std::string damaged = input;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
        GetParam().run(damaged);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, CorpusReplay, testing::ValuesIn(targets),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace postino::fuzz
