// Times that records of e-mails may have: from 1970 to the end of the year 9999. Other programs can write any number.
#pragma once

#include <cstdint>

namespace postino::outbox {

inline constexpr std::int64_t last_millisecond = 253'402'300'799'999;  // since 1970
inline constexpr std::int64_t last_second = last_millisecond / 1'000;

}  // namespace postino::outbox
