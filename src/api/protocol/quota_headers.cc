#include "api/protocol/quota_headers.h"

namespace postino::api {

namespace {

struct Fields {
  std::string policy;
  std::string state;
};

void add_state(Fields& fields, const access::QuotaState& state, const std::string& of) {
  const std::string name = "\"" + of + "-" + std::string(state.name) + "\"";
  const auto begin = [](std::string& text) { text.append(text.empty() ? "" : ", "); };
  begin(fields.policy);
  fields.policy.append(name)
      .append(";q=")
      .append(std::to_string(state.limit))
      .append(";w=")
      .append(std::to_string(state.window));
  begin(fields.state);
  fields.state.append(name)
      .append(";r=")
      .append(std::to_string(state.left))
      .append(";t=")
      .append(std::to_string(state.seconds));
}

}  // namespace

void add_quota_headers(std::vector<std::pair<std::string, std::string>>& headers, const access::QuotaMeters& meters,
                       const base::Clock& clock) {
  Fields fields;
  for (const auto& meter : meters)
    for (const access::QuotaState& state : meter->states(clock.now(), clock.monotonic()))
      add_state(fields, state, std::string(meter->of()));
  if (fields.policy.empty()) return;
  headers.emplace_back("RateLimit-Policy", std::move(fields.policy));
  headers.emplace_back("RateLimit", std::move(fields.state));
}

tl::unexpected<Problem> refuse_over_quota(const access::QuotaState& used_up) {
  const std::string what = used_up.name == access::emails_quota
                               ? std::to_string(used_up.left) + " of " + std::to_string(used_up.limit) +
                                     " e-mails a day are left, and the request has more"
                               : "there are " + std::to_string(used_up.limit) + " requests a second";
  auto refusal = refuse(problems::quota_exceeded, as_sentence(what));
  refusal.value().headers = {{"Retry-After", std::to_string(used_up.seconds)}};
  return refusal;
}

}  // namespace postino::api
