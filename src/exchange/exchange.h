// Exports tables to buckets and imports tables from them, as DynamoDB does with S3.
//
// A transfer is written down before it is answered, and then run in the background, one after the other. One that the
// end of the process has interrupted is run again: an export writes the same objects, an import puts the same items.
// What cannot go on ends as FAILED, with the reason.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "exchange/bucket.h"
#include "exchange/transfers.h"
#include "store/store.h"

namespace postino::exchange {

class ExportFiles;

struct ExchangeOptions {
  std::string region = "us-east-1";
  std::string account = "000000000000";  // both as the ARNs of the store have them
  std::size_t most_unfinished = 50;
  std::size_t most_kept = 2'000;                          // transfers, with those that have ended
  base::Milliseconds kept = std::chrono::days(90);        // after they have ended
  base::Milliseconds token_life = std::chrono::hours(8);  // likewise
};

// Safe to use from any thread.
class Exchange {
 public:
  // Reads what the store keeps of transfers. All must outlive it.
  static store::Answer<std::unique_ptr<Exchange>> open(store::TableTransfers& store, Buckets& buckets,
                                                       ExchangeOptions options, const base::Clock& clock,
                                                       base::Random& random);
  ~Exchange();  // stop()

  // Begins to run what is not finished, on a thread of its own.
  void start();
  // Ends the thread at the next opportunity. What was under way goes on after the next start.
  void stop();
  // Runs the oldest one that is not finished; false when there is none. For callers without the thread.
  bool run_once();

  store::Answer<ExportDescription> export_table(ExportRequest request);
  store::Answer<ExportDescription> describe_export(const std::string& arn) const;
  store::Answer<TransferList<ExportDescription>> list_exports(const ListTransfersRequest& request) const;

  store::Answer<ImportDescription> import_table(ImportRequest request);
  store::Answer<ImportDescription> describe_import(const std::string& arn) const;
  store::Answer<TransferList<ImportDescription>> list_imports(const ListTransfersRequest& request) const;

 private:
  Exchange(store::TableTransfers& store, Buckets& buckets, ExchangeOptions options, const base::Clock& clock,
           base::Random& random);

  void run();
  std::string new_id() const;
  store::Answer<void> check_room();
  void forget_old();

  void run_export(ExportDescription description);
  base::Result<void> write_export(ExportDescription& description);
  base::Result<void> write_items(ExportDescription& description, ExportFiles& files);
  base::Result<void> write_changes(ExportDescription& description, ExportFiles& files);
  void run_import(ImportDescription description);
  base::Result<void> read_import_data(ImportDescription& description);
  base::Result<void> put_items(ImportDescription& description, std::vector<item::Item>& items);
  // Until the store takes it, or stop() is called.
  template <class Write>
  void insist(const std::string& what, const Write& write);

  store::TableTransfers& store_;
  Buckets& buckets_;
  const ExchangeOptions options_;
  const base::Clock& clock_;
  base::Random& random_;

  std::mutex begin_mutex_;  // of those that begin: a token is looked for and taken
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // By the ends of their ARNs, in the order in which they were begun.
  std::map<std::string, ExportDescription> exports_;
  std::map<std::string, ImportDescription> imports_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace postino::exchange
