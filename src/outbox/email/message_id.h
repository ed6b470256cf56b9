// The Message-ID of an e-mail, which is the same however often it is built and sent.
#pragma once

#include <string>

#include "base/result.h"

namespace postino::outbox {

// "17@shop.example", without angle brackets: with the configured domain or, if that is empty, that of the sender, in
// ASCII. invalid when the sender's domain cannot be.
base::Result<std::string> message_id_of(const std::string& email_id, const std::string& sender,
                                        const std::string& configured_domain);

}  // namespace postino::outbox
