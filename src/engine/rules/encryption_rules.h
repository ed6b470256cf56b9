// The rules for encryption settings. The keys themselves are not ours: only their names are kept.
#pragma once

#include <string>

#include "engine/storage/options.h"
#include "store/error.h"
#include "store/table.h"

namespace postino::engine {

store::Answer<void> check_encryption(const store::EncryptionSpecification& specification);

// The specification as it is kept and shown: enabled with KMS, and the key's ARN instead of whatever named it.
store::EncryptionSpecification resolve_encryption(const store::EncryptionSpecification& specification,
                                                  const Options& options);

}  // namespace postino::engine
