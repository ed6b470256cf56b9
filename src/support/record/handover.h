// An e-mail that was promised and is to be brought to an outbox that shares no commits with the tickets' store.
#pragma once

#include <string>

#include "base/result.h"
#include "item/value.h"

namespace postino::support {

struct Handover {
  std::string email_id;
  std::string tenant;
  std::string payload;  // JSON, as the outbox takes it
};

item::Key handover_key(const std::string& email_id);
item::Item handover_item(const Handover& handover);
base::Result<Handover> read_handover(const item::Item& item);

}  // namespace postino::support
