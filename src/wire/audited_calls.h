// What the audit has of calls of DynamoDB's API: of all that change tables and their settings, and of what is refused.
#pragma once

#include <string>
#include <string_view>

#include "access/audit.h"
#include "wire/protocol/operation.h"
#include "wire/signature/authentication.h"

namespace postino::wire {

// Does it change tables, settings of them or backups? Reads and writes of items are told only when they are refused.
bool is_audited(const Operation& operation);

access::AuditEvent audit_event(const Operation& operation, const Signer& signer, std::string from,
                               std::string_view body);

// What a caller is told whose call cannot be written down.
Reply audit_not_written();

}  // namespace postino::wire
