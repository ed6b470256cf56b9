// The audit of a server: its table, who writes to it, and who reads it.
#pragma once

#include <memory>

#include "access/audit_log.h"
#include "access/audit_reader.h"
#include "base/random.h"
#include "base/this_thread.h"
#include "store/store.h"

namespace postino::app {

// Both may be null.
struct AuditAccess {
  access::Audit* audit = nullptr;
  access::AuditReader* reader = nullptr;
};

class AuditService {
 public:
  // Makes the table, unless it is there. Store and clock must outlive it.
  static base::Result<std::unique_ptr<AuditService>> create(store::Store& store, const access::AuditOptions& options,
                                                            const base::Clock& clock);

  access::AuditLog& log() { return log_; }
  AuditAccess access() { return {&log_, &reader_}; }

 private:
  AuditService(store::Store& store, const access::AuditOptions& options, const base::Clock& clock);

  base::SystemRandom random_;
  base::Pause pause_;
  access::AuditLog log_;
  access::AuditReader reader_;
};

}  // namespace postino::app
