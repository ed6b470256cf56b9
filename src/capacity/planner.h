// The capacity planner as others use it: estimates with one price book, and what the store's own traffic would cost.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "capacity/observation.h"
#include "capacity/price_book.h"
#include "capacity/traffic_watch.h"
#include "store/store.h"

namespace postino::capacity {

// Any thread.
class Planner {
 public:
  // Calculates, and watches nothing.
  explicit Planner(PriceBook prices) : prices_(std::move(prices)) {}
  // `watch` is told of the traffic of the store, which must outlive the planner. `own_tables` are those of services of
  // this program that have indexes, and `services` all.
  Planner(PriceBook prices, store::Store& store, std::shared_ptr<TrafficWatch> watch, std::set<std::string> own_tables,
          ServiceNames services = {})
      : prices_(std::move(prices)),
        store_(&store),
        watch_(std::move(watch)),
        own_tables_(std::move(own_tables)),
        services_(std::move(services)) {}

  const PriceBook& prices() const { return prices_; }

  // The estimate for a workload that is read from JSON, as JSON. nullopt, with the rules that it breaks in the errors.
  std::optional<std::string> estimate_json(json::Element workload, json::FieldErrors& errors,
                                           InputForm form = InputForm::json) const;
  // The same by the formulas and prices of former_calculator.h.
  static std::optional<std::string> former_json(json::Element load, json::FieldErrors& errors);

  bool is_watching() const { return watch_ != nullptr; }

  // What has been seen so far; only for one that watches. Fails when the tables cannot be described. On a store that
  // others use, too, these are the tables of the services, and those that were used.
  base::Result<Observation> observe() const;
  // Begins to watch again.
  void restart() const { watch_->restart(); }

 private:
  const PriceBook prices_;
  store::Store* const store_ = nullptr;
  const std::shared_ptr<TrafficWatch> watch_;
  const std::set<std::string> own_tables_;
  const ServiceNames services_;
};

}  // namespace postino::capacity
