// An embedded store of a test's own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "engine/memory_directory_testing.h"
#include "store/retry.h"

namespace postino::engine {

// 2026-01-02T03:04:05Z
inline constexpr base::TimePoint embedded_start = base::TimePoint(std::chrono::seconds(1'767'323'045));

class EmbeddedStore {
 public:
  // The test ends when it cannot be opened.
  explicit EmbeddedStore(std::shared_ptr<base::Clock> clock);

  Engine& engine() { return *engine_; }
  const base::Clock& clock() const { return *clock_; }
  base::Random& random() { return random_; }
  const std::filesystem::path& directory() const { return directory_.path(); }
  // Delays are for others to get on; here they are through in an instant.
  store::Retry retry();

  // Every item of a table.
  std::vector<item::Item> scan(const std::string& table, const std::optional<std::string>& index = std::nullopt);

 private:
  base::TemporaryDirectory directory_{memory_directory()};
  const std::shared_ptr<base::Clock> clock_;
  base::SeededRandom random_{1};
  std::unique_ptr<Engine> engine_;
};

}  // namespace postino::engine
