// What came of one attempt to call the service, and what to do about it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client.h"
#include "remote/protocol/refusal.h"
#include "store/error.h"

namespace postino::remote {

enum class Api { data, streams };

// What is wrong with the service, or with what it was given: what /readyz tells of, if it lasts.
enum class Trouble {
  none,       // it has answered
  unusable,   // it does not answer, or says that it cannot, or knows neither our keys nor our time
  denied,     // the keys do not have the right
  missing,    // there is no such table
  throttled,  // the service asked for less
  untried,    // nothing was sent, for a reason of our own
};

// Also of a call that was not sent.
struct Verdict {
  enum class Next {
    done,          // it was answered
    give_up,       // the same call would be refused again
    try_later,     // it may be done later
    renew_keys,    // the keys are not, or no longer, known
    correct_time,  // our clock is not the service's
  };
  Next next = Next::done;
  store::Error error = {};    // unless it was answered
  bool may_be_done = false;   // whether it was is not known
  bool is_throttled = false;  // the service asked for less
  bool is_timeout = false;
  Trouble trouble = Trouble::none;
};

// Of a refusal that the service has written.
Verdict judge_refusal(Api api, int status, Refusal refusal);
// Has the service ever answered as DynamoDB does, since the process began?
enum class Acquaintance { none, known };
// Of an answer that is none of the service: a page of a proxy, or one that was damaged on the way.
Verdict judge_foreign_answer(int status, std::string_view content_type, Acquaintance acquaintance);
// It was sent, and what came back is not what was sent there.
Verdict spoilt_answer(std::string_view what);
// No answer came.
Verdict no_answer(const std::string& why, bool was_sent, bool is_timeout, Acquaintance acquaintance);
// Nothing was sent, because there are no keys to sign it with. What the settings lack does not come by waiting.
Verdict without_keys(const base::Error& why);

// The error that says it.
store::Error not_known_whether_done(const std::string& why);

}  // namespace postino::remote
