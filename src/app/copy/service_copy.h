// Copies what services keep from one place to another: e-mails by their ledgers, because records of e-mails differ from
// place to place, and all else table by table, as it is.
//
// What is copied, made again, or left out is listed in docs/command-line.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/console/console.h"
#include "app/copy/copy_side.h"
#include "outbox/ledger/ledger_copy.h"
#include "store/table_setup.h"
#include "transfer/table_copy.h"

namespace postino::app {

struct TableOutcome {
  std::string table;
  std::string skipped;  // why nothing was copied; empty: it was
  transfer::ItemCounts items;
  transfer::ItemComparison compared;
  bool equal() const { return compared.equal() && items.different == 0 && items.failed == 0; }
};

struct EmailOutcome {
  outbox::CopyCounts counts;
  outbox::Comparison comparison;
  // E-mails of the source that are in no list: other programs have written them and no server has taken them over, or
  // they cannot be read.
  std::int64_t unlisted = 0;
  bool equal() const { return comparison.equal() && counts.failures.empty() && unlisted == 0; }
};

struct CopyOutcome {
  std::vector<TableOutcome> tables;    // but those of e-mails
  std::optional<EmailOutcome> emails;  // nullopt: there are none to copy
  bool has_suppressions = false;       // that were copied with the e-mails, and not as a table
  std::vector<std::string> notes;
  bool equal() const;
};

class ServiceCopy {
 public:
  // All must outlive it. Shows on the console how far it is.
  ServiceCopy(CopySide& source, CopySide& target, CopyTools& tools, const Console& console)
      : source_(source), target_(target), tools_(tools), console_(console) {}

  // Between stores everything, otherwise e-mails and suppressions. Can be repeated, also after a failure in the middle:
  // what the target has stays as it is.
  base::Result<CopyOutcome> run();

 private:
  base::Result<void> run_tables();
  base::Result<void> make_tables(bool with_streams);
  base::Result<bool> is_at_source(const store::TableSetup& setup);
  base::Result<TableOutcome> copy_table(const store::TableSetup& setup);
  base::Result<void> copy_emails();
  base::Result<std::int64_t> count_unlisted(const EmailOutcome& emails);
  base::Result<void> count_anew();
  base::Result<void> note_other_tables(const std::vector<store::TableSetup>& setups);
  void note_objects();

  CopySide& source_;
  CopySide& target_;
  CopyTools& tools_;
  const Console& console_;
  CopyOutcome outcome_;
};

}  // namespace postino::app
