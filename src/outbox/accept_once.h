// For services that write e-mails themselves, under ids that they derive, and may write each several times.
#pragma once

#include <string>

#include "outbox/outbox.h"

namespace postino::outbox {

// Accepts it. One that is there already is a success if it is this one: of the same tenant, with the same tags. corrupt
// when it is another one, so that the caller takes no foreign e-mail for its own.
base::Result<void> accept_once(Outbox& outbox, const Payload& payload, const std::string& tenant);

}  // namespace postino::outbox
