// Counts all items of a table again while others go on writing to it, and replaces the figures by what it found.
//
// It reads the table page by page, and the change stream beside it. Whatever key the stream has told of is counted as
// the stream says, from then on change by change; a page only adds keys that neither the stream nor another page has
// told of. A page counts when the stream was read up to where it was when the page had come, or further, so that at
// every moment the sum is that of the keys met so far, exactly as they are at that place of the stream. When the last
// page counts, all keys have been met: either a key was there all the time, then a page had it, or its coming was told
// by the stream. The figures and that place are written, and following goes on from there. Nothing is stopped, and no
// record is counted twice or missed. Nor does it wait for an end of the stream: others may write faster than it reads.
//
// Where a stream comes some seconds behind its table, as on Amazon DynamoDB, a few pages wait for it at a time.
//
// It remembers eight bytes for each key met. Of a large table it counts a part of the keys in each of several passes.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "metrics/figures/key_fingerprints.h"
#include "metrics/figures/tally.h"
#include "metrics/follow/change_handler.h"
#include "metrics/follow/set_aside.h"
#include "store/change_feed.h"
#include "store/retry.h"

namespace postino::metrics {

struct RecountOptions {
  std::size_t keys_per_pass = 4'000'000;
  int page = 1'000;                  // items that are read at once
  std::size_t waiting_pages = 16;    // that wait for the stream
  std::size_t most_set_aside = 100;  // items that cannot be counted and are kept for operators
};

class Recount {
 public:
  // Everything given must outlive it.
  Recount(store::Store& store, const Source& source, const base::Clock& clock, const store::Retry& retry,
          store::ChangeFeed& feed, CheckpointKeeper& keeper, RecountOptions options)
      : store_(store),
        source_(source),
        clock_(clock),
        retry_(retry),
        feed_(feed),
        keeper_(keeper),
        options_(options),
        now_(clock.now()) {}

  // Once. Until it returns the figures are as they were; the last commit replaces those of the company, and has the
  // checkpoint, which is the place of the feed. If it fails in between, the checkpoint still says that it is due. How
  // many items it has set aside.
  Outcome<std::uint64_t> run(const Beginning& beginning);

 private:
  Outcome<void> pass(const Beginning& beginning);
  // Reads the stream until no more than so many pages wait for it.
  Outcome<void> catch_up(const Beginning& beginning, std::size_t waiting);
  void meet_pages();
  void meet(const store::StreamRecord& record);
  void meet(const item::Item& item);
  void add(const item::Item& item, const item::Key& key);
  item::Key key_of(const item::Item& item) const;
  std::uint64_t part_of(std::uint64_t fingerprint) const { return fingerprint % passes_; }

  Outcome<void> replace();
  Outcome<std::vector<store::TransactAction>> outdated(const std::vector<item::Item>& items);
  bool is_beyond(const item::Item& item) const;
  std::vector<item::Item> new_items() const;

  store::Store& store_;
  const Source& source_;
  const base::Clock& clock_;
  const store::Retry& retry_;
  store::ChangeFeed& feed_;
  CheckpointKeeper& keeper_;
  const RecountOptions options_;
  const base::TimePoint now_;  // decides what belongs into the history

  store::KeySchema keys_;
  std::uint64_t passes_ = 1, pass_ = 0;
  KeyFingerprints met_;  // of this pass
  struct Page {
    std::vector<item::Item> items;
    store::StreamMoment read;  // it is as the table was before
  };
  std::deque<Page> pages_;  // that do not count yet
  Tally tally_;
  std::vector<SetAside> faulty_;
  std::size_t faults_ = 0;
};

}  // namespace postino::metrics
