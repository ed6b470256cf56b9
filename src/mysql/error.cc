#include "mysql/error.h"

#include <utility>

namespace postino::mysql {

ErrorKind kind_of(unsigned code) {
  switch (code) {
    case 1020:  // a row has changed since it was read (snapshot isolation)
    case 1040:  // too many connections
    case 1203:  // too many connections of this user, by the server's limit
    case 1205:  // waited too long for a lock
    case 1213:  // deadlock
    case 1226:  // too many connections of this user, by its own limit
    case 1615:  // a prepared statement must be prepared again
    case 2057:  // a prepared statement has other columns by now
      return ErrorKind::transient;
    case 1053:  // the server is shutting down
    case 1152:  // connection aborted
    case 1158:  // packet not read
    case 1159:  // reading timed out
    case 1160:  // packet not written
    case 1161:  // writing timed out
    case 1184:  // connection aborted
    case 1290:  // the server only reads: another one is to be written to since it was switched over
    case 1792:  // the same, of the transaction
    case 1836:  // the same (MySQL)
    case 1243:  // a prepared statement of another session: something between us has reconnected
    case 1927:  // connection killed (MariaDB)
    case 2002:  // no connection through the socket
    case 2003:  // no connection through TCP
    case 2005:  // the host's name is not known, now
    case 2006:  // the server has gone away
    case 2013:  // lost in the middle of a statement
    case 2026:  // TLS broke; when connecting it is something else, see connect()
    case 2027:  // malformed packet
    case 2055:  // lost, with the system's error
    case 3032:  // offline mode (MySQL)
    case 3169:  // connection killed (MySQL)
    case 4031:  // closed because it was idle (MySQL)
      return ErrorKind::lost;
    case 1062:  // duplicate entry
    case 1586:  // duplicate entry, with the key's name
      return ErrorKind::duplicate_key;
    case 1969:  // max_statement_time (MariaDB)
    case 3024:  // max_execution_time (MySQL)
      return ErrorKind::time_limit;
    case 1044:  // no access to the database
    case 1045:  // wrong user or password
    case 1049:  // no such database
    case 1129:  // the host is blocked
    case 1130:  // the host is not allowed
    case 1142:  // no such right on the table
    case 1143:  // no such right on the column
    case 1227:  // no such right at all
    case 1251:  // the password is stored in a way the library does not know
    case 1275:  // the same, older
    case 1524:  // the user's way to log in is not installed
    case 1698:  // the user may log in in another way only
    case 1820:  // the password must be changed
    case 1862:  // the password has expired
    case 3159:  // only with TLS
    case 4151:  // the account is locked (MariaDB)
    case 3118:  // the account is locked (MySQL)
    case 2058:  // a way to log in that the library cannot load
    case 2059:  // the same
    case 2061:  // logging in failed in the library
    case 5010:  // a way to log in that would send the password in the clear
      return ErrorKind::refused;
    default:
      return ErrorKind::other;
  }
}

tl::unexpected<Error> fail(ErrorKind kind, unsigned code, std::string message) {
  return tl::unexpected<Error>(Error{kind, code, std::move(message), false});
}

base::Error as_write_error(const Error& error) {
  base::Error result = as_error(error);
  if (error.at_commit)
    result.code = base::ErrorCode::io;
  else if (result.code == base::ErrorCode::io)
    result.code = base::ErrorCode::exhausted;
  return result;
}

base::Error as_error(const Error& error) {
  std::string message = "database: " + error.message;
  if (error.code != 0) message += " (" + std::to_string(error.code) + ")";
  switch (error.kind) {
    case ErrorKind::duplicate_key:
      return {base::ErrorCode::conflict, std::move(message)};
    case ErrorKind::transient:
    case ErrorKind::time_limit:
    case ErrorKind::exhausted:
      return {base::ErrorCode::exhausted, std::move(message)};
    case ErrorKind::lost:
    case ErrorKind::silent:
    case ErrorKind::refused:
    case ErrorKind::other:
      break;
  }
  return {base::ErrorCode::io, std::move(message)};
}

}  // namespace postino::mysql
