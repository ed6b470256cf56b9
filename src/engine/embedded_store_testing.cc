#include "engine/embedded_store_testing.h"

#include <thread>

#include "base/check.h"

namespace postino::engine {

EmbeddedStore::EmbeddedStore(std::shared_ptr<base::Clock> clock) : clock_(std::move(clock)) {
  Options options;
  options.directory = directory_.path() / "data";
  options.background = false;
  options.durability = Durability::relaxed;
  options.clock = clock_;
  options.random = std::make_shared<base::SeededRandom>(2);
  auto opened = Engine::open(options);
  CHECK(opened.has_value());
  engine_ = *std::move(opened);
}

store::Retry EmbeddedStore::retry() {
  return store::Retry(random_, [](base::Milliseconds) { std::this_thread::yield(); });
}

std::vector<item::Item> EmbeddedStore::scan(const std::string& table, const std::optional<std::string>& index) {
  std::vector<item::Item> items;
  store::ScanRequest request;
  request.table_name = table;
  request.index_name = index;
  do {
    const auto page = engine_->scan(request);
    CHECK(page.has_value());
    items.insert(items.end(), page->items.begin(), page->items.end());
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

}  // namespace postino::engine
