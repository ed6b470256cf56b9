// CHECK guards invariants in every build: a broken one ends the process, because going on would corrupt data.
#pragma once

namespace postino::base {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace postino::base

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::postino::base::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
