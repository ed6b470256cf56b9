// A store of one's own for a test: in a temporary directory, with a clock that stands still until it is moved.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "engine/memory_directory_testing.h"

namespace postino::engine {

// 2026-01-02T03:04:05Z
inline constexpr base::TimePoint engine_test_start = base::TimePoint(std::chrono::seconds(1'767'323'045));

// From DynamoDB's JSON; the test ends when it is malformed.
item::Item json(std::string_view text);

// The error's name, a colon and its message; "ok" when there is no error.
template <class Answer>
std::string outcome(const Answer& answer) {
  if (answer) return "ok";
  return std::string(store::error_name(answer.error().type)) + ": " + answer.error().message;
}

class EngineTest : public testing::Test {
 protected:
  EngineTest();

  store::Store& store() { return *engine_; }
  Engine& engine() { return *engine_; }
  base::ManualClock& clock() { return *clock_; }
  // Closes the store and opens it again.
  void reopen();

  // A table with on-demand billing. Keys are given as "name:T" with T one of S, N, B; the range key may be empty.
  static store::CreateTableRequest table(std::string name, std::string_view hash, std::string_view range = {});
  static void add_global_index(store::CreateTableRequest& request, std::string name, std::string_view hash,
                               std::string_view range = {},
                               store::ProjectionType projection = store::ProjectionType::all,
                               std::vector<std::string> non_key_attributes = {});
  static void add_local_index(store::CreateTableRequest& request, std::string name, std::string_view range,
                              store::ProjectionType projection = store::ProjectionType::all,
                              std::vector<std::string> non_key_attributes = {});
  void create(const store::CreateTableRequest& request);

  void put(const std::string& table_name, std::string_view item);
  // The item's JSON, or "" when there is none.
  std::string get(const std::string& table_name, std::string_view key);

  base::TemporaryDirectory directory_{memory_directory()};
  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine_test_start);
  Options options_;
  std::unique_ptr<Engine> engine_;
};

// A request with the placeholders given as JSON objects; empty text for none.
expr::Placeholders placeholders(std::string_view names, std::string_view values);

}  // namespace postino::engine
