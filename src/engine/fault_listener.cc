#include "engine/fault_listener.h"

namespace postino::engine {

void FaultListener::OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) {
  using Severity = rocksdb::Status::Severity;
  if (reason == rocksdb::BackgroundErrorReason::kWriteCallback || reason == rocksdb::BackgroundErrorReason::kMemTable)
    log_failed_ = true;
  if (error->IsNoSpace() && error->severity() == Severity::kFatalError)
    *error = rocksdb::Status(*error, Severity::kHardError);
}

void FaultListener::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error, bool* auto_recovery) {
  if (error.IsNoSpace()) *auto_recovery = false;
}

}  // namespace postino::engine
