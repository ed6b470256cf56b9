#include "app/store/made_tables.h"

#include <algorithm>
#include <map>

#include "app/store/table_uses.h"
#include "idempotency/guard.h"
#include "item/value.h"
#include "store/table_plan.h"

namespace postino::app {

namespace {

item::Key made_tables_key() { return {{"pk", made_tables_note}}; }

}  // namespace

MadeTables::MadeTables(store::Store& store, const Settings& settings, store::Retry retry)
    : store_(store), notebook_(settings.idempotency.table), settings_(settings), retry_(std::move(retry)) {}

std::vector<store::TableSetup> MadeTables::first() const { return idempotency::table_setups(notebook_); }

base::Result<std::optional<std::set<std::string>>> MadeTables::read() const {
  store::GetItemRequest get;
  get.table_name = notebook_;
  get.key = made_tables_key();
  get.consistent_read = true;
  const auto found = retry_([&] { return store_.get_item(get); });
  if (!found) return base::propagate(store::setup_error(found.error()));
  if (!found->item) return std::nullopt;
  std::set<std::string> names;
  const item::AttributeValue* const tables = found->item->find("made");
  const auto* const told = tables != nullptr ? tables->get_if<item::StringSet>() : nullptr;
  if (told != nullptr) names.insert(told->members().begin(), told->members().end());
  return names;
}

base::Result<void> MadeTables::note(const std::vector<store::TableSetup>& made) const {
  TRY(const auto noted, read());
  std::vector<std::string> names;
  for (const store::TableSetup& setup : made)
    if (!noted || !noted->contains(setup.request.table_name)) names.push_back(setup.request.table_name);
  if (noted && names.empty()) return {};
  store::UpdateItemRequest update;
  update.table_name = notebook_;
  update.key = made_tables_key();
  update.update = std::string("SET about = :about") + (names.empty() ? "" : " ADD made :made");
  item::Map values{{":about", "tables of Postino that were made in this store"}};
  if (!names.empty()) values.set(":made", item::StringSet(std::move(names)));
  update.placeholders.values = std::move(values);
  const auto written = retry_([&] { return store_.update_item(update); });
  if (!written) return base::propagate(store::setup_error(written.error()));
  return {};
}

base::Result<std::vector<std::string>> MadeTables::find_lost(const std::vector<store::TableSetup>& wanted) const {
  std::set<std::string> missing;
  std::set<std::string> there;
  bool has_notebook = false;  // that can be read: another server may be making it at this moment
  for (const store::TableSetup& setup : wanted) {
    const std::string& name = setup.request.table_name;
    const auto found = retry_([&] { return store_.describe_table(name); });
    if (!found && found.error().type != store::ErrorType::resource_not_found)
      return base::propagate(store::setup_error(found.error()));
    const bool is_there = found && found->status != store::TableStatus::deleting;
    (is_there ? there : missing).insert(name);
    if (name == notebook_) has_notebook = is_there && found->status != store::TableStatus::creating;
  }
  std::vector<std::string> lost;
  if (missing.empty() || there.empty()) return lost;
  std::optional<std::set<std::string>> noted;
  if (has_notebook) {
    TRY(noted, read());
  }
  const auto uses = table_uses(settings_);
  const auto service_of = [&](const std::string& table) {
    const auto use = uses.find(table);
    return use != uses.end() ? use->second.service : std::string_view();
  };
  // A first start begins with these, and may have been broken off.
  std::set<std::string> begun;
  for (const store::TableSetup& setup : first()) begun.insert(setup.request.table_name);
  // These may have been made by the system that Postino replaces, or by 'postino keys init': what is beside them is
  // still to be made.
  std::set<std::string> before = begun;
  before.insert({settings_.outbox.table, settings_.reminders.table, settings_.tickets.table, settings_.keys.table,
                 settings_.audit.table});
  const bool is_first_start = std::ranges::includes(before, there);
  for (const std::string& table : missing) {
    bool is_lost = false;
    if (noted)
      is_lost = noted->contains(table);
    else if (!is_first_start)
      is_lost = begun.contains(table) || std::ranges::any_of(there, [&](const std::string& other) {
                  return service_of(other) == service_of(table);
                });
    if (is_lost) lost.push_back(table);
  }
  return lost;
}

std::string text_of_lost(const std::vector<std::string>& tables) {
  std::string names;
  for (const std::string& table : tables) names.append(names.empty() ? "" : ", ").append(table);
  return std::string(tables.size() == 1 ? "table " : "tables ") + names + (tables.size() == 1 ? " is" : " are") +
         " missing, and other tables of the services are there. A server does not make such a table again, because it "
         "would be empty: without the list of suppressions people get mail who must get none, and without idempotency "
         "keys requests are done twice. Restore it from a backup; or make it with 'postino tables apply' if it was "
         "never made, or may be empty";
}

}  // namespace postino::app
