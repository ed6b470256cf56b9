// Random operations over HTTP, compared with the naive model of a store. POSTINO_SEED replays one seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "base/effort_testing.h"
#include "local_service.h"
#include "runner.h"
#include "store/forwarding_store.h"

namespace postino::remote {
namespace {

// A store over HTTP, with the service that it calls.
class ServedStore final : public store::ForwardingStore {
 public:
  explicit ServedStore(std::unique_ptr<LocalService> service)
      : ForwardingStore(service->store()), service_(std::move(service)) {}

 private:
  std::unique_ptr<LocalService> service_;
};

TEST(RandomOperationsTest, ComeBackAsTheModelTells) {
  const char* replayed = std::getenv("POSTINO_SEED");
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    model::RunSettings settings;
    settings.seed = replayed == nullptr ? 9'000 + seed : std::strtoull(replayed, nullptr, 10);
    settings.operations = 40 * base::test_effort();
    settings.vocabulary.hash_values = 3;
    settings.front = [](engine::Engine& engine) {
      return std::make_unique<ServedStore>(std::make_unique<LocalService>(engine));
    };
    std::cout << "POSTINO_SEED=" << settings.seed << std::endl;
    EXPECT_EQ(model::Runner(settings).run(), "");
  }
}

}  // namespace
}  // namespace postino::remote
