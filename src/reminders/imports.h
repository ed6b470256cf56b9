// Import of customers and invoices as CSV or JSON lines, and export. Safe to call from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reminders/customers.h"
#include "reminders/record/import_lines.h"

namespace postino::reminders {

struct RefusedLine {
  int line = 0;  // from 1, as editors count
  std::string field;
  std::string rule;
};
struct ImportReport {
  int taken = 0;      // new or changed
  int unchanged = 0;  // there already, the same: importing again changes nothing
  int refused = 0;
  std::vector<RefusedLine> lines;  // refused ones
  Recalled recalled = {};          // for what was imported; each with its customer: "cust_001/20250921_150000_first"
};

struct ExportPart {
  std::string text;
  std::string cursor;  // empty at the end
};

// Columns and members of customers: customer_id, customer_name, customer_email, and opted_out, which may be missing.
// Of invoices: customer_id, invoice_id, amount, currency, due_date, and paid and paid_at, which may be missing.
class Imports {
 public:
  static constexpr std::size_t max_bytes = max_import_bytes;
  static constexpr int max_lines = max_import_lines;

  explicit Imports(Customers& customers) : customers_(customers) {}

  // Each line for itself, those of one customer in their order. One that takes something back is refused. invalid when
  // the whole cannot be read: a header without a needed column, or that is not UTF-8, too much of it. When the store
  // fails the lines that are left are refused.
  OrRefusal<ImportReport> run(ImportKind kind, ImportFormat format, std::string_view text, const Actor& actor);
  // A page of all of them, as run() takes it. The parts of one export, one after the other, are a file: CSV has its
  // header in the first part, and no formulas.
  OrRefusal<ExportPart> export_part(ImportKind kind, ImportFormat format, const PageRequest& page,
                                    const std::string& tenant);

 private:
  Customers& customers_;
};

}  // namespace postino::reminders
