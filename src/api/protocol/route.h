// One call that the server knows: the operation, and who handles it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/protocol/call.h"
#include "api/protocol/operation.h"

namespace postino::api {

// What handlers wait for. Each has threads of its own, so that none keeps the others back.
enum class Waits : std::uint8_t {
  briefly,       // for the store
  for_others,    // a message broker
  for_messages,  // perhaps for minutes, until a producer has put them there
};

// Does the audit tell of calls? By its right: of all that change something by the rights to operate and to approve.
enum class Audited : std::uint8_t { by_right, always, never };

struct Route {
  Operation operation;
  Outcome (*handle)(Call& call) = nullptr;
  // For calls that need no thread of their own while they wait: begins one at once, and `finish` is called later, from
  // any thread. False, and `finish` is not called: handle() is to do it.
  bool (*begin)(Call& call, const Finish& finish) = nullptr;
  bool shared = false;    // about what belongs to no single tenant: not for keys of one
  bool own_keys = false;  // of a POST: sees to its Idempotency-Key itself, because it has more to do with it
  // Of a POST whose answer has personal data: makes it again, from the record as it is by then. Under an
  // Idempotency-Key only Reply::told_of is kept, so that what was erased is not kept there. The records are in the
  // store of this server, and so are the keys: Call::note_answer writes them in the commit of what is done.
  Outcome (*again)(Call& call, const std::string& told_of) = nullptr;
  Waits waits = Waits::briefly;
  // Of calls that wait for a broker: for which, so that calls to others need not wait behind them.
  std::optional<messages::BrokerTarget> (*target)(const Call& call) = nullptr;
  bool direct = false;        // answered at once, without waiting for anything
  bool large_answer = false;  // of a read: a whole e-mail, perhaps with attachments, or a page of many
  Audited audited = Audited::by_right;
};

bool is_audited(const Route& route);

// Parameters that many have.
Parameter email_id_parameter();
Parameter cursor_parameter();
Parameter limit_parameter();
// since and until, of `those`: "e-mails that were accepted".
std::vector<Parameter> range_parameters(const std::string& those);
Parameter idempotency_key_parameter();
Parameter idempotency_expiry_parameter();

}  // namespace postino::api
