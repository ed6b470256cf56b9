// What goes back to a client: a body, and the exception it tells of, if any.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "store/error.h"

namespace postino::wire {

inline constexpr int first_server_error = 500;  // among statuses

struct Reply {
  int status = 200;
  std::string body;
  std::string error;  // the exception's name without its namespace; empty when the operation succeeded
  std::shared_ptr<base::MemoryBudget::Share> memory = nullptr;  // as in http::Response
};

inline Reply success(std::string body) { return {200, std::move(body), {}}; }

// Everything the store refuses.
Reply failure(const store::Error& error);

// JSON of the wrong type, or (without a message) no JSON at all.
Reply serialization_failure(std::string_view message);
Reply unknown_operation();
// What signature checks say: type is the exception's name.
Reply authentication_failure(std::string_view type, std::string_view message);

}  // namespace postino::wire
