#include "app/access/audit_service.h"

namespace postino::app {

AuditService::AuditService(store::Store& store, const access::AuditOptions& options, const base::Clock& clock)
    : log_(store, options, clock, random_),
      reader_(store, options.table, clock,
              store::Retry(random_, [this](base::Milliseconds delay) { pause_.wait(delay); })) {}

base::Result<std::unique_ptr<AuditService>> AuditService::create(store::Store& store,
                                                                 const access::AuditOptions& options,
                                                                 const base::Clock& clock) {
  TRY_VOID(access::prepare_audit(store, options));
  return std::unique_ptr<AuditService>(new AuditService(store, options, clock));
}

}  // namespace postino::app
