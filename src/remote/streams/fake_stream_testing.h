// A table with a change stream of several shards, as Amazon DynamoDB shows it, and what can go wrong with it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/empty_store.h"

namespace postino::remote {

inline const std::string fake_table = "tickets";
inline const std::string fake_stream = "arn:aws:dynamodb:eu-central-1:1:table/tickets/stream/1";

class FakeStream final : public store::EmptyStore {
 public:
  // The clock must outlive it.
  explicit FakeStream(const base::Clock& clock) : clock_(clock) {}

  void open_shard(const std::string& id, const std::string& parent = "");
  void close_shard(const std::string& id) { shard(id).is_closed = true; }
  void hide_shard(const std::string& id, bool is_hidden = true) { shard(id).is_hidden = is_hidden; }
  // Closes it, and these come in its place.
  void split(const std::string& id, const std::vector<std::string>& children);
  // What is in it, oldest first: the ids of the items.
  void write(const std::string& id, const std::vector<std::string>& items);
  // The oldest records of a shard are gone, or all of it.
  void trim(const std::string& id, std::size_t records) { shard(id).trimmed = records; }
  void forget(const std::string& id) { shards_.erase(id); }
  void expire_iterators() { ++generation_; }
  store::SequenceNumber number_of(const std::string& item) { return numbers_.at(item); }

  bool is_enabled = true;
  bool is_gone = false;               // the stream
  bool knows_starting = true;         // GetShardIterator takes the number that a shard starts with
  std::size_t shards_per_page = 100;  // of DescribeStream
  int empty_pages = 0;                // that come before the next records
  base::Milliseconds lag{0};          // how old records are that are written now
  std::map<std::string, std::deque<store::ErrorType>> failures;  // of the next reads, by shard
  std::deque<store::ErrorType> description_failures;
  std::map<std::string, std::vector<base::Milliseconds>> reads;  // when each shard was read

  store::Answer<store::TableDescription> describe_table(const std::string& table) override;
  store::Answer<store::StreamDescription> describe_stream(const store::DescribeStreamRequest& request) override;
  store::Answer<std::string> get_shard_iterator(const store::GetShardIteratorRequest& request) override;
  store::Answer<store::GetRecordsResponse> get_records(const store::GetRecordsRequest& request) override;

 private:
  struct FakeShard {
    std::string parent;
    store::SequenceNumber starting;
    std::vector<store::StreamRecord> records;
    std::size_t trimmed = 0;
    bool is_closed = false;
    bool is_hidden = false;  // in descriptions
  };
  FakeShard& shard(const std::string& id) { return shards_.at(id); }
  store::SequenceNumber next_number();
  std::string iterator_at(const std::string& id, std::size_t index) const;
  store::Answer<std::size_t> index_of(const FakeShard& shard, const store::GetShardIteratorRequest& request) const;

  const base::Clock& clock_;
  std::map<std::string, FakeShard> shards_;
  std::map<std::string, store::SequenceNumber> numbers_;
  int generation_ = 0;
  long last_number_ = 0;
};

}  // namespace postino::remote
