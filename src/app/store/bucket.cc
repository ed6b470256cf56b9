#include "app/store/bucket.h"

namespace postino::app {

base::Result<std::unique_ptr<objects::S3Objects>> open_bucket(const std::string& bucket, const ObjectSettings& settings,
                                                              BucketContext context) {
  objects::S3Options options;
  TRY(options.endpoint, net::Url::parse(settings.endpoint));
  options.region = settings.region;
  options.bucket = bucket;
  options.keys = {settings.key_id, settings.secret, ""};
  if (settings.key_id.empty()) options.key_source = std::move(context.keys);
  options.tls.certificate_file = settings.ca;
  options.call_time = settings.timeout;
  options.gate = context.gate;
  options.shutdown_deadline = std::move(context.shutdown_deadline);
  return objects::S3Objects::create(std::move(options), context.clock, context.random,
                                    [&pause = context.pause](base::Milliseconds delay) { pause.wait(delay); });
}

}  // namespace postino::app
