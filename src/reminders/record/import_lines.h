// What the lines of an imported file say, before anything is stored. Pure code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/field_errors.h"
#include "reminders/record/customer.h"
#include "reminders/record/invoice.h"

namespace postino::reminders {

enum class ImportKind { customers, invoices };
enum class ImportFormat { csv, json_lines };

inline constexpr std::size_t max_import_bytes = 20 << 20;
inline constexpr int max_import_lines = 100'000;

struct ImportColumn {
  std::string_view name;
  std::string_view short_name;  // is taken for the same; may be empty
  bool is_needed = true;
};
// In the order in which they are exported.
const std::vector<ImportColumn>& import_columns(ImportKind kind);

// One of both, or faults.
struct ImportLine {
  int line = 0;
  std::optional<Customer> customer;
  std::optional<Invoice> invoice;
  bool says_more = false;  // that the customer has not opted out; or how much of the invoice is paid, also nothing
  std::vector<json::FieldError> faults;

  std::string_view customer_id() const {
    return customer ? std::string_view(customer->id) : invoice ? std::string_view(invoice->customer_id) : "";
  }
};

// Fails with the line and its rule when the whole cannot be read: a header without a needed column, or that is not
// UTF-8, too much of it. Form alone is checked here: rules of values are those of Customers.
base::Result<std::vector<ImportLine>, json::FieldError> read_import(ImportKind kind, ImportFormat format,
                                                                    std::string_view text);

}  // namespace postino::reminders
