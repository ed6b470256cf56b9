#include "outbox/ledger/spool.h"

#include "base/timestamp.h"

namespace postino::outbox {

std::string spool_path(const SpoolObject& object, const std::string& distinction) {
  const std::string day = base::format_day(object.created);
  return day.substr(0, 4) + "/" + day.substr(4, 2) + "/" + object.id + (distinction.empty() ? "" : "-" + distinction) +
         (object.kind == SpoolKind::payload ? ".json" : ".eml");
}

}  // namespace postino::outbox
