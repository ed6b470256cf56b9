// Watches an e-mail until it is known whether it was sent.
#pragma once

#include <string>
#include <string_view>

#include "app/console.h"
#include "app/rest_client.h"
#include "base/clock.h"

namespace postino::app {

enum class Course {
  under_way,
  sent,
  not_sent,  // and nothing more happens unless somebody does something
};
Course course_of(std::string_view status);

struct FollowOptions {
  base::Milliseconds timeout{60'000};
  bool json = false;  // print the e-mail in the end, and not its history as it grows
};

// Returns the exit status; an error when it cannot be told, also because the time is over.
base::Result<int> follow(RestClient& client, const std::string& id, const FollowOptions& options,
                         const Console& console);

}  // namespace postino::app
