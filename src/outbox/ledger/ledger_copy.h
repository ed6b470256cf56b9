// From one ledger to another: e-mails with everything there is of them, and the suppression lists.
//
// What is there already is left alone, so a copy that was broken off goes on when it is started again. No
// server should work on either ledger meanwhile: what both have would be done twice.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "outbox/ledger/ledger.h"
#include "outbox/ledger/suppressions.h"

namespace postino::outbox {

// not_found of the spool is no error here: an e-mail may outlive its payload, and its record is worth keeping.
base::Result<StoredEmail> read_stored(Ledger& ledger, Email email);

struct CopyOptions {
  int workers = 16;  // e-mails under way at a time: each waits for disks
  int page = 500;
  bool with_suppressions = true;  // unless their tables are copied otherwise
  // Has this e-mail expired, or will it in a moment? Then it may be gone from either side, and is not compared. None
  // does when this is empty.
  std::function<bool(const Email&)> is_over = {};
};

struct CopyCounts {
  std::int64_t copied = 0;
  std::int64_t present = 0;  // had been there
  std::int64_t suppressions = 0;
  std::vector<std::string> failures;  // e-mails whose contents are damaged, with what is wrong; they are left out
};

// How many of the source's e-mails are in each state, there and in the target, found by looking at each of them; and
// how many of its suppressions there are.
struct Comparison {
  Counts source{};
  Counts target{};
  std::int64_t over = 0;  // that were not compared
  std::int64_t source_suppressions = 0;
  std::int64_t target_suppressions = 0;
  bool equal() const { return source == target && source_suppressions == target_suppressions; }
};

class LedgerCopy {
 public:
  // Called from time to time, by the thread that called.
  using Progress = std::function<void(std::int64_t done)>;

  // Everything given must outlive it.
  struct Side {
    Ledger& ledger;
    SuppressionList& suppressions;
  };
  LedgerCopy(const Side& source, const Side& target, CopyOptions options = {})
      : source_(source), target_(target), options_(options) {}

  base::Result<CopyCounts> copy(const Progress& progress);
  base::Result<Comparison> compare(const Progress& progress);

 private:
  using Visit = std::function<base::Result<void>(Email&)>;

  // Every e-mail of the source, several at a time. Ends with the first error.
  base::Result<void> visit_all(const Visit& visit, const Progress& progress);
  base::Result<void> visit_page(std::vector<Email>& emails, const Visit& visit);
  using VisitSuppressions = std::function<base::Result<void>(const std::string& tenant, const SuppressionPage&)>;
  base::Result<void> visit_suppressions(const VisitSuppressions& visit);
  base::Result<std::int64_t> copy_suppressions();
  base::Result<void> compare_suppressions(Comparison& comparison);

  const Side source_;
  const Side target_;
  const CopyOptions options_;
};

}  // namespace postino::outbox
