// Where payloads and built messages are kept: too large for the ledger, which names them by path.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace postino::outbox {

enum class SpoolKind { payload, message };

struct SpoolObject {
  SpoolKind kind = SpoolKind::payload;
  std::string id;  // of the e-mail
  base::TimePoint created;
  std::string bytes;
  base::TimePoint keep_until;
};

// Safe to call from any thread. Nothing that was written is ever overwritten.
class Spool {
 public:
  virtual ~Spool() = default;

  // Durable when it returns the path.
  virtual base::Result<std::string> write(const SpoolObject& object) = 0;
  // not_found when it is gone, corrupt when it is not whole.
  virtual base::Result<std::string> read(const std::string& path) = 0;
  virtual base::Result<void> remove(const std::string& path) = 0;
};

// "2026/11/<id>.json" or ".eml", with something before the ending that tells it from others.
std::string spool_path(const SpoolObject& object, const std::string& distinction);

}  // namespace postino::outbox
