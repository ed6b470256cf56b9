// What callers are told of their quotas, in the fields of the draft "RateLimit header fields for HTTP".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "access/quota_meter.h"
#include "api/protocol/problem.h"
#include "base/clock.h"

namespace postino::api {

// RateLimit-Policy and RateLimit, of all quotas that count; nothing when there are none.
void add_quota_headers(std::vector<std::pair<std::string, std::string>>& headers, const access::QuotaMeters& meters,
                       const base::Clock& clock);

tl::unexpected<Problem> refuse_over_quota(const access::QuotaState& used_up);

}  // namespace postino::api
