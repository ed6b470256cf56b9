// What the lines of an imported file say, before anything is stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reminders/imports.h"

namespace postino::reminders {

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
  std::vector<FieldFault> faults;

  std::string_view customer_id() const {
    return customer ? std::string_view(customer->id) : invoice ? std::string_view(invoice->customer_id) : "";
  }
};

// invalid when the whole cannot be read (imports.h). Form alone is checked here: rules of values are those of
// Customers.
Answer<std::vector<ImportLine>> read_import(ImportKind kind, ImportFormat format, std::string_view text);

}  // namespace postino::reminders
