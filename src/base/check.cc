#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace postino::base {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "postino: broken invariant at %s:%d: %s\n", file, line, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace postino::base
