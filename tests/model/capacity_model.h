// The capacity that writes must be reported to have consumed.
#pragma once

#include <vector>

#include "model_store.h"
#include "store/capacity.h"

namespace postino::model {

class CapacityModel {
 public:
  // `factor` is two in transactions.
  explicit CapacityModel(double factor) : factor_(factor) {}

  void add_write(const ModelTable& table, const Effect& effect);
  void add_read(const ModelTable& table, const std::optional<item::Item>& item, bool consistent);

  // Why these are not the units that were added; empty when they are. Tables with indexes still being filled are left
  // out, because only the store knows how far it is.
  std::string difference(const std::vector<store::ConsumedCapacity>& reported) const;

 private:
  double factor_;
  std::map<std::string, store::ConsumedCapacity> tables_;
  std::map<std::string, bool> unknown_;
};

}  // namespace postino::model
