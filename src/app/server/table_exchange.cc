#include "app/server/table_exchange.h"

#include <algorithm>

#include "app/store/bucket.h"

namespace postino::app {

namespace {

// Those of an object store that the settings name.
class NamedBuckets final : public exchange::Buckets {
 public:
  NamedBuckets(const Settings& settings, BucketContext context)
      : names_(settings.export_buckets), objects_(settings.objects), context_(std::move(context)) {}

  base::Result<std::unique_ptr<exchange::Bucket>> open(const std::string& name) override {
    if (std::ranges::find(names_, name) == names_.end())
      return base::fail(base::ErrorCode::not_found,
                        "The specified bucket does not exist, or this server may not use it: see --export-bucket");
    TRY(std::unique_ptr<objects::S3Objects> bucket, open_bucket(name, objects_, context_));
    return exchange::bucket_of(std::move(bucket));
  }

 private:
  const std::vector<std::string> names_;
  const ObjectSettings objects_;
  const BucketContext context_;
};

}  // namespace

struct TableExchange::Parts {
  base::SystemRandom random;
  base::Pause pause;
  std::unique_ptr<exchange::Buckets> buckets;
  std::unique_ptr<exchange::Exchange> exchange;
};

TableExchange::TableExchange(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

TableExchange::~TableExchange() { stop(); }

base::Result<std::unique_ptr<TableExchange>> TableExchange::open(store::Store& store, const Settings& settings,
                                                                 const base::Clock& clock,
                                                                 std::shared_ptr<signature::KeySource> keys) {
  store::TableTransfers* const transfers = store.table_transfers();
  if (transfers == nullptr || (settings.export_directory.empty() && settings.export_buckets.empty())) return nullptr;
  auto parts = std::make_unique<Parts>();
  if (!settings.export_directory.empty())
    parts->buckets = std::make_unique<exchange::DirectoryBuckets>(settings.export_directory, clock, parts->random);
  else
    parts->buckets = std::make_unique<NamedBuckets>(
        settings, BucketContext{clock, parts->random, parts->pause, std::move(keys), nullptr});
  exchange::ExchangeOptions options;
  options.region = settings.region;
  options.account = settings.account;
  auto opened = exchange::Exchange::open(*transfers, *parts->buckets, std::move(options), clock, parts->random);
  if (!opened) return base::fail(base::ErrorCode::io, opened.error().message);
  parts->exchange = *std::move(opened);
  parts->exchange->start();
  return std::unique_ptr<TableExchange>(new TableExchange(std::move(parts)));
}

exchange::Exchange& TableExchange::exchange() { return *parts_->exchange; }

void TableExchange::stop() {
  parts_->pause.end();
  parts_->exchange->stop();
}

}  // namespace postino::app
