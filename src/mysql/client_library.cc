#include "mysql/client_library.h"

#include "base/check.h"

namespace postino::mysql {

namespace {

// What a thread needs, for as long as it lives.
class ThreadMembership {
 public:
  ThreadMembership() {
    static const bool ready = mysql_library_init(0, nullptr, nullptr) == 0;
    CHECK(ready);
    CHECK(mysql_thread_init() == 0);
  }
  ~ThreadMembership() { mysql_thread_end(); }
  ThreadMembership(const ThreadMembership&) = delete;
  ThreadMembership& operator=(const ThreadMembership&) = delete;
};

Error error_of(unsigned code, const char* message) { return {kind_of(code), code, message, false}; }

}  // namespace

void enter_library() { static thread_local const ThreadMembership membership; }

Error last_error(MYSQL* connection) { return error_of(mysql_errno(connection), mysql_error(connection)); }

Error last_error(MYSQL_STMT* statement) { return error_of(mysql_stmt_errno(statement), mysql_stmt_error(statement)); }

bool found_by_library(unsigned code) {
  constexpr unsigned first = 2000, behind_last = 3000;          // as in MySQL's own library
  constexpr unsigned own_first = 5000, behind_own_last = 6000;  // MariaDB's additions
  return (code >= first && code < behind_last) || (code >= own_first && code < behind_own_last);
}

}  // namespace postino::mysql
