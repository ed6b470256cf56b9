// Reads a queue of e-mails that wait for work, in the order of their due times, for a caller who cannot use all of them
// now: what must wait for something else is passed over, and where it begins is remembered. So a read costs no more
// than a bounded number of e-mails, however many are passed over, and e-mails behind them are found.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "outbox/email/email.h"

namespace postino::outbox {

// Which of those that are due the caller can use.
struct Choice {
  // What the e-mail must wait for; nullopt when it is wanted. Asked of each e-mail in turn; the caller counts those
  // that it wants. Empty: it wants all.
  std::function<std::optional<std::string>(const Email&)> obstacle;
  // Is there nothing more to wait for?
  std::function<bool(const std::string& obstacle)> is_gone;
};

// In a queue, right behind this e-mail. Without an id: before all that are due then. In which order those come that are
// due at the same time is the ledger's affair.
struct QueuePosition {
  base::TimePoint due;
  std::string id;
};

struct QueueEntry {
  QueuePosition at;
  std::optional<Email> email;  // unless it cannot be read, or is not there any more
};
struct QueuePage {
  std::vector<QueueEntry> entries;  // that are due
  bool is_last = false;
};
using ReadPage = std::function<base::Result<QueuePage>(const QueuePosition& after, int limit)>;

// One for each queue, with one caller at a time.
class QueueReader {
 public:
  using Steady = std::chrono::steady_clock;

  // The pause between two readings from the beginning is at least so long.
  explicit QueueReader(std::chrono::milliseconds shortest_pause = std::chrono::seconds(1))
      : shortest_pause_(shortest_pause) {}

  struct Chosen {
    std::vector<Email> emails;
    bool more = false;  // that was not looked at
  };
  // Up to `wanted` e-mails. When reading fails, those that were found before.
  base::Result<Chosen> choose(int wanted, const Choice& choice, const ReadPage& read_page, base::TimePoint now);

  // Something that was chosen could not be taken, and is still there: the next call reads from the beginning.
  void sweep_next() { next_sweep_ = {}; }

  // Nothing before it is left, as far as is known.
  base::TimePoint first_left() const;

 private:
  struct Reading {
    int wanted;
    const Choice& choice;
    const ReadPage& read_page;
    std::vector<Email> emails;  // found so far

    bool is_full() const { return static_cast<int>(emails.size()) >= wanted; }
    bool has(const std::string& id) const { return std::ranges::find(emails, id, &Email::id) != emails.end(); }
  };
  struct End {
    QueuePosition at;
    bool is_last = false;  // of the queue
  };
  // Reads on until there is enough, or `is_over`.
  base::Result<End> read(QueuePosition from, Reading& reading, const std::function<bool()>& is_over);
  base::Result<bool> read_passed(Reading& reading);
  base::Result<bool> read_new(Reading& reading, base::TimePoint now);

  const std::chrono::milliseconds shortest_pause_;
  std::map<std::string, QueuePosition> passed_;  // by obstacle: where the first e-mail is that waits for it
  QueuePosition read_to_;                        // what lies before is gone or was passed over
  bool is_at_end_ = true;                        // there was nothing behind it
  bool new_ones_first_ = false;                  // the last time there was no place for them
  // What came in behind read_to_ is found by reading from the beginning now and then.
  Steady::duration sweep_took_{};  // for reading: between two calls a caller may work for long
  Steady::time_point next_sweep_;
  bool is_sweeping_ = false;
};

}  // namespace postino::outbox
