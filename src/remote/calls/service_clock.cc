#include "remote/calls/service_clock.h"

#include <string>

#include "base/log.h"
#include "signature/signature_time.h"

namespace postino::remote {

namespace {

constexpr base::Milliseconds of_the_way = std::chrono::seconds(5);
constexpr base::Milliseconds notable_change = std::chrono::minutes(1);

}  // namespace

bool ServiceClock::learn(std::string_view date) {
  const auto told = signature::parse_signature_time(date);
  if (!told) return false;
  const auto there = std::chrono::time_point_cast<base::Milliseconds>(*told);
  const base::Milliseconds change = there - now();
  if (change <= of_the_way && change >= -of_the_way) return false;
  ahead_ = (there - ours_.now()).count();
  if (change <= notable_change && change >= -notable_change) return false;
  base::log_warning("store", "the clock of DynamoDB is another one: requests are dated by it",
                    {{"milliseconds ahead", std::to_string(ahead_.load())}});
  return true;
}

}  // namespace postino::remote
