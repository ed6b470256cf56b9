// Changes that people ask for, of any number of e-mails, callbacks or suppressed addresses at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/client/rest_client.h"
#include "app/console/console.h"

namespace postino::app {

struct EmailChange {
  std::string_view name;              // "cancel"
  std::string_view operation;         // "cancelEmail"
  std::string_view done;              // "cancelled"
  std::string_view parameter = "id";  // of the path: what names one
  std::string_view noun = "e-mail";
};
const std::vector<EmailChange>& all_email_changes();
const EmailChange& callback_replay();
const EmailChange& suppression();
const EmailChange& unsuppression();

struct EmailChangeOptions {
  std::vector<std::string> ids;  // or addresses
  std::string reason;            // may be empty
  bool json = false;             // print a line of JSON for each
};

// One after the other; what is refused is told, and does not keep the others back. Stops where none of the others can
// work out either. Returns the exit status.
int change_emails(RestClient& client, const EmailChange& change, const EmailChangeOptions& options,
                  const Console& console);

}  // namespace postino::app
