// The store over HTTP: Amazon DynamoDB, or anything that speaks its protocol. It keeps nothing itself, so that several
// processes can share it.
//
// What is different from an embedded store:
//
// - Reads of indexes may be behind the table, and the records of a stream come in shards.
// - Calls are tried again as AWS's own clients do, for as long as RemoteOptions::call_time.
// - A write that was answered is done. One that failed with internal_server_error may be done or not; with any other
//   error it is not. What is tried again after such an attempt, and what it means then:
//   * Puts and deletes without a condition, repeatable updates without one (BoundUpdate::is_repeatable), batches and
//     transactions, which always have a token: doing them again changes nothing.
//   * Conditional puts and repeatable conditional updates: if the condition does not hold any more, and the item is as
//     this write leaves it, that was this write, and it has succeeded. A caller that must know which of several wrote
//     the same therefore writes something of its own into the item.
//   * Conditional deletes: if the item is gone, this has succeeded.
//   * Nothing else: updates that count or append, and writes that return what was there before.
// - Consumed capacity is asked for with every call, and counted.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "net/client_tls.h"
#include "net/shutdown_deadline.h"
#include "net/url.h"
#include "remote/calls/call_counts.h"
#include "remote/calls/service_health.h"
#include "remote/credentials/credentials.h"
#include "store/store.h"
#include "store/traffic.h"

namespace postino::remote {

class Caller;

struct RemoteOptions {
  net::Url endpoint;                         // of DynamoDB
  std::optional<net::Url> streams_endpoint;  // nullopt: `endpoint` too
  std::string region;
  std::shared_ptr<Credentials> credentials;
  net::ClientTlsOptions tls;
  std::chrono::milliseconds call_time{10'000};  // all attempts of one call with the pauses
  int attempts = 8;
  int most_calls = 64;  // at a time; more wait for their turn, within their time
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // no call outlasts it; may be null
  std::function<void(base::Milliseconds)> sleep;                   // between attempts; null: the thread sleeps
  std::shared_ptr<store::TrafficObserver> traffic;                 // may be null; learns of no keys
  NeededTables needed;  // what is refused of them is a problem; of other tables it is not
};

// Safe to use from any thread.
class RemoteStore final : public store::Store {
 public:
  // Sends nothing yet. invalid when an option breaks a rule. `clock` and `random` must outlive it.
  static base::Result<std::unique_ptr<RemoteStore>> create(RemoteOptions options, const base::Clock& clock,
                                                           base::Random& random);
  // Ends the writes that were taken.
  ~RemoteStore() override;

  // Reads with an allowance are given up at once: the network is not for threads where others wait.
  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest& request) override;
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override;
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override;
  store::Answer<store::TransactGetItemsResponse> transact_get_items(
      const store::TransactGetItemsRequest& request) override;
  // What the service leaves out is asked for again, within the time of a call.
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override;
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override;

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override;
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override;
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override;
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override;

  // On threads of its own. service_unavailable at once when too many wait already.
  void put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override;
  void transact_write_items(const store::TransactWriteItemsRequest& request,
                            store::Completion<store::TransactWriteItemsResponse> done) override;

  // Tables become active some time after they were made.
  store::Answer<store::TableDescription> create_table(const store::CreateTableRequest& request) override;
  store::Answer<store::TableDescription> describe_table(const std::string& table_name) override;
  store::Answer<store::TableDescription> update_table(const store::UpdateTableRequest& request) override;
  store::Answer<store::TableDescription> delete_table(const std::string& table_name) override;
  store::Answer<store::ListTablesResponse> list_tables(const store::ListTablesRequest& request) override;
  store::Answer<store::TimeToLiveSpecification> update_time_to_live(
      const std::string& table_name, const store::TimeToLiveSpecification& specification) override;
  store::Answer<store::TimeToLiveDescription> describe_time_to_live(const std::string& table_name) override;
  store::Answer<store::PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) override;
  store::Answer<store::PointInTimeRecoveryDescription> describe_continuous_backups(
      const std::string& table_name) override;
  store::Answer<store::TableDescription> restore_table_to_point_in_time(
      const store::RestoreToPointInTimeRequest& request) override;
  store::Answer<void> tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) override;
  store::Answer<void> untag_resource(const std::string& arn, const std::vector<std::string>& keys) override;
  // All pages of it.
  store::Answer<store::ListTagsResponse> list_tags_of_resource(const std::string& arn) override;

  store::Answer<store::ListStreamsResponse> list_streams(const store::ListStreamsRequest& request) override;
  store::Answer<store::StreamDescription> describe_stream(const store::DescribeStreamRequest& request) override;
  store::Answer<std::string> get_shard_iterator(const store::GetShardIteratorRequest& request) override;
  std::optional<std::string> stream_of(const std::string& shard_iterator) override;
  store::Answer<store::GetRecordsResponse> get_records(const store::GetRecordsRequest& request) override;
  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string& table_name,
                                                                std::optional<store::StreamPlace> after) override;

  bool is_shared() const override { return true; }

  // What is wrong with the service, when calls have failed for some seconds without a success in between: it cannot be
  // used, or it refuses what the program needs. Empty: nothing.
  std::vector<std::string> problems() const;
  // The same of its change streams.
  std::vector<std::string> stream_problems() const;
  std::vector<RemoteCounts> counts() const;
  // The service's time, as its answers tell it.
  base::TimePoint now_there() const;

 private:
  RemoteStore(std::unique_ptr<Caller> caller, base::Random& random);

  // Runs the call on a thread that may wait, and tells what came of it.
  template <class Response, class Request>
  void run_later(const Request& request, store::Completion<Response> done);

  const std::unique_ptr<Caller> caller_;
  base::Random& random_;
  base::ThreadPool writers_;  // the last member: its threads use the others
};

}  // namespace postino::remote
