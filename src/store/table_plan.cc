#include "store/table_plan.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <set>

#include "store/retry.h"

namespace postino::store {

namespace {

using Kind = TableChange::Kind;

// What there is of one table.
struct TableState {
  std::optional<TableDescription> table;
  TimeToLiveDescription expiry;
  std::optional<bool> recovers;  // nullopt: the store does not tell
  bool is_marked = false;        // read-only
};

bool wants_mark(const TableSetup& setup) {
  return std::ranges::find(setup.request.tags, read_only_tag, &Tag::key) != setup.request.tags.end();
}

// May the store do later what it refuses now?
bool is_passing(const Error& error) {
  using enum ErrorType;
  return worth_repeating(error) || error.type == limit_exceeded || error.type == resource_in_use ||
         error.type == continuous_backups_unavailable;
}

base::Result<TableState> look_at(Store& store, const TableSetup& setup) {
  const std::string& name = setup.request.table_name;
  TableState state;
  const auto found = store.describe_table(name);
  if (!found && found.error().type == ErrorType::resource_not_found) return state;
  if (!found) return base::propagate(setup_error(found.error()));
  state.table = *found;
  if (found->status == TableStatus::creating || found->status == TableStatus::deleting)
    return state;  // it says no more
  if (!setup.expiry.empty()) {
    const auto expiry = store.describe_time_to_live(name);
    if (!expiry) return base::propagate(setup_error(expiry.error()));
    state.expiry = *expiry;
  }
  if (setup.recovers) {
    const auto backups = store.describe_continuous_backups(name);
    if (backups) state.recovers = backups->enabled;
  }
  if (wants_mark(setup)) {
    const auto tags = store.list_tags_of_resource(found->arn);
    // Where there are no tags, nothing can be marked.
    state.is_marked = !tags || std::ranges::find(tags->tags, read_only_tag, &Tag::key) != tags->tags.end();
  }
  return state;
}

bool expires(const TimeToLiveDescription& expiry) {
  return expiry.status == TimeToLiveStatus::enabled || expiry.status == TimeToLiveStatus::enabling;
}

bool projects_all(const IndexDescription& found, const GlobalIndexDefinition& wanted) {
  if (found.projection == ProjectionType::all) return true;
  if (wanted.projection.type == ProjectionType::keys_only) return true;
  if (wanted.projection.type == ProjectionType::all) return false;
  return std::ranges::all_of(
      wanted.projection.non_key_attributes.value_or(std::vector<std::string>()), [&](const std::string& name) {
        return std::ranges::find(found.non_key_attributes, name) != found.non_key_attributes.end();
      });
}

// A wanted index without a sort key may have one that all items have: queries do not name it.
bool serves_queries(const IndexDescription& found, const GlobalIndexDefinition& wanted, const KeySchema& table) {
  if (found.key_schema == wanted.key_schema) return true;
  if (wanted.key_schema.size() != 1 || found.key_schema.size() != 2) return false;
  return found.key_schema.front() == wanted.key_schema.front() &&
         std::ranges::find(table, found.key_schema.back().name, &KeyElement::name) != table.end();
}

void compare_index(const GlobalIndexDefinition& wanted, const TableSetup& setup, const TableDescription& table,
                   TablePlan& plan) {
  const auto found = std::ranges::find(table.global_indexes, wanted.name, &IndexDescription::name);
  if (found == table.global_indexes.end()) {
    plan.changes.push_back({Kind::add_index, table.name, wanted.name});
    return;
  }
  const std::string which = "the index " + wanted.name + " of table " + table.name;
  if (!serves_queries(*found, wanted, setup.request.key_schema))
    plan.obstacles.push_back(which + " has other keys than are needed: delete the index, so that it can be made again");
  else if (!projects_all(*found, wanted))
    plan.notes.push_back(which + " lacks attributes that it would be made with");
}

void compare_table(const TableSetup& setup, const TableState& state, TablePlan& plan) {
  const TableDescription& table = *state.table;
  if (table.key_schema != setup.request.key_schema) {
    plan.obstacles.push_back("table " + table.name + " exists with other keys than are needed");
    return;
  }
  if (setup.request.deletion_protection && !table.deletion_protection)
    plan.changes.push_back({Kind::protect, table.name, ""});
  if (setup.request.global_indexes)
    for (const GlobalIndexDefinition& index : *setup.request.global_indexes) compare_index(index, setup, table, plan);
  if (setup.request.stream && !table.stream) plan.changes.push_back({Kind::enable_stream, table.name, ""});
  if (setup.request.stream && table.stream && *table.stream != setup.request.stream->view_type)
    plan.obstacles.push_back("the change stream of table " + table.name +
                             " has other contents than NEW_AND_OLD_IMAGES: turn it off, so that it can be made again");
}

void compare_upkeep(const TableSetup& setup, const TableState& state, TablePlan& plan) {
  const std::string& name = setup.request.table_name;
  if (!setup.expiry.empty() && !expires(state.expiry))
    plan.changes.push_back({Kind::enable_expiry, name, setup.expiry});
  if (!setup.expiry.empty() && expires(state.expiry) && state.expiry.attribute_name != setup.expiry)
    plan.obstacles.push_back("items of table " + name + " expire by another attribute than " + setup.expiry);
  if (setup.recovers && !state.recovers)
    plan.notes.push_back("whether table " + name + " has point-in-time recovery is not known: the store does not tell");
  if (setup.recovers && state.recovers == false) plan.changes.push_back({Kind::enable_recovery, name, ""});
  if (!state.is_marked && wants_mark(setup)) plan.changes.push_back({Kind::mark, name, std::string(read_only_tag)});
}

// A table that is not there yet gets its indexes, its stream and its tags when it is made.
void add_new_table(const TableSetup& setup, TablePlan& plan) {
  const std::string& name = setup.request.table_name;
  plan.changes.push_back({Kind::create_table, name, ""});
  if (!setup.expiry.empty()) plan.changes.push_back({Kind::enable_expiry, name, setup.expiry});
  if (setup.recovers) plan.changes.push_back({Kind::enable_recovery, name, ""});
}

void compare(const TableSetup& setup, const TableState& state, TablePlan& plan) {
  if (!state.table) {
    add_new_table(setup, plan);
    return;
  }
  compare_table(setup, state, plan);
  compare_upkeep(setup, state, plan);
}

std::optional<Error> error_of(const auto& answer) {
  return answer ? std::nullopt : std::optional<Error>(answer.error());
}

Answer<TableDescription> add_index(Store& store, const TableSetup& setup, const TableDescription& table) {
  const auto added = add_missing_index(store, setup.request, table);
  if (!added) return base::propagate(Error(added.error()));
  return table;
}

std::optional<Error> make(Store& store, const TableSetup& setup, const TableState& state, const TableChange& change) {
  UpdateTableRequest update;
  update.table_name = change.table;
  switch (change.kind) {
    case Kind::create_table:
      return error_of(store.create_table(setup.request));
    case Kind::add_index:
      return error_of(add_index(store, setup, *state.table));
    case Kind::enable_stream:
      update.stream = setup.request.stream;
      return error_of(store.update_table(update));
    case Kind::enable_expiry:
      return error_of(store.update_time_to_live(change.table, {change.subject, true}));
    case Kind::enable_recovery:
      return error_of(store.update_continuous_backups(change.table, {.enabled = true, .recovery_period_days = {}}));
    case Kind::protect:
      update.deletion_protection = true;
      return error_of(store.update_table(update));
    case Kind::mark:
      return error_of(
          store.tag_resource(state.table->arn, {*std::ranges::find(setup.request.tags, read_only_tag, &Tag::key)}));
  }
  return std::nullopt;
}

// Services work without these, and some stores do not have them.
bool is_essential(Kind kind) { return kind != Kind::enable_recovery && kind != Kind::protect && kind != Kind::mark; }

// Brings one table to where it should be.
class TableWork {
 public:
  TableWork(Store& store, const TableSetup& setup, const TableApplication& application, TablePlan& done)
      : store_(store), setup_(setup), application_(application), done_(done) {}

  // Makes the table unless it is there, and does not wait for it.
  base::Result<void> begin() {
    TRY(const TableState state, look_at(store_, setup_));
    if (state.table) return {};
    return change(state, {Kind::create_table, setup_.request.table_name, ""});
  }

  base::Result<void> run() {
    while (true) {
      TRY(const TableState state, look_at(store_, setup_));
      if (state.table && is_changing(*state.table)) {
        TRY_VOID(pause());
        continue;
      }
      TablePlan plan;
      compare(setup_, state, plan);
      if (!plan.obstacles.empty()) return base::invalid(plan.obstacles.front());
      std::erase_if(plan.changes, [&](const TableChange& each) { return in_vain_.contains(each.kind); });
      if (plan.changes.empty()) {
        std::ranges::move(plan.notes, std::back_inserter(done_.notes));
        return {};
      }
      // What was made may not be seen at once.
      const TableChange& next = plan.changes.front();
      const bool is_made = std::ranges::find(made_, next) != made_.end();
      TRY_VOID(is_made ? pause() : change(state, next));
    }
  }

 private:
  base::Result<void> pause() const {
    if (application_.wait && application_.wait()) return {};
    return base::fail(base::ErrorCode::conflict, "table " + setup_.request.table_name + " is still being changed");
  }

  base::Result<bool> is_still_wanted(const TableChange& change) const {
    TRY(const TableState state, look_at(store_, setup_));
    TablePlan plan;
    compare(setup_, state, plan);
    return std::ranges::find(plan.changes, change) != plan.changes.end();
  }

  base::Result<void> change(const TableState& state, const TableChange& change) {
    const bool is_repeated = !done_.changes.empty() && done_.changes.back() == change;
    if (!is_repeated && application_.tell) application_.tell(change);
    if (!is_repeated) done_.changes.push_back(change);
    const auto error = make(store_, setup_, state, change);
    if (!error) {
      made_.push_back(change);
      if (application_.done) application_.done(change);
      return {};
    }
    if (is_passing(*error)) {
      const auto waited = pause();
      if (!waited && error->type != ErrorType::resource_in_use) return base::propagate(as_error(*error));
      return waited;
    }
    // Servers that start together do the same, and another one may have been quicker.
    TRY(const bool is_wanted, is_still_wanted(change));
    if (!is_wanted) return {};
    if (is_essential(change.kind))
      return base::fail(setup_error(*error).code, "cannot " + change.text() + ": " + error->message);
    in_vain_.insert(change.kind);
    done_.changes.pop_back();
    done_.notes.push_back("cannot " + change.text() + ": " + error->message);
    return {};
  }

  Store& store_;
  const TableSetup& setup_;
  const TableApplication& application_;
  TablePlan& done_;
  std::vector<TableChange> made_;
  std::set<Kind> in_vain_;  // what this store does not do
};

}  // namespace

base::Error setup_error(const Error& error) {
  base::Error told = as_error(error);
  if (error.type == ErrorType::access_denied) told.code = base::ErrorCode::invalid;
  return told;
}

std::string TableChange::text() const {
  switch (kind) {
    case Kind::create_table:
      return "create table " + table;
    case Kind::add_index:
      return "add the index " + subject + " to table " + table;
    case Kind::enable_stream:
      return "turn on the change stream of table " + table;
    case Kind::enable_expiry:
      return "let items of table " + table + " expire by " + subject;
    case Kind::enable_recovery:
      return "turn on point-in-time recovery of table " + table;
    case Kind::protect:
      return "protect table " + table + " against deletion";
    case Kind::mark:
      return "tag table " + table + " with " + subject;
  }
  return "";
}

base::Result<TablePlan> plan_tables(Store& store, const std::vector<TableSetup>& wanted) {
  TablePlan plan;
  for (const TableSetup& setup : wanted) {
    TRY(const TableState state, look_at(store, setup));
    compare(setup, state, plan);
    if (state.table && is_changing(*state.table))
      plan.notes.push_back("table " + setup.request.table_name + " is being changed now");
  }
  return plan;
}

base::Result<TablePlan> apply_tables(Store& store, const std::vector<TableSetup>& wanted,
                                     const TableApplication& application) {
  TRY(const TablePlan plan, plan_tables(store, wanted));
  if (!plan.obstacles.empty()) {
    std::string all;
    for (const std::string& each : plan.obstacles) all.append(all.empty() ? "" : "; ").append(each);
    return base::invalid(all);
  }
  TablePlan done;
  std::deque<TableWork> works;
  for (const TableSetup& setup : wanted) works.emplace_back(store, setup, application, done);
  // All at once: making one takes a while, in which others can be made.
  for (TableWork& work : works) TRY_VOID(work.begin());
  for (TableWork& work : works) TRY_VOID(work.run());
  return done;
}

}  // namespace postino::store
