// Changes of state that people ask for, of any number of e-mails at once.
#pragma once

#include <string>
#include <vector>

#include "app/client/rest_client.h"
#include "app/console/console.h"

namespace postino::app {

struct EmailChange {
  std::string action;  // as the API calls it: "cancel"
  std::string done;    // "cancelled"
  std::string help;
};
const std::vector<EmailChange>& all_email_changes();

// One after the other; what is refused is told, and does not keep the others back. Stops where none of the others can
// work out either. Returns the exit status.
int change_emails(RestClient& client, const EmailChange& change, const std::vector<std::string>& ids,
                  const std::string& reason, bool json, const Console& console);

}  // namespace postino::app
