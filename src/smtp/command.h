// The commands of a mail transaction, with the parameters that the server knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "smtp/capabilities.h"

namespace postino::smtp {

// Can it stand between the angle brackets of a command, and nothing of it outside them? Not a check of the address:
// that it cannot become a second command, or a parameter.
bool fits_in_path(std::string_view address);

struct MailParameters {
  std::uint64_t size = 0;
  bool eight_bit = false;
  bool utf8 = false;  // an address in the envelope or in the header is not ASCII
  std::string_view envelope_id;
};

void append_mail_command(std::string& out, std::string_view sender, const MailParameters& parameters,
                         const Capabilities& server);
void append_recipient_command(std::string& out, std::string_view address, const Capabilities& server);

}  // namespace postino::smtp
