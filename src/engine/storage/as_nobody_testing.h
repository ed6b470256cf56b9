// What a user without rights would see.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

namespace postino::engine {

// To the superuser nothing is forbidden; as nobody, everything that others may not do is.
class AsNobody {
 public:
  AsNobody() { become(nobody); }
  ~AsNobody() { become(0); }

 private:
  static constexpr uid_t nobody = 65'534;
  static void become(uid_t user) { EXPECT_TRUE(::getuid() != 0 || ::seteuid(user) == 0); }
};

}  // namespace postino::engine
