// Who did what, when and from where, and whether it was allowed: for those who have something to tell.
//
//   TRY_VOID(audit.record({.actor = "anna", .kind = AuditEvent::user, .action = "eraseCustomer", .subject = id}));
//
// What is done is told before it is done, so that nothing is done without a trace. What was refused, or has failed, is
// told afterwards. See docs/access.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::access {

struct AuditEvent {
  // Whom `actor` names.
  static constexpr std::string_view user = "user";
  static constexpr std::string_view api_key = "api_key";
  static constexpr std::string_view access_key = "access_key";  // of DynamoDB's API
  static constexpr std::string_view local = "local";            // a program on this machine, where there are no keys
  static constexpr std::string_view unknown = "unknown";        // a caller without a right key, or password
  static constexpr std::string_view server = "server";          // this program

  static constexpr std::string_view allowed = "allowed";  // and about to be done
  static constexpr std::string_view refused = "refused";
  static constexpr std::string_view failed = "failed";  // it was allowed, and not done; `detail` says why

  // Of each, the first 512 bytes count. No secrets, and nothing about a person beyond names of callers and ids.
  std::string actor;
  std::string_view kind = unknown;
  std::string tenant = {};
  std::string from = {};  // the address
  std::string action;     // the name of the operation: "cancelEmail", "dynamodb:DeleteTable"
  std::string subject = {};
  std::string_view result = allowed;
  std::string detail = {};
  std::string request_id = {};
};

// Safe to use from any thread.
class Audit {
 public:
  using Done = std::function<void(base::Result<void>)>;

  virtual ~Audit() = default;

  // Takes the event and returns at once; it is written soon. Of refusals, which strangers can cause as often as they
  // like, only so many are written in a second; how many were left out is written.
  virtual void note(AuditEvent event) = 0;
  // `done` is called, on any thread, when the event is on disk; with an error when it may not be soon, and then what it
  // tells of must not be done.
  virtual void record(AuditEvent event, Done done) = 0;
  // Waits for that, for a few seconds at most.
  base::Result<void> record(AuditEvent event);
};

}  // namespace postino::access
