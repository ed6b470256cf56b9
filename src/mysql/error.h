// What went wrong at the database, and what that means for those who asked.
#pragma once

#include <string>

#include "base/result.h"

namespace postino::mysql {

enum class ErrorKind {
  transient,      // a deadlock, a lock not obtained, too many connections: the same may succeed at once
  lost,           // there is no connection, or no longer; the server may be starting
  duplicate_key,  // a unique key forbids the row
  time_limit,     // the statement took longer than it may
  silent,         // the server has just left another caller without an answer, and was not asked
  exhausted,      // every connection of the pool was in use for as long as we wait
  refused,        // the server does not let us in, or is not one we can use: the operator has to change something
  other,
};

struct Error {
  ErrorKind kind = ErrorKind::other;
  unsigned code = 0;    // the server's (1000 and up) or the client library's (2000 and up); 0: ours
  std::string message;  // never contains the password
  // It is not known whether what should have been committed was: the answer to COMMIT did not arrive, or the one to a
  // statement that commits by itself.
  bool at_commit = false;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = base::Result<T, Error>;

// Of an error number of the server or the client library.
ErrorKind kind_of(unsigned code);

// Is it worth trying again?
inline bool worth_repeating(const Error& error) {
  return error.kind == ErrorKind::transient || error.kind == ErrorKind::lost;
}

inline constexpr unsigned deadlock_code = 1213;

tl::unexpected<Error> fail(ErrorKind kind, unsigned code, std::string message);

// As the rest of the house reports errors.
base::Error as_error(const Error& error);
// The same of a write: io only when it may have been done, exhausted when it was not.
base::Error as_write_error(const Error& error);

}  // namespace postino::mysql
