// The objects that items of the support desk refer to, of a store that no server uses: is each there, as it was
// written? Only of a directory; those of a bucket are on another machine.
#pragma once

#include <memory>
#include <string>

#include "app/settings/settings.h"
#include "base/random.h"
#include "engine/store_check.h"
#include "objects/item_objects.h"

namespace postino::app {

class ServiceObjects {
 public:
  explicit ServiceObjects(const Settings& settings);

  // Gets the items of a store one by one and in any order.
  engine::EachItem reader();

  // A line for each object that is missing or damaged.
  const engine::Findings& faults() const { return faults_; }

 private:
  void add(const item::Item& item);
  void compare(const objects::ObjectKind& kind, const std::string& digest, const item::Item& item);

  const objects::KeyedTable table_;
  const bool in_directory_;
  const base::SystemClock clock_;
  base::SystemRandom random_;
  std::unique_ptr<objects::ObjectStore> objects_;  // nullptr: there is no directory
  engine::Findings faults_;
};

}  // namespace postino::app
