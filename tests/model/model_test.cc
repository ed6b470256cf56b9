// Random operations against the store and the naive model. POSTINO_SEED replays one seed and nothing else;
// POSTINO_OPERATIONS says how many operations it gets.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "base/effort_testing.h"
#include "runner.h"

namespace postino::model {
namespace {

int environment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

// A seed decides about everything, so that it is all one needs to see a failure again.
RunSettings settings_of(std::uint64_t seed, int operations) {
  RunSettings settings;
  settings.seed = seed;
  settings.operations = environment("POSTINO_OPERATIONS", operations);
  switch (seed % 4) {
    case 0:  // few keys, so that everything collides
      settings.vocabulary.hash_values = 2;
      settings.vocabulary.range_values = 4;
      settings.table_count = 3;
      break;
    case 1:
      break;
    case 2:  // many keys, so that filling an index takes several rounds
      settings.vocabulary.hash_values = 20;
      settings.vocabulary.range_values = 30;
      settings.table_count = 1;
      break;
    default:  // large items, so that pages end at their limit in bytes
      settings.vocabulary.hash_values = 3;
      settings.vocabulary.range_values = 12;
      settings.vocabulary.padding = 150'000;
      settings.operations /= 8;
  }
  if (seed % 5 == 0) settings.durability = engine::Durability::synced;
  return settings;
}

std::string run(std::uint64_t seed, int operations) {
  const char* replayed = std::getenv("POSTINO_SEED");
  if (replayed != nullptr) seed = std::strtoull(replayed, nullptr, 10);
  std::cout << "POSTINO_SEED=" << seed << std::endl;
  return Runner(settings_of(seed, operations)).run();
}

// Several tests of a few seeds each, so that they can run side by side.
class ModelTest : public testing::TestWithParam<int> {};

TEST_P(ModelTest, AgreesWithTheStore) {
  const int operations = 150 * base::test_effort();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::string failure = run(static_cast<std::uint64_t>(GetParam()) * 100 + seed, operations);
    ASSERT_TRUE(failure.empty()) << failure;
    if (std::getenv("POSTINO_SEED") != nullptr) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, testing::Range(1, 6));

TEST(ModelRandomTest, AgreesWithTheStore) {
  const std::string failure = run(std::random_device()(), 600 * base::test_effort());
  ASSERT_TRUE(failure.empty()) << failure;
}

}  // namespace
}  // namespace postino::model
