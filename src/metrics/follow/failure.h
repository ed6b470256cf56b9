// Why changes were not handled, as far as a follower has to react.
#pragma once

#include <string>

#include "base/result.h"
#include "store/error.h"

namespace postino::metrics {

enum class Trouble {
  temporary,  // a store, a receiver or a disk cannot be used now: tried again, with everything as it was
  record,     // a record cannot be handled: the batch is halved until it is known which
  absent,     // the table is not there yet: looked for again
  lost,       // it is not known what the checkpoint says: it is read again
  followed,   // another process has taken its turn: no fault, this one stands by
  figures,    // the figures cannot be right: everything is counted again
};

struct Failure {
  Trouble kind = Trouble::temporary;
  std::string reason;  // for people, without a full stop
};

template <class T>
using Outcome = base::Result<T, Failure>;

inline tl::unexpected<Failure> trouble(Trouble kind, std::string reason) {
  return tl::unexpected<Failure>(Failure{kind, std::move(reason)});
}
inline tl::unexpected<Failure> temporary(const store::Error& error) {
  return trouble(Trouble::temporary, error.message);
}

}  // namespace postino::metrics
