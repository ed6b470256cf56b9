// A bucket as the settings name it.
#pragma once

#include <memory>
#include <string>

#include "app/settings/ticket_settings.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/this_thread.h"
#include "net/shutdown_deadline.h"
#include "objects/s3_objects.h"
#include "signature/key_source.h"

namespace postino::app {

struct BucketContext {
  const base::Clock& clock;
  base::Random& random;
  base::Pause& pause;                                              // between attempts
  std::shared_ptr<signature::KeySource> keys;                      // where the settings have none; may be null
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // no call outlasts it; may be null
  objects::GateLimits gate = {};
};

// Calls nothing yet. Clock, randomness and pause must outlive it.
base::Result<std::unique_ptr<objects::S3Objects>> open_bucket(const std::string& bucket, const ObjectSettings& settings,
                                                              BucketContext context);

}  // namespace postino::app
