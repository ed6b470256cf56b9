// The changes of a table, from where a reader was: the one way of going on with a change stream.
//
// A reader's place is the stream and the last record that it is done with, in each shard that is not done to its end.
// Each record moves it on, also one that does not concern the reader, so that only changes that were truly missed count
// as such. The reader keeps its place: in one commit with what it does (metrics/follow/checkpoint.h), or now and then
// (NotedFeed). When it begins again it gives the place back, and is told if changes are missing in between.
//
// A feed reads the whole stream. That of the embedded store is one sequence; where a stream has several shards at a
// time, as on Amazon DynamoDB, the feed reads all of them, and the records of one item come in their order. Why a
// stream is not shared among processes: docs/decisions/0023-a-stream-is-followed-as-a-whole.md.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/store.h"

namespace postino::store {

// A shard is kept for a day, and replaced after some hours: these are thousands of partitions.
inline constexpr std::size_t most_described_shards = 20'000;

// The description of a stream with all of its shards: the pages of DescribeStream as one. service_unavailable: there
// are more shards than that.
Answer<StreamDescription> describe_whole_stream(Store& store, const std::string& stream);

struct Changes {
  std::vector<StreamRecord> records;  // empty: none came in time
  // Why changes were missed: then there are no records, and the reader does what it must and starts over. Empty: none
  // was.
  std::string missed;
};

// For one thread at a time, except close().
class ChangeFeed {
 public:
  enum class Start {
    oldest,   // with the oldest record that there is
    present,  // a little before now: everything that is written from now on comes, and not much from before
  };

  // The store must outlive it.
  ChangeFeed(Store& store, std::string table) : store_(store), table_(std::move(table)) {}

  // The next record is the one behind this place.
  void go_on_behind(StreamPlace place);
  // Begins without a place, and has one then. resource_not_found: there is no such table, or it has no stream.
  Answer<void> begin(Start start);
  // The last record that is done; nullopt: it was never begun.
  const std::optional<StreamPlace>& place() const { return place_; }

  // Looks for the stream, unless that was done; next() does it, too. Why changes were missed; empty: none was. It must
  // have a place. Errors as of begin().
  Answer<std::string> open();
  bool is_open() const { return subscription_ != nullptr; }
  // Up to `limit` records behind those that were read; waits up to `timeout` for the first. It must have a place. Fails
  // as open() does. A stream that has ended has no more records; then it is not open any more.
  Answer<Changes> next(int limit, base::Milliseconds timeout);

  // The record is done: called for each, in the order in which they were read.
  void move_to(const StreamRecord& record);
  // The place of who is done with all that was read, for readers who keep their place by themselves. It must be open.
  StreamPlace place_behind_all_read() const { return subscription_->place(); }
  // What was read and is not done is read again.
  void drop();

  // See Subscription. It must be open.
  Answer<StreamMoment> present_end() { return subscription_->present_end(); }
  bool has_passed(const StreamMoment& moment) const { return subscription_->has_passed(moment); }

  // Wakes a waiting next(), which then answers at once from now on. From any thread.
  void close();

 private:
  Answer<std::string> present_stream();
  Answer<std::unique_ptr<Subscription>> subscribe_to_present(const std::string& stream);
  void take(std::unique_ptr<Subscription> subscription);

  Store& store_;
  const std::string table_;
  std::optional<StreamPlace> place_;
  std::size_t undone_ = 0;                      // records that were read and are not done
  std::mutex mutex_;                            // of the pointer, for close(), and of the flag
  std::shared_ptr<Subscription> subscription_;  // written under the mutex
  bool is_closed_ = false;
};

}  // namespace postino::store
