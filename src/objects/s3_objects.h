// Objects in a bucket of Amazon S3, or of anything that speaks its protocol: MinIO, Ceph, Garage and others.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/random.h"
#include "http/client.h"
#include "net/partner_health.h"
#include "objects/call_gate.h"
#include "objects/object_store.h"
#include "signature/key_source.h"

namespace postino::objects {

struct S3Options {
  net::Url endpoint;  // "https://s3.eu-west-1.amazonaws.com"; the bucket comes into the path
  std::string region = "us-east-1";
  std::string bucket;
  signature::AccessKeys keys;
  std::shared_ptr<signature::KeySource> key_source;  // of keys that may change, in the place of these; may be null
  net::ClientTlsOptions tls;
  std::chrono::milliseconds call_time{10'000};  // all attempts of one call, with the pauses; one has two thirds of it
  std::chrono::milliseconds probe_time{2'000};  // to find out whether it is back
  int attempts = 5;                             // of one call, in all
  GateLimits gate = {};
  base::Backoff backoff{std::chrono::milliseconds(200), std::chrono::seconds(5)};
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // no call outlasts it; may be null
};

class S3Objects final : public ObjectStore {
 public:
  using Sleep = std::function<void(base::Milliseconds)>;
  // Sends nothing yet. invalid when an option breaks a rule. `clock` and `random` must outlive it.
  static base::Result<std::unique_ptr<S3Objects>> create(S3Options options, const base::Clock& clock,
                                                         base::Random& random, Sleep sleep);

  // Each is tried again when the other side is busy or cannot be reached. If it says that our clock is wrong, requests
  // are dated by its clock from then on. exhausted when it is known to be away, when too many call it already, and when
  // the time of the request is over (RequestTime): such a call has not waited, and nothing was done.
  base::Result<void> put(const std::string& name, std::string_view bytes) override;
  base::Result<std::string> get(const std::string& name) override;
  base::Result<void> remove(const std::string& name) override;
  base::Result<ObjectPage> list(const std::string& prefix, const std::string& after, int limit) override;
  const std::string& bucket() const override { return options_.bucket; }

  // Why the last call failed, if the other side could not be used.
  std::optional<std::string> problem() const { return health_.problem(); }

 private:
  S3Objects(S3Options options, std::unique_ptr<http::Client> client, const base::Clock& clock, base::Random& random,
            Sleep sleep);

  struct Outcome {
    base::Result<http::ClientResponse> response;
    bool is_worth_repeating = false;
  };
  base::Result<http::ClientResponse> call(const std::string& method, const std::string& target, std::string_view body);
  Outcome attempt(http::ClientRequest request, net::Deadline deadline);
  // Asks for next to nothing, so that the request that finds it still away has not waited long.
  Outcome probe();
  Outcome judge(http::ClientResponse response);
  base::TimePoint now_there() const;
  std::string target_of(std::string_view name) const;

  const S3Options options_;
  const std::unique_ptr<http::Client> client_;
  const base::Clock& clock_;
  base::Random& random_;
  const Sleep sleep_;
  std::atomic<std::int64_t> clock_offset_ = 0;  // milliseconds that the other side is ahead
  net::PartnerHealth health_;
  CallGate gate_;
};

}  // namespace postino::objects
