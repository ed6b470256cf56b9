// Watches an e-mail until it is known whether it was sent.
#pragma once

#include <string>
#include <string_view>

#include "app/client/rest_client.h"
#include "app/console/console.h"
#include "base/clock.h"

namespace postino::app {

enum class Delivery {
  pending,
  sent,         // to all recipients
  partly_sent,  // to some
  not_sent,     // and nothing more happens unless an operator acts
};
// `is_partly_sent` is what the server says besides.
Delivery delivery_of(std::string_view status, bool is_partly_sent);

struct WatchOptions {
  base::Milliseconds timeout{60'000};
  bool json = false;  // print the e-mail in the end, and not its history as it grows
};

// Returns the exit status; an error when it cannot be told, also because the time is over.
base::Result<int> watch_email(RestClient& client, const std::string& id, const WatchOptions& options,
                              const Console& console);

}  // namespace postino::app
