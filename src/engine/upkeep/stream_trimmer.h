// Keeps streams at their length: removes records, shards and streams whose day is over, and opens new shards.
#pragma once

#include <vector>

#include "engine/catalog/core.h"

namespace postino::engine {

// Used by one thread at a time.
class StreamTrimmer {
 public:
  explicit StreamTrimmer(Core& core) : core_(core) {}

  // One bounded round. True when there is more to do right away.
  store::Answer<bool> run_once();

 private:
  // What is due for one stream.
  struct Step {
    StreamPointer stream;
    RecordNumber trim_until = 0;  // records below go
    bool more_to_trim = false;
    std::size_t shards_to_drop = 0;
    bool roll = false;
    bool drop = false;  // the stream itself

    bool any() const;
  };

  base::Result<Step> next_step(const StreamPointer& stream) const;
  base::Result<void> find_records_to_trim(Step& step) const;
  void find_shards_to_drop(Step& step, bool has_records, RecordNumber first_kept) const;
  store::Answer<void> commit(const std::vector<Step>& steps);
  void apply(const Step& step, CatalogState& state, CommitEntry& entry) const;

  Core& core_;
  ObjectId last_ = 0;  // the stream served last; the next round begins after it
};

}  // namespace postino::engine
