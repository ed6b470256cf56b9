// What the ledger knows of an e-mail from its payload.
#pragma once

#include "outbox/email/email.h"
#include "outbox/email/payload.h"

namespace postino::outbox {

// Fills in sender, recipients, tags, the time to send it and whom to call back.
void describe(Email& email, const Payload& payload);

}  // namespace postino::outbox
