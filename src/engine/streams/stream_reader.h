// A stream as one reader sees it at one moment: what the API and the subscriptions share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/catalog/core.h"
#include "store/stream.h"

namespace postino::engine {

class StreamReader {
 public:
  StreamReader(const Core& core, ObjectId stream);
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  // nullptr when there is no such stream (any more); then nothing below may be called.
  const Stream* stream() const { return stream_.get(); }

  // All records with smaller numbers that ever will be on disk were there when the reader was made.
  RecordNumber settled() const { return settled_; }

  // Are records of [from, until) gone, or too old to be shown, that a reader standing at `from` has not seen?
  base::Result<bool> trimmed(RecordNumber from, RecordNumber until);

  // The first position in [from, until) behind which no record is too old.
  base::Result<RecordNumber> oldest_kept(RecordNumber from, RecordNumber until);

  // Records of [from, until), oldest first: up to `limit`, and up to a megabyte if there is more than one.
  struct Page {
    std::vector<store::StreamRecord> records;
    RecordNumber next = 0;  // behind the last of them; `from` if there is none
    bool complete = false;  // nothing of the range is left
  };
  store::Answer<Page> read(RecordNumber from, RecordNumber until, int limit, store::ReadAllowance* allowance = nullptr);

 private:
  // Stands on the first record of [from, until); false when there is none.
  base::Result<bool> seek(RecordNumber from, RecordNumber until);
  base::Result<bool> on_record_before(RecordNumber until) const;
  base::Result<bool> too_old() const;

  const ObjectId id_;
  const base::TimePoint oldest_;  // records from before are not shown, even if they are still there
  const RecordNumber settled_;
  const std::string lower_;
  const std::string upper_;
  const rocksdb::Slice lower_bound_;
  const rocksdb::Slice upper_bound_;
  // The order of these two matters. Changes of the catalog are published before they are on disk: a state that is
  // taken after the view of the disk knows of every trimming and every new shard that the view shows.
  std::unique_ptr<rocksdb::Iterator> records_;
  StreamPointer stream_;
};

// What a reader gets that stands where records are gone.
tl::unexpected<store::Error> trimmed_data();

}  // namespace postino::engine
