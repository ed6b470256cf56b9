// What tables lack of what services need: for operators, who see it before it is done.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::store {

struct TableChange {
  enum class Kind { create_table, add_index, enable_stream, enable_expiry, enable_recovery, protect, mark };

  Kind kind = Kind::create_table;
  std::string table;
  std::string subject;  // the index, the attribute of expiry, or the tag; empty otherwise

  // "add the index WorkIndex to table email-outbox"
  std::string text() const;
  friend bool operator==(const TableChange&, const TableChange&) = default;
};

struct TablePlan {
  std::vector<TableChange> changes;    // in the order in which they can be made
  std::vector<std::string> obstacles;  // what no program may change: a person has to decide
  std::vector<std::string> notes;      // what cannot be told or done here, and does not keep services from working
};

// Looks at the tables, and changes nothing. Fails when the store does not answer.
base::Result<TablePlan> plan_tables(Store& store, const std::vector<TableSetup>& wanted);

struct TableApplication {
  // Called while a table or an index is being made, and waits a while. False: it is time to give up, which is a
  // conflict.
  std::function<bool()> wait;
  std::function<void(const TableChange&)> tell;       // before each change; may be empty
  std::function<void(const TableChange&)> done = {};  // after each that the store has taken; may be empty
};

// Does what plan_tables() answers, and returns when everything is there. Can be repeated, also after a failure in the
// middle. A table gets one index at a time. invalid when there are obstacles; then nothing is changed. Returns what was
// done, and the notes.
base::Result<TablePlan> apply_tables(Store& store, const std::vector<TableSetup>& wanted,
                                     const TableApplication& application);

// The error of a call that is about setting up tables: what may not be done will not be allowed whenever it is tried,
// so that is invalid.
base::Error setup_error(const Error& error);

}  // namespace postino::store
