// The contract of stores: each test runs on the embedded store, on the same store over HTTP, and as far as the service
// goes, on a service that nobody here wrote.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "local_service.h"

namespace postino::remote {

enum class Place { embedded, remote, dynalite };

// What not every place can do. Items, conditions, queries, pages, batches and tables are everywhere.
enum class Ability {
  transactions,
  streams,
  expiry,
  recovery,
  settings,  // of tables: table classes, protection, streams
  upkeep,    // indexes are made by upkeep, which the test lets run
  refused_items,
  collection_sizes,
  wording,  // of all refusals, to the letter
  many_threads,
};
bool can(Place place, Ability ability);
std::vector<Place> places_with(Ability ability);

// Requests in few words.
store::PutItemRequest put(const std::string& table, item::Item item);
store::GetItemRequest get(const std::string& table, item::Key key);
store::UpdateItemRequest update(const std::string& table, item::Key key, const std::string& expression,
                                item::Map values = {});
store::DeleteItemRequest remove(const std::string& table, item::Key key);

// "ValidationException: message"; "" when there is no error.
template <class T>
std::string refusal_of(const store::Answer<T>& answer) {
  if (answer) return "";
  return std::string(store::error_name(answer.error().type)) + ": " + answer.error().message;
}

class StoreTest : public testing::TestWithParam<Place> {
 protected:
  StoreTest();

  store::Store& store();
  engine::Engine& engine() { return embedded_.engine(); }
  base::ManualClock& clock() { return *clock_; }

  // Tables are active when these return. A table with the string key "pk", and the number key "sk" when asked for.
  void create_table(const std::string& name, bool with_range = false);
  // The keys pk and sk, a global index by-state (state, sk) and a local one by-rank (pk, rank).
  void create_indexed_table(const std::string& name);

 private:
  void use_dynalite();
  void create(const store::CreateTableRequest& request);

  std::shared_ptr<base::ManualClock> clock_;
  engine::EmbeddedStore embedded_;
  std::unique_ptr<LocalService> service_;
  base::SeededRandom random_{6};
  std::unique_ptr<RemoteStore> dynalite_;
};

std::string name_of_place(const testing::TestParamInfo<Place>& info);

#define ON_EVERY_STORE(fixture)                                                                               \
  INSTANTIATE_TEST_SUITE_P(Stores, fixture, testing::Values(Place::embedded, Place::remote, Place::dynalite), \
                           name_of_place)
#define ON_STORES_WITH(fixture, ability) \
  INSTANTIATE_TEST_SUITE_P(Stores, fixture, testing::ValuesIn(places_with(ability)), name_of_place)

}  // namespace postino::remote
