// A call of the API as its handler sees it, and what it answers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/problem.h"
#include "api/target.h"
#include "base/clock.h"
#include "idempotency/guard.h"
#include "messages/service.h"
#include "net/http.h"
#include "outbox/outbox.h"

namespace postino::api {

struct Reply {
  int status = 200;
  std::string content_type;  // empty without a body
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};
using Outcome = base::Result<Reply, Problem>;
using Finish = std::function<void(Outcome)>;

inline constexpr std::string_view json_content_type = "application/json";
inline constexpr std::string_view message_content_type = "message/rfc822";

Reply json_reply(std::string body, int status = 200);
Reply no_content();
// A message to be kept in a file, not to be shown by a browser.
Reply message_reply(std::string message, const std::string& id);

// What handlers work with.
struct Services {
  outbox::Outbox& outbox;
  outbox::SandboxMailbox* mailbox;  // nullptr: mail goes to a relay
  messages::MessageService& messages;
  idempotency::Guard& request_keys;  // of calls that do not see to their Idempotency-Key themselves
  const base::Clock& clock;
  bool require_idempotency_key;
};

struct Page {
  std::string cursor;
  int limit = 0;
};

struct Call {
  const Services& services;
  const net::Request& request;  // its query and the type of its body have been checked
  const Caller& caller;
  std::vector<std::pair<std::string_view, std::string>> path_parameters;
  Query query;
  const outbox::ChangeNotes* notes = nullptr;  // of a change with an idempotency key

  const std::string& path_parameter(std::string_view name) const;
  // The path's {id}, in lower case as ids are.
  base::Result<std::string, Problem> email_id() const;

  base::Result<int, Problem> limit() const;
  base::Result<Page, Problem> page() const;

  // From a body {"reason": "..."}; empty when it has none, or there is no body.
  base::Result<std::string, Problem> reason() const;
};

// An error of the outbox for a call with a cursor: when it is the caller's fault, it is the cursor's.
template <class T>
base::Result<T, Problem> answered_page(base::Result<T> answer) {
  if (!answer && answer.error().code == base::ErrorCode::invalid)
    return refuse_field("cursor", "must be the cursor of an earlier response, with the same parameters");
  return answered(std::move(answer));
}

}  // namespace postino::api
