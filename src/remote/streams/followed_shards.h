// The shards of a stream that a reader is not done with: which of them can be read now, which wait for their parent,
// and what place that is.
//
// A shard that ends has children, which take its place: one when a shard is replaced, two when it is split. They are
// read when all of it was read, so that the changes of an item keep their order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/stream.h"

namespace postino::remote {

// Shards that are read at the same time. Amazon DynamoDB has one for each partition of a table.
inline constexpr std::size_t most_shards = 500;

struct FollowedShard {
  std::shared_ptr<const std::string> id;
  std::optional<std::string> parent;
  store::SequenceNumber starting;
  store::SequenceNumber position;  // of the last record that was given; none: nothing was given yet
  bool from_oldest = false;        // begins with what there is, and not with its first record
  std::optional<std::string> iterator;
  bool has_ended = false;  // all of it was given; its children are not known yet

  // Times are those of the clock that cannot be set.
  std::optional<base::Milliseconds> read_at;    // when it was last read
  base::Milliseconds idle{0};                   // the pause until it is read again, unless a call ends before
  base::Milliseconds not_before{0};             // the service wants to be left alone until then
  int throttled = 0;                            // times in a row
  int short_pages = 0;                          // in a row, with the same iterator or those that came from it
  std::optional<base::Milliseconds> caught_up;  // what was in it then was given
  std::uint64_t round = 0;                      // in which it was last read
};

// One thread at a time.
class FollowedShards {
 public:
  // With all shards, from the oldest record of each.
  void begin(const std::vector<store::Shard>& described);
  // Behind a place. trimmed_data_access: one of its shards is gone; validation: it names no shards.
  store::Answer<void> go_on(const std::vector<store::Shard>& described, const store::StreamPlace& place);

  // Shards that are new come, those that have ended go when their children come, or when they are not kept any more.
  void look_again(const std::vector<store::Shard>& described);
  // All of it was given. True: its children are known.
  bool end(FollowedShard& shard);

  // Those that do not wait for their parent and have not ended. Valid until one ends, or others come.
  std::vector<FollowedShard*> readable();
  // Nothing is left to be read, unless shards come.
  bool have_all_been_read() const;
  // One has ended, and nothing has come in its place.
  bool has_parent_without_children() const;
  // Has what was in each of them at this time been given? Of the descriptions: when the last one was asked for.
  bool are_caught_up(base::Milliseconds time, base::Milliseconds described) const;

  // The positions of those that can be read, and of those that have one.
  std::map<std::string, store::SequenceNumber, std::less<>> positions() const;
  // limit_exceeded: there are more at the same time than can be followed.
  store::Answer<void> check_number() const;

 private:
  FollowedShard& add(const store::Shard& shard);
  bool waits(const FollowedShard& shard) const { return shard.parent && followed_.contains(*shard.parent); }
  void let_parents_go();

  std::map<std::string, FollowedShard, std::less<>> followed_;
  std::set<std::string, std::less<>> done_;  // of those that are described
};

}  // namespace postino::remote
