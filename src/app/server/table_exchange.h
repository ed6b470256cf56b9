// Exports and imports of tables, as the settings allow them.
#pragma once

#include <memory>

#include "app/settings/settings.h"
#include "base/clock.h"
#include "exchange/exchange.h"
#include "signature/key_source.h"

namespace postino::app {

// Ends before the store does.
class TableExchange {
 public:
  // nullptr when the settings name no place, or the store keeps its tables elsewhere. Begins what was under way.
  static base::Result<std::unique_ptr<TableExchange>> open(store::Store& store, const Settings& settings,
                                                           const base::Clock& clock,
                                                           std::shared_ptr<signature::KeySource> keys);
  ~TableExchange();

  exchange::Exchange& exchange();
  // What is under way goes on after the next start.
  void stop();

 private:
  struct Parts;
  explicit TableExchange(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::app
